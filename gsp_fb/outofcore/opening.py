"""The door to graphs that stay on disk: a folder, or a file of edges."""

from __future__ import annotations

import os

from ._budget import DEFAULT_LIMIT, Budget, parse_bytes
from .edge_file import open_edge_graph
from .folder import open_files
from .graph import Progress, StoredGraph, silent

__all__ = ["open_graph"]


def open_graph(
    path: str | os.PathLike[str],
    *,
    memory_limit: int | str = DEFAULT_LIMIT,
    directed: bool | None = None,
    progress: Progress | None = None,
) -> StoredGraph:
    """Return the graph in a folder, or in a file of edges; the edges stay there.

    Parameters
    ----------
    path : path_like
        A folder that :func:`gsp_fb.outofcore.build_folder`, :func:`gsp_fb.outofcore.write_folder` or
        ``gsp-fb convert`` made; or a list of edges (``.parquet``, ``.csv``, pairs in ``.npy``) in order, each edge once
        with its smaller end first, as :func:`gsp_fb.write_graph` writes it. A folder is read faster.
    memory_limit : int or str
        Bytes, or text such as ``'4GB'``: what the vectors over the nodes, one chunk of edges and one block of signal
        columns may take together, beside the interpreter itself. At least some 12 numbers a node are needed.
    directed : bool, optional
        Whether a list of edges that does not say so itself is one of arcs.
    progress : callable, optional
        ``progress(items, title, total=n)`` returns the items of a pass and shows how far it is; for example
        ``lambda items, title, total: tqdm(items, desc=title, total=total)``.

    Raises
    ------
    FormatError
        The folder is not what its ``graph.json`` says, or the edges are not in order.
    OSError
        It is missing or not readable.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.outofcore import write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     graph = open_graph(f"{folder}/path.npyd", memory_limit="1MB")
    ...     operator(graph, "rw") @ [1.0, 5.0, 3.0]
    array([5., 2., 5.])
    """
    limit, show = parse_bytes(memory_limit), progress or silent
    if os.path.isfile(path):
        return open_edge_graph(path, limit, show, directed=directed)
    files = open_files(path)
    return StoredGraph(files, Budget(limit, files.facts.n_nodes), show)
