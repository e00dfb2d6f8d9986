"""NumPy before version 2, with the names of the array API standard that it lacks and :mod:`gsp_fb.distributed` needs.

The MPI builds of Debian come with NumPy 1.24; nothing else of gsp_fb is promised there. Since version 2 NumPy has
these names itself, and :data:`NUMPY` is NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["NUMPY"]

# The standard's kinds of numbers, as the letters by which NumPy distinguishes them.
KINDS = {"bool": "b", "integral": "iu", "real floating": "f", "complex floating": "c", "numeric": "iufc"}


class _Extended:
    """NumPy with the names that it lacks."""

    bool = np.bool_
    concat = staticmethod(np.concatenate)
    permute_dims = staticmethod(np.transpose)

    @staticmethod
    def asarray(x: Any, *, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(x, dtype=dtype) if copy else np.asarray(x, dtype=dtype)

    @staticmethod
    def astype(x: Any, dtype: Any, *, copy: Any = True) -> Any:
        return x.astype(dtype, copy=copy)

    @staticmethod
    def cumulative_sum(x: Any, *, include_initial: Any = False) -> Any:
        sums = np.cumsum(x)
        return np.concatenate([np.zeros(1, dtype=sums.dtype), sums]) if include_initial else sums

    @staticmethod
    def isdtype(dtype: Any, kind: str | tuple[str, ...]) -> Any:
        kinds = (kind,) if isinstance(kind, str) else kind
        return any(np.dtype(dtype).kind in KINDS[name] for name in kinds)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


NUMPY: Any = np if hasattr(np, "isdtype") else _Extended()
