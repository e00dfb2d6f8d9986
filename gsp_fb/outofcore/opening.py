"""A graph whose edges stay on disk, from a folder or an ordered file of edges."""

from __future__ import annotations

import os

from ..graph import Graph
from ..storage import Budget, DiskStorage, Progress, parse_bytes, silent
from .edge_file import open_edges_in_order
from .folder import open_files, read_node_table

__all__ = ["disk_graph"]


def disk_graph(
    path: str | os.PathLike[str],
    memory: int | str,
    *,
    directed: bool | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Return the graph in a folder or an ordered file of edges; see :func:`gsp_fb.open_graph`."""
    limit, show = parse_bytes(memory), progress or silent
    listed = os.path.isfile(path)
    source = open_edges_in_order(path, limit, show, directed=directed) if listed else open_files(path)
    n_nodes = source.facts.n_nodes
    return Graph(DiskStorage(source, Budget(limit, n_nodes), show), read_node_table(path, n_nodes))
