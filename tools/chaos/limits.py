"""A disk that is full and a user who presses Ctrl-C, at random moments of a save."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.chaos.killing import Counter, Job, Tally, ended, forked, temporary_files, window

__all__ = ["fill_disk", "interrupt", "run_out_of_disk"]


def fill_disk(job: Job, folder: Path, rng: random.Random, *, rounds: int = 5) -> Tally:
    """Save under ever smaller limits of a file's size: an OSError, the old state whole, nothing left over."""
    tally = Tally(f"file-size limit, {job.title}")
    job.save(folder, 1)
    largest = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    for _ in range(rounds):
        limit = rng.randrange(1, largest)

        def save(limit: int = limit) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            _refused(job, folder)

        tally.kills += 1
        tally.lost += ended(forked(save)) != 0 or job.stored(folder) != 1
        tally.stale += len(temporary_files(folder))
    return tally


def _refused(job: Job, folder: Path) -> None:
    try:
        job.save(folder, 2)
    except OSError:
        return
    raise AssertionError("the save should have failed")


@contextmanager
def tiny_disk(folder: Path, size: str = "512k") -> Iterator[bool]:
    """Mount a file system of that size on ``folder`` where it is allowed; give whether it was."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def run_out_of_disk(job: Job, folder: Path) -> Tally:
    """Save on a file system that is filled to the last block, then make room and save again."""
    tally = Tally(f"full disk, {job.title}")
    with tiny_disk(folder) as mounted:
        if not mounted:
            tally.note = "not allowed to mount a small file system here"
            return tally
        job.save(folder, 1)
        _fill(folder / "ballast")
        tally.kills += 1
        tally.lost += ended(forked(lambda: _refused(job, folder))) != 0 or job.stored(folder) != 1
        tally.stale += len(temporary_files(folder))
        (folder / "ballast").unlink()
        job.save(folder, 2)
        tally.lost += job.stored(folder) != 2
    return tally


def _fill(path: Path) -> None:
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def interrupt(job: Job, folder: Path, times: int, rng: random.Random) -> Tally:
    """Press Ctrl-C at a random moment: the old state or the new one, and no temporary file even without a sweep."""
    tally, counter = Tally(f"Ctrl-C, {job.title}"), Counter()
    longest = window(job, folder, counter)
    for _ in range(times):
        ready = Counter()

        def save(first: int = counter.value + 1, ready: Counter = ready) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            ready.value = 1
            for number in range(first, first + 10**9):
                job.save(folder, number)
                counter.value = number

        pid = forked(save)
        while not ready.value:  # before, the interrupt would meet Python's own work after a fork
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, longest))
        os.kill(pid, signal.SIGINT)
        status, found = ended(pid), job.stored(folder)
        tally.kills += 1
        tally.lost += status != 130 or not counter.value <= found <= counter.value + 1
        counter.value = max(counter.value, found)
        tally.stale += len(temporary_files(folder))
        for temp in temporary_files(folder):
            temp.unlink()
    tally.saves = counter.value
    return tally
