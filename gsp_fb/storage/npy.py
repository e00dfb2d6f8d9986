"""Arrays in ``.npy`` files that are never mapped or read as a whole: windows of rows in, columns out."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from .._atomic import atomic_write
from ..errors import FormatError

__all__ = ["NewArray", "StoredArray", "new_array", "open_array", "read_header", "write_header"]

Array = npt.NDArray[Any]

# The whole header as a pattern: no evaluation of what a stranger wrote, and no dtype but plain numbers and text.
_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|=]?[biufcSUO?]\d*)', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>[\dL, ]*)\),? \}\s*"  # Python 2 wrote an L behind a number
)
# The bytes that state how long the header is, by version.
_PREFIX = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}
_MAX_HEADER = 10_000


@dataclass(frozen=True)
class StoredArray:
    """An array in a ``.npy`` file; ``rows`` maps a window of it, ``numpy.asarray`` reads all of it.

    Made by :meth:`open`, which reads the header.

    Parameters
    ----------
    path : Path
        The file.
    shape : tuple of int
        Shape of the array.
    dtype : dtype
        Type of its entries.
    offset : int
        Bytes of the header before the first entry.
    fortran : bool
        Whether the entries are in column-major order.

    See Also
    --------
    gsp_fb.Operator.multiply : Product of an operator with a stored signal.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.arange(6.0).reshape(3, 2))
    ...     StoredArray.open(f"{folder}/x.npy").rows(1, 3).tolist()
    [[2.0, 3.0], [4.0, 5.0]]
    """

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    fortran: bool

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> StoredArray:
        """Return the array in ``path``, its header read and held against the file's size."""
        with open(path, "rb") as file:
            dtype, shape, order = read_header(file, os.fspath(path))
            array = cls(Path(path), shape, dtype, file.tell(), order == "F" and len(shape) > 1)
            present = os.fstat(file.fileno()).st_size - array.offset
        if array.nbytes != present:
            what = f"an array of shape {shape} and {dtype} with {present} bytes, not {array.nbytes}"
            raise FormatError(f"{os.fspath(path)}: {what}")
        return array

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the content."""
        return math.prod(self.shape) * self.dtype.itemsize

    def rows(self, start: int, stop: int) -> Array:
        """Return the rows ``start <= i < stop``: mapped as long as the result lives, or a copy if in Fortran order."""
        width = math.prod(self.shape[1:])
        if self.fortran:
            columns = [self._window(column * self.shape[0] + start, stop - start) for column in range(width)]
            return np.reshape(columns, (*self.shape[:0:-1], stop - start)).T
        return self._window(start * width, (stop - start) * width).reshape(stop - start, *self.shape[1:])

    def columns(self, start: int, stop: int, *, chunk: int) -> Array:
        """Return a copy of the columns ``start <= j < stop`` of a matrix, read by ``chunk`` bytes at a time."""
        n_rows, width = self.shape[0], math.prod(self.shape[1:])
        out = np.empty((n_rows, stop - start), dtype=self.dtype, order="F" if self.fortran else "C")
        if self.fortran:
            for column in range(start, stop):
                out[:, column - start] = self._window(column * n_rows, n_rows)
            return out
        step = max(1, chunk // max(1, width * self.dtype.itemsize))
        for first in range(0, n_rows, step):
            last = min(first + step, n_rows)
            out[first:last] = self.rows(first, last).reshape(last - first, width)[:, start:stop]
        return out

    def _window(self, start: int, count: int) -> Array:
        if count == 0:
            return np.empty(0, dtype=self.dtype)
        at = self.offset + start * self.dtype.itemsize
        return np.asarray(np.memmap(self.path, dtype=self.dtype, mode="r", offset=at, shape=(count,)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # By the header that was checked: numpy would parse it again, by rules of its own.
        whole = np.fromfile(self.path, dtype=self.dtype, count=math.prod(self.shape), offset=self.offset)
        return np.asarray(whole.reshape(self.shape, order="F" if self.fortran else "C"), dtype=dtype)


@dataclass(frozen=True)
class NewArray:
    """A ``.npy`` file that is being written, first axis fastest, so that each column is one run of bytes."""

    file: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    def write(self, start: int, block: Array) -> None:
        """Write ``block``, which holds the columns from ``start`` on along the second axis, and all of the others."""
        n_rows, n_columns = self.shape[0], math.prod(self.shape[1:2])
        for at in np.ndindex(*block.shape[1:]):
            column = start + at[0] + n_columns * sum(at[1:]) if at else 0
            self.file.seek(self.offset + column * n_rows * self.dtype.itemsize)
            self.file.write(np.ascontiguousarray(block[:, *at], dtype=self.dtype).data)


@contextmanager
def new_array(path: str | os.PathLike[str], shape: tuple[int, ...], dtype: Any) -> Iterator[NewArray]:
    """Open an array of at most three axes that becomes the file ``path`` when the block ends, whole or not at all."""
    with atomic_write(path) as file:
        offset = write_header(file, shape, dtype, fortran=True)
        file.truncate(offset + math.prod(shape) * np.dtype(dtype).itemsize)
        yield NewArray(file, shape, np.dtype(dtype), offset)


def write_header(file: IO[bytes], shape: tuple[int, ...], dtype: Any, *, fortran: bool = False) -> int:
    """Write the header of a ``.npy`` file at its beginning and return where the content starts."""
    file.seek(0)
    facts = {"descr": npy.dtype_to_descr(np.dtype(dtype)), "fortran_order": fortran, "shape": shape}
    npy.write_array_header_1_0(file, facts)
    return file.tell()


def read_header(member: Any, name: str) -> tuple[np.dtype[Any], tuple[int, ...], Literal["C", "F"]]:
    """Return dtype, shape and order of the array that ``member`` begins with, and leave it at the content."""
    prefix = _PREFIX.get(member.read(8))
    if prefix is None:
        raise FormatError(f"member {name!r} is not an array of npy version 1 or 2")
    length = int.from_bytes(member.read(prefix), "little")
    header = _HEADER.fullmatch(member.read(min(length, _MAX_HEADER)))
    if header is None:
        raise FormatError(f"array {name!r} has a header or a dtype that is not supported")
    if b"O" in header["dtype"]:
        raise FormatError(f"array {name!r} holds pickled objects, which are not supported; save numbers or text")
    order: Literal["C", "F"] = "F" if header["fortran"] == b"True" else "C"
    return _dtype(header["dtype"].decode(), name), _shape(header["shape"].decode(), name), order


def _dtype(text: str, name: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError):
        raise FormatError(f"array {name!r} has dtype {text[:20]!r}, which does not exist") from None
    if not dtype.itemsize:
        raise FormatError(f"array {name!r} has dtype {text[:20]!r}, whose entries have no size")
    return dtype


def _shape(text: str, name: str) -> tuple[int, ...]:
    lengths = [word.strip().removesuffix("L") for word in text.split(",") if word.strip()]
    if not all(word.isdigit() and len(word) < 19 for word in lengths):
        raise FormatError(f"array {name!r} has shape ({text[:60]})")
    return tuple(int(word) for word in lengths)


def open_array(x: Any) -> Any:
    """Return the array of a ``.npy`` file; what is no path is returned as it is."""
    return StoredArray.open(x) if isinstance(x, str | os.PathLike) else x
