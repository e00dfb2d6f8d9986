"""Kill, interrupt and starve the library, write ``tools/chaos/RESULTS.md``: ``python -m tools.chaos [--kills 1000]``.

``--only "eight processes, one cache"`` runs that job again and renews its row.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tools.chaos.killing import Job, Tally, ended, forked, kill_loop
from tools.chaos.learning import kill_searching, kill_training
from tools.chaos.limits import fill_disk, interrupt, run_out_of_disk
from tools.chaos.report import markdown, record
from tools.chaos.saving import SAVING, cache_job, serve
from tools.chaos.sharing import share_cache, share_results

RESULTS = Path(__file__).parent / "RESULTS.md"
# A row of metrics may still fit into the last block that its table has.
REPLACING = [job for job in SAVING if job.title != "metrics"]
# Shares of the kills: the rest is divided among the jobs that save in a loop.
TRAINING, SEARCHING, SHARING = 0.06, 0.04, 0.05


@contextmanager
def _served() -> Iterator[int]:
    """Serve the file of the cache from a process of its own, and give the port."""
    port, forever = serve()
    pid = forked(forever)
    try:
        yield port
    finally:
        os.kill(pid, signal.SIGKILL)
        ended(pid)


def _said(tally: Tally) -> Tally:
    print(f"{tally.title}: {tally.kills} faults, {tally.lost} lost, {tally.stale} left over {tally.note}", flush=True)
    return tally


Jobs = dict[str, Callable[[Path], Tally]]


def _killed(port: int, kills: int, rng: random.Random) -> Jobs:
    """Return what is killed, by title: each a function of the folder it works in."""
    jobs = [*SAVING, cache_job(port)]
    rounds = max(1, round(kills * SHARING / 2 / 3))
    learning = [max(1, round(kills * share)) for share in (TRAINING, SEARCHING)]
    each = -(-(kills - sum(learning) - 4 * rounds) // len(jobs))
    return {
        **{job.title: partial(_looped, job, each, rng) for job in jobs},
        "eight processes, one cache": lambda folder: share_cache(folder, port, rounds, rng),
        "eight processes, one results folder": lambda folder: share_results(folder, rounds, rng),
        "training": lambda folder: kill_training(folder, learning[0], rng),
        "searching": lambda folder: kill_searching(folder, learning[1], rng),
    }


def _looped(job: Job, kills: int, rng: random.Random, folder: Path) -> Tally:
    return kill_loop(job, folder, kills, rng)


def _kinds(port: int, kills: int, rng: random.Random) -> dict[str, Jobs]:
    """Return all jobs of all kinds of faults."""
    return {
        "kill -9": _killed(port, kills, rng),
        "Ctrl-C": {f"Ctrl-C, {job.title}": partial(_interrupted, job, rng) for job in SAVING},
        "full disk": {
            **{f"file-size limit, {job.title}": partial(_limited, job, rng) for job in SAVING},
            **{f"full disk, {job.title}": partial(run_out_of_disk, job) for job in REPLACING},
        },
    }


def _interrupted(job: Job, rng: random.Random, folder: Path) -> Tally:
    return interrupt(job, folder, 10, rng)


def _limited(job: Job, rng: random.Random, folder: Path) -> Tally:
    return fill_disk(job, folder, rng)


def _folder(root: Path, name: str) -> Path:
    folder = root / name.replace(",", "")
    folder.mkdir(parents=True)
    os.environ["GSP_FB_CACHE"] = str(folder)
    return folder


def main() -> int:
    """Run everything; return 1 if anything was lost or left over."""
    parser = argparse.ArgumentParser(prog="python -m tools.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="in all (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="the title of a job to run again; may be given again")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the page goes")
    chosen = parser.parse_args()
    rng, started = random.Random(chosen.seed), time.monotonic()
    os.environ["NO_PROXY"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as scratch, _served() as port:
        kinds = _kinds(port, chosen.kills, rng)
        unknown = set(chosen.only or []).difference(*kinds.values())
        if unknown:
            parser.error(f"no such job: {', '.join(sorted(unknown))}")
        tallies = {
            kind: [_said(job(_folder(Path(scratch), title))) for title, job in _chosen(jobs, chosen.only).items()]
            for kind, jobs in kinds.items()
        }
    command = shlex.join(["python", "-m", "chaos", *sys.argv[1:]])
    figures = record(tallies, command, time.monotonic() - started, whole=chosen.only is None)
    chosen.output.write_text(markdown(figures), encoding="utf-8")
    return int(not all(row.clean for rows in tallies.values() for row in rows))


def _chosen(jobs: Jobs, titles: list[str] | None) -> Jobs:
    return {title: job for title, job in jobs.items() if titles is None or title in titles}


if __name__ == "__main__":
    sys.exit(main())
