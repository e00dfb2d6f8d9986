"""Compilation of the loops with numba, which importing this module requires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .._extras import require

__all__ = ["by_width", "compiled", "in_parts", "inlined", "numba", "row_loop"]

numba = require("numba", "the compiled engine")

_Loop = TypeVar("_Loop", bound=Callable[..., Any])


def compiled(loop: _Loop, **more: Any) -> _Loop:
    """Compile at the first call for each combination of argument types; cached on disk if the directory is writable."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **more}
    try:
        return cast("_Loop", numba.njit(loop, cache=True, **options))
    except RuntimeError:
        return cast("_Loop", numba.njit(loop, **options))


def row_loop(loop: _Loop) -> _Loop:
    """Compile a loop that allocates no array, without numba's reference counts.

    Numba counts references of arrays that are passed to an inlined part: calls with atomic additions for every row.
    They took up to 40 % of the time of a loop over short rows. What has to be allocated is allocated by the caller.
    """
    return compiled(loop, _nrt=False)


def inlined(part: _Loop) -> _Loop:
    """Compile a part of a loop that is always inlined: a call per entry would cost as much as the entry."""
    return cast("_Loop", numba.njit(part, error_model="numpy", inline="always"))


def by_width(loop: Callable[[int, Any, Any, Any], None]) -> Callable[[int, Any, Any, Any], None]:
    """Return ``loop(width, weights, right, arguments)`` compiled for each width of a packed row, chosen at run time.

    Vector registers need a width that is a compile-time constant. Most arguments are one tuple, because numba does not
    inline functions with star arguments; those that may be None are not, because it would not drop their branches.
    """

    @inlined
    def whole(width: int, weights: Any, right: Any, arguments: Any) -> None:
        if width == 16:
            loop(16, weights, right, arguments)
        elif width == 8:
            loop(8, weights, right, arguments)
        elif width == 4:
            loop(4, weights, right, arguments)
        else:
            loop(2, weights, right, arguments)

    return whole


def in_parts(part: Callable[..., None]) -> Callable[..., None]:
    """Return a function that calls ``part(i, column, width, ...)`` for columns of constant width, the largest that fit.

    Register blocking: the sums of that many columns stay in registers over all neighbours of row ``i``.
    """

    @inlined
    def whole(i: int, n_columns: int, weights: Any, right: Any, arguments: Any) -> None:
        c = 0
        while c < n_columns:
            rest = n_columns - c
            if rest >= 32:
                part(i, c, 32, weights, right, arguments)
                c += 32
            elif rest >= 16:
                part(i, c, 16, weights, right, arguments)
                c += 16
            elif rest >= 8:
                part(i, c, 8, weights, right, arguments)
                c += 8
            elif rest >= 4:
                part(i, c, 4, weights, right, arguments)
                c += 4
            else:
                part(i, c, 1, weights, right, arguments)
                c += 1

    return whole
