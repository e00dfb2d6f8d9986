"""Fork a process that saves in a loop, kill it at a random moment, look at what is left; again and again."""

from __future__ import annotations

import mmap
import os
import random
import signal
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gsp_fb._atomic import STALE_SECONDS, sweep_stale

__all__ = ["Counter", "Job", "Tally", "ended", "forked", "kill_loop", "sweep_after_a_day", "temporary_files", "window"]


N_TIMED = 4
LONGEST_SECONDS = 600
FORK_SECONDS = 0.01


class Counter:
    """A number in memory that a killed child leaves behind: how many saves it finished."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    @property
    def value(self) -> int:
        """The number."""
        return int(struct.unpack("<q", self._memory[:8])[0])

    @value.setter
    def value(self, number: int) -> None:
        self._memory[:8] = struct.pack("<q", number)


@dataclass(frozen=True)
class Job:
    """What is saved, and how one sees that nothing of it was lost.

    Attributes
    ----------
    title : str
    save : callable
        ``save(folder, number)`` saves the state of that number, higher each time.
    stored : callable
        ``stored(folder)`` returns the number of the state found, whole, or raises; 0 if there is none yet.
    """

    title: str
    save: Callable[[Path, int], None]
    stored: Callable[[Path], int]


@dataclass
class Tally:
    """The figures of one job."""

    title: str
    kills: int = 0
    saves: int = 0
    hit: int = 0  # kills that fell into a save and left a temporary file
    lost: int = 0
    stale: int = 0
    note: str = ""

    @property
    def clean(self) -> bool:
        """Whether nothing was lost or left."""
        return not (self.lost or self.stale)


def forked(work: Callable[[], None]) -> int:
    """Run ``work`` in a child process and return its pid; the child ends without cleaning up."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    signal.alarm(LONGEST_SECONDS)  # whatever goes wrong here, no child outlives the run
    try:
        work()
        status = 0
    except KeyboardInterrupt:
        status = 130
    finally:
        os._exit(status)


def ended(pid: int) -> int:
    """Wait for a child and return its exit status, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def temporary_files(folder: Path) -> list[Path]:
    """Return the temporary files of atomic writes under ``folder``."""
    return list(folder.rglob(".gsp_fb-*.tmp"))


def sweep_after_a_day(folder: Path) -> list[Path]:
    """Make the temporary files a day old, do what every next start does, and return those that stay."""
    then = time.time() - STALE_SECONDS - 60
    for temp in temporary_files(folder):
        os.utime(temp, (then, then))
        sweep_stale(temp.parent)
    return temporary_files(folder)


@contextmanager
def killed_after(seconds: float, work: Callable[[], None]) -> Iterator[None]:
    """Run ``work`` in a child, kill -9 it after so many seconds, then run the block."""
    pid = forked(work)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    yield


def window(job: Job, folder: Path, counter: Counter) -> float:
    """Save a few times and return the seconds within which to strike: those of a fork and of a few saves."""
    job.save(folder, 1)  # imports what it needs
    started = time.monotonic()
    for number in range(2, N_TIMED + 2):
        job.save(folder, number)
        counter.value = number
    return FORK_SECONDS + time.monotonic() - started


def kill_loop(job: Job, folder: Path, kills: int, rng: random.Random) -> Tally:
    """Kill ``job`` so many times and return what came of it."""
    tally, counter = Tally(job.title), Counter()
    longest = window(job, folder, counter)
    for _ in range(kills):
        first = counter.value + 1

        def save(first: int = first) -> None:
            for number in range(first, first + 10**9):
                job.save(folder, number)
                counter.value = number

        with killed_after(rng.uniform(0.0, longest), save):
            tally.kills += 1
            tally.hit += bool(temporary_files(folder))
            found = job.stored(folder)
            # The save that the kill interrupted may be there or not; every finished one must be.
            tally.lost += not counter.value <= found <= counter.value + 1
            counter.value = max(counter.value, found)
            tally.stale += len(sweep_after_a_day(folder))
    tally.saves = counter.value
    return tally
