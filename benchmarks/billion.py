"""1e9 stored entries on disk under 8 GB: the S-value of one signal and one bank, beside the disk's sequential rate.

``python -m benchmarks.billion --write`` makes BILLION.md. It needs 5 GB of disk and a few minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb.filters import heat

from .folders import FAR, NEAR, WINDOW_BITS, write_symmetric_folder
from .measure import status_megabytes
from .outofcore import READ, forget, warm_up

# What the system lets a whole process map, and the memory limit of the library: interpreter and imports take the rest.
MOST, LIMIT = 8_000_000_000, 7_400_000_000
BITS = 25

HEAD = f"""\
# 1e9 entries

Written by `python -m benchmarks.billion --write` on a machine of {{cpus}} CPUs; {{load:.1f}} processes
wanted them meanwhile. A generated graph of {{n_nodes:.3g}} nodes with **{{n_entries:.5g}} stored entries**,
{{gigabytes:.2f}} GB of neighbours on disk: of the {NEAR + FAR} candidates of a node {NEAR} lie in its window of
{1 << WINDOW_BITS} numbers and {FAR} anywhere. The generator took {{generated:.0f}} s of CPU.

Each line is a process of its own under `memory="{LIMIT / 1e9}GB"`, and the system holds the whole process, interpreter
and libraries included, to {MOST / 1e9:g} GB of addresses (`RLIMIT_AS`). Before every pass the file's pages are given
back (`posix_fadvise DONTNEED`), so that each pass reads the disk. "of the disk" is the rate of a pass as a share of
the mean
rate of plain sequential reading in the lines around it. Other programs slow a pass that computes more than one that
reads; GB by CPU second is what a free processor would give.

| what | passes | s a pass | CPU s a pass | GB/s | GB/CPU s | of the disk | peak RSS GB |
|---|---|---|---|---|---|---|---|
"""


class ColdPasses:
    """A ``progress`` that gives the pages back before every pass and notes its seconds, on the wall and of the CPUs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    def __call__(self, items: Iterable[Any], title: str, *, total: int | None = None) -> Iterator[Any]:
        forget(self.path)
        begin, cpu = time.perf_counter(), time.process_time()
        yield from items
        self.seconds.append(time.perf_counter() - begin)
        self.cpu.append(time.process_time() - cpu)


def _read(folder: Path, graph: Any, passes: ColdPasses) -> None:
    """Read the neighbours from end to end, as fast as the system gives them."""
    buffer = bytearray(READ)
    with open(passes.path, "rb", buffering=0) as file:
        for _ in passes(iter(lambda: file.readinto(buffer), 0), "reading"):
            pass


def _s_value(folder: Path, graph: Any, passes: ColdPasses) -> None:
    gf.s_value(gf.operator(graph, "sym", "high"), folder / "x.npy")


def _bank(folder: Path, graph: Any, passes: ColdPasses) -> None:
    bank = gf.FilterBank(gf.operator(graph, "sym", channel="high"), [heat(1.0), heat(5.0)], tol=1e-4)
    bank.analyze(folder / "x.npy", out=folder / "c.npy")


# The disk's rate is measured before, between and after: it belongs to all who use the machine.
JOBS: dict[str, tuple[str, Callable[[Path, Any, ColdPasses], None]]] = {
    "disk-1": ("the disk: plain reading", _read),
    "s-value": ("S-value of one signal", _s_value),
    "disk-2": ("the disk: plain reading", _read),
    "bank": ("bank of two heat kernels, tol 1e-4", _bank),
    "disk-3": ("the disk: plain reading", _read),
}


def _run(name: str, folder: Path) -> None:
    """Do one job in this process and print what it took."""
    path = folder / "g.npyd" / "indices.npy"
    passes = ColdPasses(path)
    graph = gf.open_graph(path.parent, memory=LIMIT, progress=passes)
    warm_up()
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    JOBS[name][1](folder, graph, passes)
    facts = {"passes": passes.seconds, "cpu": passes.cpu, "peak": status_megabytes("VmHWM") / 1024}
    sys.stdout.write(json.dumps(facts))


def _rates(facts: dict[str, Any], gigabytes: float) -> tuple[float, float, float, float]:
    wall, cpu = (sum(facts[kind]) / len(facts[kind]) for kind in ("passes", "cpu"))
    return wall, cpu, gigabytes / wall, gigabytes / cpu


def _table(found: dict[str, dict[str, Any]], gigabytes: float) -> str:
    names, lines = list(found), []
    for at, name in enumerate(names):
        wall, cpu, rate, each = _rates(found[name], gigabytes)
        around = [_rates(found[other], gigabytes)[2] for other in names[max(at - 1, 0) : at + 2] if "disk" in other]
        figures = (wall, cpu, rate, each, rate / (sum(around) / len(around)), found[name]["peak"])
        numbers = " | ".join(f"{figure:.2f}" for figure in figures)
        lines.append(f"| {JOBS[name][0]} | {len(found[name]['passes'])} | {numbers} |\n")
    return "".join(lines)


def page(scratch: Path, bits: int) -> str:
    """Generate the graph in ``scratch``, run every job on it in a process of its own, and return the page."""
    begin = time.process_time()
    n_entries = write_symmetric_folder(scratch / "g.npyd", bits)
    generated = time.process_time() - begin
    np.save(scratch / "x.npy", np.random.default_rng(3).standard_normal(1 << bits))
    found = {}
    for name in JOBS:
        command = [sys.executable, "-m", "benchmarks.billion", "--job", name, "--folder", str(scratch)]
        found[name] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        sys.stderr.write(f"{name}: {found[name]}\n")
    gigabytes = 4 * n_entries / 1e9
    head = HEAD.format(
        cpus=os.cpu_count(),
        load=os.getloadavg()[2],
        n_nodes=1 << bits,
        n_entries=float(n_entries),
        gigabytes=gigabytes,
        generated=generated,
    )
    return head + _table(found, gigabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write BILLION.md beside this file")
    parser.add_argument("--bits", type=int, default=BITS, help="2**BITS nodes with some 30 entries each")
    parser.add_argument("--folder", type=Path, help="where the graph goes (default a temporary folder)")
    parser.add_argument("--job", choices=tuple(JOBS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        _run(args.job, args.folder)
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
        text = page(Path(scratch), args.bits)
    if args.write:
        Path(__file__).with_name("BILLION.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
