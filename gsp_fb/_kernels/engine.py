"""Which of the two engines does a job: compiled loops where numba is there and the job is large, else scipy."""

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

# The environment holds the choice, as it does for the number of threads.
ENGINE = "GSP_FB_ENGINE"
ENGINES = ("auto", "numba", "scipy")
# Multiplications from which compiled loops win; below, scipy answers before numba has looked at its arguments.
COMPILED_FROM = 300_000


def cost(graph: Csr, x: Any) -> int:
    """Return the multiplications of one product; those of a sparse signal are as many as its mean row has entries."""
    entries = int(graph.indices.shape[0]) + int(graph.indptr.shape[0])
    if is_sparse(x):
        return entries * int(x.nnz) // max(int(x.shape[0]), 1)
    return entries * (1 if x.ndim == 1 else int(x.shape[1]))


def is_compiled(graph: Csr, x: Any, kinds: str = "fdFD") -> bool:
    """Return whether the compiled loops take this job: asked for, or left to us, possible and worth it.

    ``kinds`` are the dtype characters the loop is written for.
    """
    values = x.data if is_sparse(x) else x
    # A storage without CSR arrays in memory brings products of its own.
    can = is_numpy(values) and is_numpy(getattr(graph, "indptr", None)) and values.dtype.char in kinds
    return is_chosen(lambda: cost(graph, x)) if can else is_chosen(None)


def chosen_engine() -> str:
    """Return the engine that the environment asks for."""
    return check_choice(os.environ.get(ENGINE, "auto"), ENGINES, ENGINE)


def is_chosen(work: Callable[[], int] | None) -> bool:
    """Return whether a job of so many multiplications goes to the compiled loops; None is one they cannot do."""
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
