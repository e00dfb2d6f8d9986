"""Choice of the engine: compiled loops if numba is installed and the problem is large, else scipy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from .._arguments import check_choice
from .._extras import has, require
from ..backend import is_numpy, is_sparse
from ..errors import GspWarning
from .csr import Csr

__all__ = ["ENGINE", "ENGINES", "chosen_engine", "cost", "is_chosen", "is_compiled"]

# An environment variable, as for the number of threads, so that child processes inherit it.
ENGINE = "GSP_FB_ENGINE"
ENGINES = ("auto", "numba", "scipy")
# Multiplications from which compiled loops are faster; below, numba's dispatch costs more than scipy's product.
COMPILED_FROM = 300_000


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
    return is_chosen(lambda: cost(graph, x)) if can else is_chosen(None)


def chosen_engine() -> str:
    """Return the engine that the environment asks for."""
    return check_choice(os.environ.get(ENGINE, "auto"), ENGINES, ENGINE)


def is_chosen(work: Callable[[], int] | None) -> bool:
    """Return whether ``work()`` multiplications are compiled; None for a problem that the loops do not support."""
    choice = chosen_engine()
    if choice == "scipy" or work is None:
        return False
    if choice == "numba":
        return bool(require("numba", f"{ENGINE}=numba"))
    return work() >= COMPILED_FROM and _numba_works()


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
