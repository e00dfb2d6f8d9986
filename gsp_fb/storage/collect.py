"""Results over the nodes, block of columns by block of columns: side by side in memory, or in a ``.npy`` file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arguments import Checked, host_array
from ..backend import Signal, is_sparse
from ..errors import ParameterError, SignalError
from ._interface import PRODUCT_COPIES
from .npy import StoredArray, new_array, open_array

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["collect_blocks"]


def collect_blocks(
    graph: Graph,
    x: Any,
    work: Callable[[Checked], Signal],
    *,
    copies: int = PRODUCT_COPIES,
    extra: tuple[int, ...] = (),
    out: str | os.PathLike[str] | None = None,
) -> Any:
    """Return the results of ``work`` on all blocks of ``x``: as one array, or as the StoredArray written to ``out``.

    ``x`` is an array, sparse, stored, or the path of a ``.npy`` file. ``work`` takes a checked block of columns to an
    array with the same first axes and ``extra`` ones behind them, and needs ``copies`` arrays of the size of a block.
    """
    storage, x = graph.storage, open_array(graph.nodes.align(x, graph.local_rows))
    x = x if is_sparse(x) or hasattr(x, "shape") else host_array(x, SignalError, "signal")
    shape = (*np.shape(x), *extra)
    reserved = math.prod(shape) * max(getattr(getattr(x, "dtype", None), "itemsize", 8), 8) if out is None else 0
    blocks = storage.signals(x, copies=copies, reserved=reserved)
    results: Iterator[tuple[int, Any]] = ((start, work(signal)) for start, signal in blocks)
    start, first = next(results)
    results = chain([(start, first)], results)
    if is_sparse(first) and out is not None:
        raise ParameterError(f"a sparse signal has a sparse result, which {os.fspath(out)!r} cannot hold; leave out=")
    if out is None:
        if is_sparse(first) or storage.kind != "disk" or first.shape == shape:
            return first
        joined = np.empty(shape, dtype=first.dtype)
        for at, part in results:
            joined[:, at : at + part.shape[1]] = part
        return joined
    if storage.kind != "disk":
        storage.save(first, out)
        return StoredArray.open(out)
    with new_array(out, shape, first.dtype) as file:
        for at, part in results:
            file.write(at, part)
    return StoredArray.open(out)
