"""Files of graphs larger than memory: the folder format, and its conversion from edge lists by external sorting.

:func:`gsp_fb.open_graph` opens such a folder, or an ordered file of edges, as a :class:`gsp_fb.Graph` whose edges stay
on disk. What has one number for each node (degrees, the vectors of an operator, a block of signal columns) is in
memory; what has one for each edge never is.
"""

from __future__ import annotations

from ..storage import StoredArray, parse_bytes
from ._edges import is_edge_list
from .build import build_folder
from .folder import is_folder_name, write_folder

__all__ = ["StoredArray", "build_folder", "is_edge_list", "is_folder_name", "parse_bytes", "write_folder"]
