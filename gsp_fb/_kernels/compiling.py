"""Compilation of the loops with numba, which importing this module requires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._extras import require

__all__ = ["CACHE_LINE", "compiled", "in_parts", "inlined", "numba"]

numba = require("numba", "the compiled engine")

_Loop = TypeVar("_Loop", bound=Callable[..., Any])

CACHE_LINE = 64


def compiled(loop: _Loop) -> _Loop:
    """Compile at the first call for each combination of argument types; cached on disk if the directory is writable."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return cast("_Loop", numba.njit(loop, cache=True, **options))
    except RuntimeError:
        return cast("_Loop", numba.njit(loop, **options))


def inlined(part: _Loop) -> _Loop:
    """Compile a part of a loop that is always inlined: a call per entry would cost as much as the entry."""
    return cast("_Loop", numba.njit(part, error_model="numpy", inline="always"))


def in_parts(part: Callable[[int, int, Any], None]) -> Callable[[int, Any], None]:
    """Return a loop over columns that calls ``part(column, width, arguments)`` with the largest width that fits.

    The widths are compile-time constants, which vector registers require. The arguments are one tuple, because numba
    does not inline functions with star arguments.
    """

    @inlined
    def whole(n_columns: int, arguments: Any) -> None:
        c = 0
        while c + 64 <= n_columns:
            part(c, 64, arguments)
            c += 64
        while c + 16 <= n_columns:
            part(c, 16, arguments)
            c += 16
        while c + 4 <= n_columns:
            part(c, 4, arguments)
            c += 4
        while c < n_columns:
            part(c, 1, arguments)
            c += 1

    return whole
