"""A journal that several processes append to: one checksummed JSON object a line, the first one its fingerprint."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._extras import require
from .errors import FormatError, GspWarning, ParameterError

__all__ = ["Journal", "check_same"]

_DIGITS = 16
Entry = dict[str, Any]


class Journal:
    r"""Lines ``<sha256> <json>``, each written whole under a lock and synced to disk.

    A crash or a full disk tears at most the last line, which is dropped with a warning and overwritten. Any other
    damage is an error that names the line.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], operations: Collection[str]) -> None:
        self.path, self.operations = path, operations
        self._lock: contextlib.AbstractContextManager[Any] = require("filelock", "a journal").FileLock(
            path.with_name(f".{path.name}.lock")
        )
        with self.locked():
            lines = self._read(repair=True)
            if not lines:
                self._write([{"op": "header", "identity": identity}])
                return
        if lines[0].get("op") != "header":
            raise FormatError(f"{path}, line 1: no header; it is no journal of this library")
        check_same(lines[0].get("identity") or {}, identity, path.parent, "search")

    def locked(self) -> contextlib.AbstractContextManager[Any]:
        """Hold the journal: nobody else reads it to decide, or writes, meanwhile."""
        return self._lock

    def entries(self) -> list[Entry]:
        """Return all entries in the order of writing."""
        with self.locked():
            return self._read()[1:]

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries and bring them to the disk."""
        with self.locked():
            self._write(entries)

    def _write(self, entries: Sequence[Entry]) -> None:
        text = "".join(_line(entry) for entry in entries).encode()
        try:
            # Unbuffered: a buffer would write its rest when the file is closed, after the failure.
            with self.path.open("ab", buffering=0) as file:
                # Up to the last whole line.
                size = self.path.read_bytes().rfind(b"\n") + 1 if file.tell() else 0
                file.truncate(size)
                try:
                    written = 0
                    while written < len(text):
                        written += file.write(text[written:]) or 0
                    os.fsync(file.fileno())
                except OSError:
                    with contextlib.suppress(OSError):
                        file.truncate(size)
                    raise
        except OSError as failed:
            raise OSError(failed.errno, failed.strerror, str(self.path)) from failed

    def _read(self, *, repair: bool = False) -> list[Entry]:
        content = self.path.read_bytes() if self.path.exists() else b""
        *lines, tail = content.split(b"\n")
        if tail and repair:
            warnings.warn(f"{self.path}: the last line is torn and is dropped", GspWarning, stacklevel=4)
        return [self._parse(line, number) for number, line in enumerate(lines, 1)]

    def _parse(self, line: bytes, number: int) -> Entry:
        digest, _, text = line.partition(b" ")
        where = f"{self.path}, line {number}"
        if hashlib.sha256(text).hexdigest()[:_DIGITS].encode() != digest:
            raise FormatError(f"{where}: the checksum does not fit; restore the file or move it away")
        entry = json.loads(text)
        if not isinstance(entry, dict) or entry.get("op") not in {"header", *self.operations}:
            operation = entry.get("op") if isinstance(entry, dict) else entry
            raise FormatError(f"{where}: unknown operation {operation!r}")
        return entry


def _line(entry: Entry) -> str:
    text = json.dumps(entry, sort_keys=True, allow_nan=False)
    return f"{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]} {text}\n"


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return one line for every entry in which two nested mappings differ."""
    lines = []
    for name in sorted(stored.keys() | wanted.keys()):
        old, new = stored.get(name), wanted.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            lines += differences(old, new, f"{prefix}{name}.")
        elif json.loads(json.dumps(old)) != json.loads(json.dumps(new)):
            lines.append(f"{prefix}{name}: {old} stored, {new} given")
    return lines


def check_same(stored: Mapping[str, Any], wanted: Mapping[str, Any], where: object, what: str = "run") -> None:
    """Raise ParameterError listing how what is stored differs from what is asked for."""
    lines = differences({key: stored.get(key) for key in wanted}, wanted)
    if lines:
        raise ParameterError(f"{where} holds another {what} ({'; '.join(lines)}); give another directory")
