"""Zip archives read without trust: member names, compression and sizes are looked at before anything is unpacked."""

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

__all__ = ["open_zip", "read_member", "zip_trouble"]

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
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


@contextmanager
def zip_trouble(what: str) -> Iterator[None]:
    """Turn what a damaged archive provokes into a FormatError that starts with ``what``."""
    try:
        yield
    except FormatError:
        raise
    except _TROUBLE as bad:
        raise FormatError(f"{what}: {bad}") from bad


def open_zip(file: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """Return the archive in ``file``, none of whose members is a link, points outside or is a bomb."""
    stored = file.seek(0, 2)
    with zip_trouble("not what its name says, no readable zip or npz archive"):
        archive = zipfile.ZipFile(file)
    members = archive.infolist()
    for member in members:
        _check_member(member)
    limits.check_bytes(sum(member.file_size for member in members), stored)
    if len({member.filename for member in members}) != len(members):
        raise FormatError("a member of the archive is there twice")
    return archive


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member, never more than the size that was checked."""
    with zip_trouble(f"member {member.filename!r} cannot be read"), archive.open(member) as file:
        # read() without a size would unpack all that is there; one byte more reaches the end and its checksum.
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
        raise FormatError(f"member {name!r} is encrypted or compressed in an unknown way")
