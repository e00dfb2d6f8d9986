"""Eight processes on one cache and on one results folder, some of them killed while they are at it."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from gsp_fb.datasets.fetch import fetch
from paper.store import Store
from tools.chaos.killing import Counter, Tally, ended, forked, sweep_after_a_day, temporary_files
from tools.chaos.saving import CONTENT, cell, source

__all__ = ["share_cache", "share_results"]

PROCESSES = 8
# About what it takes to fetch the file: the kills fall while it comes and soon after.
FETCH_SECONDS = 0.01


def _with_kills(work: list[Callable[[], None]], kills: int, within: float, rng: random.Random) -> tuple[int, list[int]]:
    """Run the functions at once, kill -9 some soon after each other; return the kills, and how the others ended."""
    gate, latch = os.pipe()

    def at_once(one: Callable[[], None]) -> None:
        os.close(latch)
        os.read(gate, 1)  # returns when no process holds the latch any more: all have been forked
        one()

    pids = [forked(partial(at_once, one)) for one in work]
    os.close(gate)
    os.close(latch)
    victims = pids[:kills]
    for pid in victims:
        time.sleep(rng.uniform(0.0, within))
        os.kill(pid, signal.SIGKILL)
    ends = [ended(pid) for pid in pids]
    return sum(end == -signal.SIGKILL for end in ends[:kills]), ends[kills:]


def share_cache(folder: Path, port: int, rounds: int, rng: random.Random) -> Tally:
    """Let eight processes fetch the same file at once, three of them to be killed; the file must be whole after."""
    tally = Tally("eight processes, one cache")
    path = folder / source(port).key

    def work() -> None:
        for _ in range(6):
            if fetch(source(port)).read_bytes() != CONTENT:
                raise AssertionError("a file of another content")

    for _ in range(rounds):
        path.unlink(missing_ok=True)
        kills, others = _with_kills([work] * PROCESSES, 3, FETCH_SECONDS, rng)
        tally.kills += kills
        tally.saves += PROCESSES - kills
        tally.hit += len(temporary_files(folder))
        tally.lost += any(others) or path.read_bytes() != CONTENT
        tally.stale += len(sweep_after_a_day(folder))
    return tally


def share_results(folder: Path, rounds: int, rng: random.Random) -> Tally:
    """Let eight processes write the cells of one folder at once, three of them to be killed."""
    tally = Tally("eight processes, one results folder")
    for number in range(1, rounds + 1):
        counters = [Counter() for _ in range(PROCESSES)]

        def work(who: int, number: int = number, counters: list[Counter] = counters) -> None:
            for turn in range(30):
                facts = {"number": number, "who": who, "arrays": {"a": np.full(500, who)}}
                Store(folder).write(cell(turn), facts, 1.0)
                counters[who].value += 1

        kills, others = _with_kills([partial(work, who) for who in range(PROCESSES)], 3, 0.05, rng)
        tally.kills += kills
        tally.saves += sum(counter.value for counter in counters)
        tally.hit += len(temporary_files(folder))
        tally.lost += any(others) or not all(_whole(folder, which, number) for which in range(3))
        tally.stale += len(sweep_after_a_day(folder))
    return tally


def _whole(folder: Path, which: int, number: int) -> bool:
    facts, arrays = Store(folder).read(cell(which)), Store(folder).arrays(cell(which))["a"]
    return facts is not None and facts["number"] == number and len(set(arrays.tolist())) == 1
