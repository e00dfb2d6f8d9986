"""Crash-safe writing: a reader sees either the old file or the complete new one, even if the writer is killed."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["atomic_write", "finite", "sha256_file", "sweep_stale", "write_json"]

STALE_SECONDS = 24 * 3600.0
# A fixed short name: the name of the target may already have the maximal length of the file system.
_TEMP_NAME = re.compile(r"\.gsp_fb-(\d+)-[0-9a-f]+\.tmp")


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], *, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a temporary file that replaces ``path`` when the block ends, and is removed if the block raises.

    The order is write, flush, fsync, rename, fsync of the directory, so the content is on disk before the name refers
    to it. A killed process leaves the old file and a temporary one, which :func:`sweep_stale` removes after a day. A
    symbolic link is followed, the permissions of an existing file are kept, and text (mode ``'w'``) has the same line
    ends on every system.
    """
    target = _target(path)
    sweep_stale(target.parent)
    temp = target.parent / f".gsp_fb-{os.getpid()}-{secrets.token_hex(6)}.tmp"
    try:
        with _create(temp, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):  # there is no old file whose permissions could be kept
            os.chmod(temp, target.stat().st_mode & 0o7777)
        os.replace(temp, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory", str(target.parent))
    return target


def _create(temp: Path, mode: str) -> IO[Any]:
    # tempfile creates files with mode 0600; here the umask decides.
    return open(temp, "xb") if mode == "wb" else open(temp, "x", encoding="utf-8", newline="\n")


def _sync_directory(directory: Path) -> None:
    if os.name == "nt":  # Windows cannot open directories and needs no such step
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as unsupported:  # some network file systems do not support it
        if unsupported.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def sweep_stale(directory: str | os.PathLike[str], *, older_than: float = STALE_SECONDS) -> list[Path]:
    """Remove the temporary files of dead writers in a directory and return them.

    A file written less than ``older_than`` seconds ago may belong to a process on another machine.
    """
    limit = time.time() - older_than
    return [temp for temp in Path(directory).glob(".gsp_fb-*.tmp") if _is_stale(temp, limit) and _removed(temp)]


def _is_stale(temp: Path, limit: float) -> bool:
    name = _TEMP_NAME.fullmatch(temp.name)
    if name is None or _is_alive(int(name[1])):
        return False
    with contextlib.suppress(FileNotFoundError):
        return temp.stat().st_mtime < limit
    return False


def _removed(temp: Path) -> bool:
    try:
        if temp.is_dir():
            shutil.rmtree(temp)
        else:
            temp.unlink()
    except OSError:  # another process removed it first, or the permission is missing
        return False
    return True


def _is_alive(pid: int) -> bool:
    if os.name == "nt":  # signal 0 ends the process there; and Windows does not remove an open file
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def sha256_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file, 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def finite(value: float) -> float | None:
    """Return the number, or None where JSON has no way to write it."""
    return value if math.isfinite(value) else None


def write_json(path: str | os.PathLike[str], obj: Any) -> None:
    """Write an object as indented JSON through :func:`atomic_write`; ValueError if it holds a nan or an infinity."""
    text = json.dumps(obj, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_write(path, mode="w") as file:
        file.write(text + "\n")
