"""Arrays in a zip archive from an untrusted source: sizes are compared before allocation, nothing is unpickled."""

from __future__ import annotations

import io
import math
import re
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from ..errors import FormatError
from ._limits import Limits
from ._zip import open_zip, zip_errors

__all__ = ["Archive", "Array", "read_header", "read_npy"]

Array = npt.NDArray[Any]
Axes = int | tuple[int, ...]

# The whole header as a pattern: untrusted text is never evaluated, and only dtypes of numbers and text match.
_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|=]?[biufcSUO?]\d*)', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>[\dL, ]*)\),? \}\s*"  # Python 2 appends an L to a number
)
# Size in bytes of the field with the header length, by version.
_PREFIX = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}
_MAX_HEADER = 10_000


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


def read_header(member: Any, name: str) -> tuple[np.dtype[Any], tuple[int, ...], Literal["C", "F"]]:
    """Return dtype, shape and order of the array at the start of ``member``; the position is then that of the data."""
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


def _check_kind(name: str, dtype: np.dtype[Any], shape: tuple[int, ...], ndim: Axes, kinds: str) -> None:
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if dtype.kind not in kinds or len(shape) not in allowed:
        axes = " or ".join(map(str, allowed))
        raise FormatError(f"array {name!r} is {dtype} of shape {shape}; {axes} axes and kind {kinds!r} are required")
