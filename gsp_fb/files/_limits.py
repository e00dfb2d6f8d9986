"""Files from an untrusted source: limits on their cost, zip archives, and npy arrays, of which nothing is unpickled."""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..errors import FormatError, GraphError
from ..storage.npy import read_header

__all__ = ["MAX_BYTES", "MAX_NODES", "Archive", "Array", "Limits", "is_gzip", "open_limited", "open_zip"]
__all__ += ["parser_errors", "read_member", "read_npy"]

MAX_NODES = 50_000_000
MAX_BYTES = 8 * 2**30
# Text of numbers compresses 3 to 20 times, arrays of a graph less. A higher ratio indicates a decompression bomb;
# below HARMLESS_BYTES the ratio does not matter.
MAX_RATIO = 200
HARMLESS_BYTES = 16 * 2**20
CHUNK_BYTES = 2**20
Array = npt.NDArray[Any]
Axes = int | tuple[int, ...]
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Exceptions of zipfile and its decoders on damaged archives.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError)


@dataclass(frozen=True)
class Limits:
    """Maximal number of nodes of a graph and maximal unpacked size of a file."""

    max_nodes: int = MAX_NODES
    max_bytes: int = MAX_BYTES

    def check_nodes(self, n_nodes: int) -> None:
        """Raise FormatError if ``n_nodes`` exceeds the limit."""
        if n_nodes > self.max_nodes:
            raise FormatError(f"{n_nodes} nodes are more than max_nodes={self.max_nodes}; raise the limit to read it")

    def check_bytes(self, unpacked: int, stored: int) -> None:
        """Raise FormatError if ``stored`` bytes that unpack to ``unpacked`` exceed the size or the ratio limit."""
        if unpacked > self.max_bytes:
            raise FormatError(f"more than max_bytes={self.max_bytes} unpacked; raise the limit to read it")
        if unpacked > self._allowed(stored):
            raise FormatError(f"{stored} bytes unpack to more than {MAX_RATIO} times as many: a decompression bomb")

    def unpack(self, stream: BinaryIO, stored: int) -> bytes:
        """Return all bytes of a decompressing ``stream``, reading at most one byte beyond the limit."""
        with parser_errors("broken gzip data", (EOFError, gzip.BadGzipFile, zlib.error)):
            content = stream.read(min(self.max_bytes, self._allowed(stored)) + 1)
        self.check_bytes(len(content), stored)
        return content

    @staticmethod
    def _allowed(stored: int) -> int:
        return max(HARMLESS_BYTES, MAX_RATIO * stored)


def is_gzip(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix is that of gzip."""
    return os.fspath(path).lower().endswith(".gz")


class _Counted(io.RawIOBase):
    """A file that raises FormatError where reading passes the limit, whatever size it announced."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._file, self._limits = file, limits

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        if self._file.tell() > self._limits.max_bytes:
            raise FormatError(f"more than max_bytes={self._limits.max_bytes} bytes; raise the limit to read it")
        return len(content)


@contextmanager
def open_limited(path: str | os.PathLike[str], limits: Limits) -> Iterator[BinaryIO]:
    """Open ``path`` as a seekable stream of its unpacked bytes, within ``limits``."""
    mode = os.stat(path).st_mode
    # Before it is opened: opening a pipe waits for its writer.
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FormatError("not a regular file but a device, pipe or socket; save its content to a file first")
    with open(path, "rb") as file:
        stored = os.fstat(file.fileno()).st_size
        limits.check_bytes(stored, stored)
        if not is_gzip(path):
            yield io.BufferedReader(_Counted(file, limits), CHUNK_BYTES)
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield io.BytesIO(limits.unpack(unpacked, stored))  # type: ignore[arg-type]  # a GzipFile reads like one


@contextmanager
def parser_errors(what: str, errors: tuple[type[Exception], ...] = _ZIP_ERRORS) -> Iterator[None]:
    """Convert the exceptions of a parser, by default of zipfile, into a FormatError that starts with ``what``."""
    try:
        yield
    except (FormatError, GraphError):
        raise
    except errors as bad:
        raise FormatError(f"{what}: {bad}") from bad


def open_zip(file: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """Return the archive in ``file`` after rejecting links, paths that leave it, and decompression bombs."""
    stored = file.seek(0, 2)
    with parser_errors("not a readable zip or npz archive"):
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
    with parser_errors(f"member {member.filename!r} cannot be read"), archive.open(member) as file:
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
        with parser_errors(f"array {name!r} cannot be read"), self._zip.open(self._members[name]) as member:
            return read_npy(member, self._members[name].file_size, name, ndim=ndim, kinds=kinds)


def read_npy(member: Any, size: int, name: str, *, ndim: Axes, kinds: str) -> Array:
    """Return the array in an npy file of ``size`` bytes, with the same checks; ``name`` appears in the messages."""
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
