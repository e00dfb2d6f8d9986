"""Limits on the cost of a file: unpacked size, compression ratio and number of nodes."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..errors import FormatError

__all__ = ["MAX_BYTES", "MAX_NODES", "Limits", "check_regular", "is_gzip", "open_limited"]

MAX_NODES = 50_000_000
MAX_BYTES = 8 * 2**30
# Text of numbers compresses 3 to 20 times, arrays of a graph less. A higher ratio indicates a decompression bomb;
# below HARMLESS_BYTES the ratio does not matter.
MAX_RATIO = 200
HARMLESS_BYTES = 16 * 2**20
CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class Limits:
    """Maximal number of nodes of a graph and maximal unpacked size of a file."""

    max_nodes: int = MAX_NODES
    max_bytes: int = MAX_BYTES

    def check_nodes(self, n_nodes: int) -> int:
        """Return ``n_nodes``, or raise FormatError if it exceeds the limit."""
        if n_nodes > self.max_nodes:
            raise FormatError(f"{n_nodes} nodes are more than max_nodes={self.max_nodes}; raise the limit to read it")
        return n_nodes

    def check_bytes(self, unpacked: int, stored: int) -> None:
        """Raise FormatError if ``stored`` bytes that unpack to ``unpacked`` exceed the size or the ratio limit."""
        if unpacked > self.max_bytes:
            raise FormatError(f"more than max_bytes={self.max_bytes} unpacked; raise the limit to read it")
        if unpacked > self._allowed(stored):
            raise FormatError(f"{stored} bytes unpack to more than {MAX_RATIO} times as many: a decompression bomb")

    def unpack(self, stream: BinaryIO, stored: int) -> bytes:
        """Return all bytes of a decompressing ``stream``, reading at most one byte beyond the limit."""
        try:
            content = stream.read(min(self.max_bytes, self._allowed(stored)) + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as bad:
            raise FormatError(f"broken gzip data: {bad}") from bad
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


def check_regular(path: str | os.PathLike[str]) -> None:
    """Raise FormatError for a device, pipe or socket, before it is opened: opening a pipe waits for its writer."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FormatError("not a regular file but a device, pipe or socket; save its content to a file first")


@contextmanager
def open_limited(path: str | os.PathLike[str], limits: Limits) -> Iterator[BinaryIO]:
    """Open ``path`` as a seekable stream of its unpacked bytes, within ``limits``."""
    check_regular(path)
    with open(path, "rb") as file:
        stored = os.fstat(file.fileno()).st_size
        limits.check_bytes(stored, stored)
        if not is_gzip(path):
            yield io.BufferedReader(_Counted(file, limits), CHUNK_BYTES)
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield io.BytesIO(limits.unpack(unpacked, stored))  # type: ignore[arg-type]  # a GzipFile reads like one
