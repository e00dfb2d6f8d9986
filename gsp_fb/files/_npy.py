"""Arrays in a zip archive from an untrusted source: sizes are compared before allocation, nothing is unpickled."""

from __future__ import annotations

import io
import math
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import FormatError
from ..storage.npy import read_header
from ._limits import Limits
from ._zip import open_zip, zip_errors

__all__ = ["Archive", "Array", "read_npy"]

Array = npt.NDArray[Any]
Axes = int | tuple[int, ...]


class Archive:
    """The arrays of an npz file by name."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._zip = open_zip(file, limits)
        members = self._zip.infolist()
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) != len(members):
            raise FormatError("an array occurs twice in the archive")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str, *, ndim: Axes = 1, kinds: str = "iu") -> Array:
        """Return the array ``name``, read-only; it must have ``ndim`` axes and a dtype of one of ``kinds``."""
        if name not in self:
            raise FormatError(f"array {name!r} is missing; the archive has {', '.join(self._members) or 'none'}")
        with zip_errors(f"array {name!r} cannot be read"), self._zip.open(self._members[name]) as member:
            return _read(member, self._members[name].file_size, name, ndim, kinds)


def read_npy(content: bytes, name: str, *, ndim: Axes = 1, kinds: str = "iu") -> Array:
    """Return the array in the ``content`` of an npy file, with the same checks; ``name`` appears in the messages."""
    return _read(io.BytesIO(content), len(content), name, ndim, kinds)


def _read(member: Any, size: int, name: str, ndim: Axes, kinds: str) -> Array:
    dtype, shape, order = read_header(member, name)
    _check_kind(name, dtype, shape, ndim, kinds)
    expected = math.prod(shape) * dtype.itemsize
    present = size - member.tell()
    if expected != present:
        raise FormatError(f"array {name!r} of shape {shape} and {dtype} needs {expected} bytes, not {present}")
    # Reading one byte more makes zipfile reach the end, where it verifies the checksum.
    content = member.read(expected + 1)
    if len(content) != expected:
        raise FormatError(f"array {name!r} ends after {len(content)} of {expected} bytes; the file is truncated")
    return np.frombuffer(content, dtype=dtype).reshape(shape, order=order)


def _check_kind(name: str, dtype: np.dtype[Any], shape: tuple[int, ...], ndim: Axes, kinds: str) -> None:
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if dtype.kind not in kinds or len(shape) not in allowed:
        axes = " or ".join(map(str, allowed))
        raise FormatError(f"array {name!r} is {dtype} of shape {shape}; {axes} axes and kind {kinds!r} are required")
