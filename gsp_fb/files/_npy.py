"""Arrays inside a zip archive, read without trust: sizes are compared before allocation, nothing is unpickled."""

from __future__ import annotations

import math
import re
import stat
import struct
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import FormatError
from ._limits import Limits

__all__ = ["Archive"]

Array = npt.NDArray[Any]

# The whole header as a pattern: no evaluation of what a stranger wrote, and no dtype but plain numbers and text.
_HEADER = re.compile(
    rb"\{'descr': '(?P<dtype>[<>|=]?[biufSUO?]\d*)', 'fortran_order': (?:True|False), "
    rb"'shape': \((?P<shape>[\d, ]*)\),? \}\s*"
)
_PREFIX = {b"\x93NUMPY\x01\x00": "<H", b"\x93NUMPY\x02\x00": "<I"}
_MAX_HEADER = 10_000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile raises on damaged archives, as its decoders let their own errors through.
_TROUBLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


class Archive:
    """The arrays of an npz file by name; :meth:`read` gives one."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        stored = file.seek(0, 2)
        try:
            self._zip = zipfile.ZipFile(file)
        except _TROUBLE as bad:
            raise FormatError(f"no readable npz archive: {bad}") from bad
        members = self._zip.infolist()
        for member in members:
            _check_member(member)
        limits.check_bytes(sum(member.file_size for member in members), stored)
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) != len(members):
            raise FormatError("a member of the archive is there twice")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str, *, ndim: int = 1, kinds: str = "iu") -> Array:
        """Return the array ``name``, which must have ``ndim`` axes (0 or 1) and a dtype of one of ``kinds``."""
        if name not in self:
            raise FormatError(f"array {name!r} is missing; the archive has {', '.join(self._members) or 'none'}")
        try:
            with self._zip.open(self._members[name]) as member:
                dtype, shape = _read_header(member, name)
                _check_kind(name, dtype, shape, ndim, kinds)
                return self._read_data(member, name, dtype, shape)
        except FormatError:
            raise
        except _TROUBLE as bad:
            raise FormatError(f"array {name!r} cannot be read: {bad}") from bad

    def _read_data(self, member: Any, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        expected = math.prod(shape) * dtype.itemsize
        present = self._members[name].file_size - member.tell()
        if expected != present:
            raise FormatError(f"array {name!r} of shape {shape} and {dtype} needs {expected} bytes, not {present}")
        # One byte more makes zipfile reach the end, where it compares the checksum.
        content = member.read(expected + 1)
        if len(content) != expected:
            raise FormatError(f"array {name!r} ends after {len(content)} of {expected} bytes; the file is cut short")
        return np.frombuffer(content, dtype=dtype).reshape(shape)


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name) or ":" in name:
        raise FormatError(f"member {name!r} points outside the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise FormatError(f"member {name!r} is a symbolic link")
    if member.flag_bits & 1 or member.compress_type not in _METHODS:
        raise FormatError(f"member {name!r} is encrypted or compressed in an unknown way")


def _read_header(member: Any, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    prefix = _PREFIX.get(member.read(8))
    if prefix is None:
        raise FormatError(f"member {name!r} is no array of npy version 1 or 2")
    (length,) = struct.unpack(prefix, member.read(struct.calcsize(prefix)))
    header = _HEADER.fullmatch(member.read(min(length, _MAX_HEADER)))
    if header is None:
        raise FormatError(f"array {name!r} has a header or a dtype that is not read")
    if b"O" in header["dtype"]:
        raise FormatError(f"array {name!r} holds pickled objects, which are never read; save numbers or text")
    return np.dtype(header["dtype"].decode()), _shape(header["shape"].decode(), name)


def _shape(text: str, name: str) -> tuple[int, ...]:
    lengths = [word.strip() for word in text.split(",") if word.strip()]
    if not all(word.isdigit() and len(word) < 19 for word in lengths):
        raise FormatError(f"array {name!r} has shape ({text[:60]})")
    return tuple(int(word) for word in lengths)


def _check_kind(name: str, dtype: np.dtype[Any], shape: tuple[int, ...], ndim: int, kinds: str) -> None:
    if dtype.kind not in kinds or len(shape) != ndim:
        raise FormatError(f"array {name!r} is {dtype} of shape {shape}; {ndim} axes and kind {kinds!r} are needed")
