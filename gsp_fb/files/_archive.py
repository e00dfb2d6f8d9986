"""Zip archives and npy arrays from an untrusted source: checked before allocation, and nothing is unpickled."""

from __future__ import annotations

import io
import math
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import FormatError
from ..storage.npy import read_header
from ._limits import Limits

__all__ = ["Archive", "Array", "open_zip", "read_member", "read_npy"]

Array = npt.NDArray[Any]
Axes = int | tuple[int, ...]
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Exceptions of zipfile and its decoders on damaged archives.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError)


@contextmanager
def _zip_errors(what: str) -> Iterator[None]:
    """Convert the exceptions of a damaged archive into a FormatError that starts with ``what``."""
    try:
        yield
    except FormatError:
        raise
    except _ZIP_ERRORS as bad:
        raise FormatError(f"{what}: {bad}") from bad


def open_zip(file: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """Return the archive in ``file`` after rejecting links, paths that leave it, and decompression bombs."""
    stored = file.seek(0, 2)
    with _zip_errors("not a readable zip or npz archive"):
        archive = zipfile.ZipFile(file)
    members = archive.infolist()
    for member in members:
        _check_member(member)
    limits.check_bytes(sum(member.file_size for member in members), stored)
    if len({member.filename for member in members}) != len(members):
        raise FormatError("a member occurs twice in the archive")
    return archive


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member, at most the size that was checked."""
    with _zip_errors(f"member {member.filename!r} cannot be read"), archive.open(member) as file:
        # read() without a size would unpack without limit; one byte more reaches the end and verifies the checksum.
        content = file.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise FormatError(f"member {member.filename!r} ends after {len(content)} of {member.file_size} bytes")
    return content


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name) or ":" in name:
        raise FormatError(f"member {name!r} points outside the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise FormatError(f"member {name!r} is a symbolic link")
    if member.flag_bits & 1 or member.compress_type not in METHODS:
        raise FormatError(f"member {name!r} is encrypted or compressed by an unsupported method")


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
        with _zip_errors(f"array {name!r} cannot be read"), self._zip.open(self._members[name]) as member:
            return _read(member, self._members[name].file_size, name, ndim, kinds)


def read_npy(content: bytes, name: str, *, ndim: Axes = 1, kinds: str = "iu") -> Array:
    """Return the array in the ``content`` of an npy file, with the same checks; ``name`` appears in the messages."""
    return _read(io.BytesIO(content), len(content), name, ndim, kinds)


def _read(member: Any, size: int, name: str, ndim: Axes, kinds: str) -> Array:
    dtype, shape, order = read_header(member, name)
    allowed = (ndim,) if isinstance(ndim, int) else ndim
    if dtype.kind not in kinds or len(shape) not in allowed:
        axes = " or ".join(map(str, allowed))
        raise FormatError(f"array {name!r} is {dtype} of shape {shape}; {axes} axes and kind {kinds!r} are required")
    expected, present = math.prod(shape) * dtype.itemsize, size - member.tell()
    if expected != present:
        raise FormatError(f"array {name!r} of shape {shape} and {dtype} needs {expected} bytes, not {present}")
    # Reading one byte more makes zipfile reach the end, where it verifies the checksum.
    content = member.read(expected + 1)
    if len(content) != expected:
        raise FormatError(f"array {name!r} ends after {len(content)} of {expected} bytes; the file is truncated")
    return np.frombuffer(content, dtype=dtype).reshape(shape, order=order)
