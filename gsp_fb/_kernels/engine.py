"""What the kernels read of a graph, and the choice of the engine: compiled loops for large problems, else scipy."""

from __future__ import annotations

import os
import warnings
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from .._arguments import check_choice
from .._extras import has, require
from ..backend import FloatArray, IntArray, is_numpy, is_sparse
from ..errors import GspWarning

__all__ = ["ENGINE", "ENGINES", "Csr", "Stored", "chosen_engine", "cost", "is_compiled"]

# An environment variable, as for the number of threads, so that child processes inherit it.
ENGINE = "GSP_FB_ENGINE"
ENGINES = ("auto", "numba", "scipy")
# Multiplications from which compiled loops are faster; below, numba's dispatch costs more than scipy's product.
COMPILED_FROM = 300_000


class Csr(Protocol):
    """CSR arrays of a graph as the kernels read them; ``weights`` is None if all of them are 1."""

    @property
    def indptr(self) -> IntArray: ...
    @property
    def indices(self) -> IntArray: ...
    @property
    def weights(self) -> FloatArray | None: ...
    @property
    def is_complex(self) -> bool: ...
    @property
    def directed(self) -> bool: ...
    @property
    def adjacency(self) -> Any: ...


class Stored(Protocol):
    """A graph: something with a storage of its edges."""

    @property
    def storage(self) -> Any: ...


def cost(graph: Csr, x: Any) -> int:
    """Return the number of multiplications of one product; a sparse signal counts with its mean entries per row."""
    entries = int(graph.indices.shape[0]) + int(graph.indptr.shape[0])
    if is_sparse(x):
        return entries * int(x.nnz) // max(int(x.shape[0]), 1)
    return entries * (1 if x.ndim == 1 else int(x.shape[1]))


def is_compiled(graph: Csr, x: Any, kinds: str = "fdFD") -> bool:
    """Return whether the compiled loops are used: selected, or in mode ``auto`` applicable and faster.

    ``kinds`` are the dtype characters that the loop supports.
    """
    values = x.data if is_sparse(x) else x
    # A storage without CSR arrays in memory brings products of its own.
    can = is_numpy(values) and is_numpy(getattr(graph, "indptr", None)) and values.dtype.char in kinds
    can = can and not graph.is_complex  # the loops read real weights
    choice = chosen_engine()
    if choice == "numba" and can:
        return bool(require("numba", f"{ENGINE}=numba"))
    return choice == "auto" and can and cost(graph, x) >= COMPILED_FROM and _numba_works()


def chosen_engine() -> str:
    """Return the engine that the environment asks for."""
    return check_choice(os.environ.get(ENGINE, "auto"), ENGINES, ENGINE)


@cache
def _numba_works() -> bool:
    if not has("numba"):
        return False
    try:
        import_module("numba")
    except ImportError as broken:
        warnings.warn(f"numba cannot be imported, scipy is used instead: {broken}", GspWarning, stacklevel=4)
        return False
    return True
