"""One directory a run: a lock, a table of metrics that survives a torn write, interrupts that wait for a step."""

from __future__ import annotations

import contextlib
import csv
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any

from ._atomic import atomic_write
from ._extras import require
from .errors import FormatError, TrainingError

__all__ = [
    "METRICS_FILE",
    "MetricsFile",
    "TrainingInterrupted",
    "deferred_interrupt",
    "locked",
    "progress_bar",
    "read_history",
    "read_metrics",
    "run_directories",
]

METRICS_FILE = "metrics.csv"
_LOCK, _OWNER = ".run.lock", ".run.pid"


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory for one run; the operating system lets go of a dead process's lock by itself."""
    filelock = require("filelock", "a run directory")
    directory.mkdir(parents=True, exist_ok=True)
    owner = directory / _OWNER
    lock = filelock.FileLock(directory / _LOCK, timeout=0)
    try:
        lock.acquire()
    except filelock.Timeout:
        pid = owner.read_text().strip() if owner.exists() else "unknown"
        raise TrainingError(f"{directory} is in use by process {pid}; wait for it or give another directory") from None
    try:
        owner.write_text(f"{os.getpid()}\n")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


def run_directories(directory: Path, file: str) -> list[Path]:
    """Return the run directories that a path names, itself or those one level below; ``file`` is in each of them."""
    found = [directory] if (directory / file).is_file() else sorted(path.parent for path in directory.glob(f"*/{file}"))
    if not found:
        raise FormatError(f"{directory} holds no run: no {file} in it or one level below")
    return found


class MetricsFile:
    """``metrics.csv``, one row an epoch; numbers as Python writes them, so that equal runs give equal files."""

    def __init__(self, directory: Path, columns: Sequence[str], keep: int) -> None:
        self.path, self.columns = directory / METRICS_FILE, list(columns)
        rows = [row for row in read_metrics(directory) if int(row["epoch"]) <= keep]
        other = next((set(row) ^ set(self.columns) for row in rows if set(row) != set(self.columns)), None)
        if other:
            raise FormatError(f"{self.path} has other columns than this run: {', '.join(sorted(other))}; move it away")
        with atomic_write(self.path, mode="w") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows; what a crash tears is the last line alone."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, self.columns, lineterminator="\n").writerows(rows)

    def sync(self) -> None:
        """Bring the rows to the disk: a checkpoint must not be ahead of its metrics."""
        with self.path.open("ab") as file:
            os.fsync(file.fileno())


def read_metrics(directory: str | os.PathLike[str]) -> list[dict[str, str]]:
    r"""Return the rows of a run's ``metrics.csv``; an incomplete last line is left out.

    Parameters
    ----------
    directory : path_like

    Returns
    -------
    list of dict
        One an evaluated epoch, values as text; empty where there is no ``metrics.csv``.

    Raises
    ------
    FormatError
        The file is no table of metrics.

    See Also
    --------
    gsp_fb.nn.train : Writes the file where ``directory=`` is given.
    gsp_fb.nn.read_checkpoint : The tensors of the same run.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "metrics.csv").write_text("epoch,loss\n1,0.5\n2,0.")
    ...     read_metrics(folder)
    [{'epoch': '1', 'loss': '0.5'}]
    """
    path = Path(directory) / METRICS_FILE
    if not path.exists():
        return []
    content = path.read_bytes()
    try:
        whole = content[: content.rfind(b"\n") + 1].decode("utf-8").splitlines()
        rows = list(csv.DictReader(whole))
    except (UnicodeDecodeError, csv.Error) as broken:
        raise FormatError(f"{path} is no table of metrics: {broken}; move it away") from None
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values() or not row.get("epoch", "").isdigit():
            where = f"{path}, line {line}"
            raise FormatError(f"{where}: no row of metrics: {whole[line - 1]!r}; restore the file or move it away")
    return rows


def read_history(directory: Path, last: int, every: int) -> list[dict[str, Any]]:
    """Return the rows of ``metrics.csv`` up to epoch ``last`` as numbers; every ``every``-th epoch must be there."""
    path = directory / METRICS_FILE
    rows = [row for row in read_metrics(directory) if int(row["epoch"]) <= last]
    lacking = sorted(set(range(every, last + 1, every)) - {int(row["epoch"]) for row in rows})
    if lacking:
        what = f"{path} lacks {len(lacking)} epochs of the checkpoint, the first {lacking[0]}"
        raise FormatError(f"{what}; restore the file or move the directory away")
    return [_parsed(row, path) for row in rows]


def _parsed(row: Mapping[str, str], path: Path) -> dict[str, Any]:
    try:
        return {name: int(value) if name == "epoch" else float(value) for name, value in row.items()}
    except ValueError as broken:
        raise FormatError(f"{path}, epoch {row.get('epoch')}: {broken}; restore the file or move it away") from None


@contextlib.contextmanager
def deferred_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event that is looked at between epochs; the second one acts at once."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked  # signals reach the main thread only
        return
    before = signal.getsignal(signal.SIGINT)

    def remember(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, remember)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C arrived; the epoch was finished and the state saved. The message is a summary for the user.

    See Also
    --------
    gsp_fb.nn.train : Raises it on Ctrl-C; the same call resumes the run.

    Examples
    --------
    >>> try:
    ...     raise TrainingInterrupted("stopped after epoch 12; the same call goes on from there")
    ... except KeyboardInterrupt as stop:
    ...     str(stop)
    'stopped after epoch 12; the same call goes on from there'
    """


def progress_bar(total: int, *, shown: bool, **options: Any) -> AbstractContextManager[Any]:
    """Give a progress bar of tqdm, or None where none is to be shown."""
    bar: AbstractContextManager[Any] = contextlib.nullcontext()
    return require("tqdm", "a progress bar").tqdm(total=total, **options) if shown else bar
