"""Zip archives from an untrusted source: names, compression and sizes are checked before anything is unpacked."""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import FormatError
from ._limits import Limits

__all__ = ["open_zip", "read_member", "zip_errors"]

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Exceptions of zipfile and its decoders on damaged archives.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


@contextmanager
def zip_errors(what: str) -> Iterator[None]:
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
    with zip_errors("not a readable zip or npz archive"):
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
    with zip_errors(f"member {member.filename!r} cannot be read"), archive.open(member) as file:
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
