"""Kill, interrupt and starve the library and write ``chaos/RESULTS.md``: ``python -m chaos [--kills 1000]``."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chaos.killing import Tally, ended, forked, kill_loop
from chaos.learning import kill_searching, kill_training
from chaos.limits import fill_disk, interrupt, run_out_of_disk
from chaos.report import markdown
from chaos.saving import SAVING, cache_job, serve
from chaos.sharing import share_cache, share_results

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


def _killed(root: Path, port: int, kills: int, chance: random.Random) -> Iterator[Tally]:
    jobs = [*SAVING, cache_job(port)]
    rounds = max(1, round(kills * SHARING / 2 / 3))
    learning = [max(1, round(kills * share)) for share in (TRAINING, SEARCHING)]
    each = -(-(kills - sum(learning) - 4 * rounds) // len(jobs))
    for job in jobs:
        yield kill_loop(job, _folder(root, job.title), each, chance)
    yield share_cache(_folder(root, "shared cache"), port, rounds, chance)
    yield share_results(_folder(root, "shared results"), rounds, chance)
    yield kill_training(_folder(root, "training"), learning[0], chance)
    yield kill_searching(_folder(root, "searching"), learning[1], chance)


def _folder(root: Path, name: str) -> Path:
    folder = root / name.replace(",", "")
    folder.mkdir(parents=True)
    os.environ["GSP_FB_CACHE"] = str(folder)
    return folder


def main() -> int:
    """Run everything; return 1 if anything was lost or left over."""
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="in all (default: 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the figures go")
    chosen = parser.parse_args()
    chance, started = random.Random(chosen.seed), time.monotonic()
    os.environ["NO_PROXY"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as scratch, _served() as port:
        root = Path(scratch)
        tallies = {
            "kill -9": [_said(tally) for tally in _killed(root, port, chosen.kills, chance)],
            "Ctrl-C": [_said(interrupt(job, _folder(root, f"c {job.title}"), 10, chance)) for job in SAVING],
            "full disk": [
                *(_said(fill_disk(job, _folder(root, f"f {job.title}"), chance)) for job in SAVING),
                *(_said(run_out_of_disk(job, _folder(root, f"t {job.title}"))) for job in REPLACING),
            ],
        }
    command = " ".join(["python -m chaos", *sys.argv[1:]])
    chosen.output.write_text(markdown(tallies, command, time.monotonic() - started), encoding="utf-8")
    return int(not all(row.clean for rows in tallies.values() for row in rows))


if __name__ == "__main__":
    sys.exit(main())
