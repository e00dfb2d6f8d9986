"""Locate data files: the data directory, the cache, or a download; every file is checked before use.

A file must have the sha256 of the registry, or the one recorded in ``<file>.sha256`` at its first download, over https.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from .._atomic import atomic_write, sha256_file
from .._extras import require
from ..errors import DownloadError, GspError, IntegrityError
from .registry import DatasetInfo, SourceFile

__all__ = ["cache_dir", "data_dir", "fetch", "find_npz", "is_offline"]

TIMEOUT_SECONDS = 30.0
CHUNK_BYTES = 2**16
LOOPBACK = ("127.0.0.1", "::1")


def is_offline() -> bool:
    """Return whether ``GSP_FB_OFFLINE`` forbids every connection."""
    return os.environ.get("GSP_FB_OFFLINE", "0") not in ("", "0")


def cache_dir() -> Path:
    """Return the directory for downloads.

    Returns
    -------
    Path
        ``GSP_FB_CACHE`` if set, else the cache directory of the platform.

    See Also
    --------
    load : Downloads into this directory.

    Examples
    --------
    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, GSP_FB_CACHE="downloads"):
    ...     cache_dir().as_posix()
    'downloads'
    """
    chosen = os.environ.get("GSP_FB_CACHE")
    if chosen:
        return Path(chosen)
    homes = {"win32": os.environ.get("LOCALAPPDATA"), "darwin": Path.home() / "Library" / "Caches"}
    return Path(homes.get(sys.platform) or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gsp_fb"


def data_dir(chosen: str | os.PathLike[str] | None = None) -> Path:
    """Return the directory of the npz files: the argument, ``GSP_FB_DATA_DIR``, or the cache."""
    return Path(chosen or os.environ.get("GSP_FB_DATA_DIR") or cache_dir())


def find_npz(row: DatasetInfo, directory: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the npz file of a data set, checked against the registry's sha256, or None if it does not exist."""
    path = data_dir(directory) / f"{row.name}.npz"
    if row.npz_sha256 is None or not path.is_file():
        return None
    return _checked(path, row.npz_sha256)


def _checked(path: Path, expected: str) -> Path:
    actual = sha256_file(path)
    if actual != expected:
        raise IntegrityError(f"{path} has sha256 {actual}, expected {expected}; remove the file and download it again")
    return path


def fetch(source: SourceFile, *, hint: str = "") -> Path:
    """Return the path of an original file in the cache, downloading it if needed; ``hint`` ends the error message."""
    check_address(source.url)
    path = cache_dir() / source.key
    expected = source.sha256 or _recorded(path)
    if path.is_file():
        if expected is None:
            # Put there by hand: accepted. A read-only cache can serve it too, as no recorded hash is to be compared.
            with suppress(OSError):
                _record(path, sha256_file(path))
            return path
        if is_offline():
            return _checked(path, expected)
        if sha256_file(path) == expected:
            return path
    if is_offline():
        what = f"{path.name} is not in the cache and GSP_FB_OFFLINE forbids downloads"
        known = source.sha256 or "not recorded"
        raise DownloadError(f"{what}: put {source.url} (sha256 {known}) into {path.parent}{hint}")
    return _download(source.url, path, expected, hint)


def _recorded(path: Path) -> str | None:
    try:
        return path.with_name(f"{path.name}.sha256").read_text(encoding="ascii").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _record(path: Path, digest: str) -> None:
    with atomic_write(path.with_name(f"{path.name}.sha256"), mode="w") as file:
        file.write(digest + "\n")


def _download(url: str, path: Path, expected: str | None, hint: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        what = f"cache directory {path.parent} cannot be created: {problem}"
        raise DownloadError(f"{what}; set GSP_FB_CACHE to a writable directory") from problem
    try:
        digest = _stream(url, path, expected)
    except GspError:
        raise
    except OSError as problem:
        raise DownloadError(f"{url} could not be downloaded to {path}: {problem}{hint}") from problem
    if expected is None:
        _record(path, digest)
    return path


def _stream(url: str, path: Path, expected: str | None) -> str:
    """Download to a temporary file that is renamed only if its hash matches; return the hash."""
    with atomic_write(path) as file, _downloader(url) as download:
        download(url, file, None)
        file.flush()
        digest = sha256_file(file.name)
        if expected is not None and digest != expected:
            raise IntegrityError(f"{url} has sha256 {digest}, expected {expected}; the download was discarded")
    return digest


@contextmanager
def _downloader(url: str) -> Iterator[Any]:
    """Yield pooch's downloader with a check of every response, and close the connections that it leaves open."""
    what = f"downloading {url}"
    pooch, at_terminal = require("pooch", what), sys.stderr.isatty()
    if at_terminal:
        require("tqdm", what)
    with ExitStack() as answers:

        def inspect(answer: Any, **_: Any) -> None:
            answers.callback(answer.close)
            _check_answer(answer)

        rules = {"chunk_size": CHUNK_BYTES, "timeout": TIMEOUT_SECONDS, "hooks": {"response": inspect}}
        yield pooch.HTTPDownloader(progressbar=at_terminal, **rules)


def _check_answer(answer: Any) -> None:
    """Reject a redirect to an unprotected address, and an HTML page in place of a file."""
    if answer.is_redirect:
        check_address(urljoin(answer.url, answer.headers["location"]))
    elif answer.ok and answer.headers.get("content-type", "").startswith("text/html"):
        raise DownloadError(f"{answer.url} returned a web page instead of the file")


def check_address(url: str) -> None:
    """Raise DownloadError unless ``url`` is https or a loopback address."""
    parts = urlsplit(url)
    protected = parts.scheme == "https" and parts.hostname
    if not protected and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise DownloadError(f"{url} is refused: files are downloaded over https only")
