"""How the loops are compiled; importing this needs numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._extras import require

__all__ = ["CACHE_LINE", "compiled", "inlined", "numba"]

numba = require("numba", "the compiled engine")

_Loop = TypeVar("_Loop", bound=Callable[..., Any])

CACHE_LINE = 64


def compiled(loop: _Loop) -> _Loop:
    """Compile at the first call, for each kind of arrays; kept on disk where a directory for it can be written."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return cast("_Loop", numba.njit(loop, cache=True, **options))
    except RuntimeError:
        return cast("_Loop", numba.njit(loop, **options))


def inlined(part: _Loop) -> _Loop:
    """Make a part of the loops; a call for each entry of a row would cost as much as the entry."""
    return cast("_Loop", numba.njit(part, error_model="numpy", inline="always"))
