"""The graph interface of the kernels."""

from __future__ import annotations

from typing import Any, Protocol

from ..backend import FloatArray, IntArray

__all__ = ["Csr", "Stored"]


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
