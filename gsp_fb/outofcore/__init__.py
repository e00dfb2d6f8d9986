"""Graphs larger than memory: the edges stay in a folder and are read in chunks under a memory limit of your choice.

What has one number for each node (degrees, the vectors of an operator, a block of signal columns) is in memory; what
has one for each edge never is. :func:`open_graph` gives a graph that :func:`gsp_fb.operator` and
:class:`gsp_fb.FilterBank` take like any other; the functions here also cut wide signals into blocks of columns, and
read and write them in ``.npy`` files.
"""

from __future__ import annotations

from ._arrays import StoredArray
from ._budget import parse_bytes
from ._edges import is_edge_list
from .build import build_folder
from .energies import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from .folder import is_folder_name, write_folder
from .graph import StoredGraph
from .homophily import class_homophily, edge_homophily, node_homophily
from .opening import open_graph
from .signals import analyze, multiply

__all__ = [
    "StoredArray",
    "StoredGraph",
    "analyze",
    "build_folder",
    "class_homophily",
    "dirichlet_energy",
    "edge_homophily",
    "is_edge_list",
    "is_folder_name",
    "multiply",
    "node_homophily",
    "nonsmooth_energy",
    "open_graph",
    "parse_bytes",
    "s_value",
    "signal_energy",
    "write_folder",
]
