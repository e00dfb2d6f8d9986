"""Graphs larger than memory: what conversion and each pass over 3e8 entries cost, beside what the disk itself gives.

``python -m benchmarks.outofcore --write`` makes OUTOFCORE.md. It needs 9 GB of disk for a while.
``python -m benchmarks.billion --write`` does the same for 1e9 entries that a generator writes as a folder.
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
from gsp_fb import outofcore
from gsp_fb.filters import heat

from .measure import status_megabytes

# What the system lets a whole process map, and the memory limit of the library: interpreter and imports take 0.5 GB.
MOST, LIMIT = 4_000_000_000, 3_400_000_000
N_NODES, N_PAIRS = 15_000_000, 155_000_000
NEAR, SHARE_NEAR = 1000, 0.9
BLOCK = 2_000_000
READ = 2**24

HEAD = f"""\
# Larger than memory

Written by `python -m benchmarks.outofcore --write` on {{cpus}} of a machine's {{machine}} CPUs; {{load:.1f}}
processes wanted them meanwhile. A generated graph of {N_NODES:.2g} nodes: {SHARE_NEAR:.0%} of the {N_PAIRS:.3g} listed
pairs lie within {NEAR} numbers of each other, the rest anywhere; pairs that repeat count once. It has
**{{n_entries:.4g}} stored entries**, {{gigabytes:.2f}} GB of neighbours on disk.

Each line below is a process of its own under `memory="{LIMIT / 1e9}GB"`, and the system holds the whole process,
interpreter and libraries included, to {MOST / 1e9:g} GB of addresses (`RLIMIT_AS`): one byte more is a MemoryError.
GB/s are the bytes that the pass reads and writes by seconds on the wall, and by seconds of the processors. *Cold* is
after the file's pages were given back (`posix_fadvise DONTNEED`); below the guest a host may still hold them, so the
disk's own rates stand beside it.

| what | passes | GB a pass | s a pass | CPU s a pass | GB/s | GB/CPU s | peak RSS GB |
|---|---|---|---|---|---|---|---|
"""


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))


def _generate(folder: Path) -> None:
    """Write the pairs in blocks, straight to the file."""
    rng = np.random.default_rng(8)
    pairs = np.lib.format.open_memmap(folder / "pairs.npy", "w+", np.int32, (N_PAIRS, 2))
    for start in range(0, N_PAIRS, BLOCK):
        count = min(BLOCK, N_PAIRS - start)
        source = rng.integers(0, N_NODES, count, dtype=np.int32)
        far = rng.random(count) > SHARE_NEAR
        step = rng.integers(1, NEAR + 1, count, dtype=np.int32)
        step[far] = rng.integers(1, N_NODES, np.count_nonzero(far), dtype=np.int32)
        pairs[start : start + count, 0] = source
        pairs[start : start + count, 1] = (source.astype(np.int64) + step) % N_NODES
    np.save(folder / "x.npy", rng.standard_normal(N_NODES))
    np.save(folder / "y.npy", np.arange(N_NODES) // (N_NODES // 10))


class Passes:
    """A ``progress`` that notes the seconds of every pass, on the wall and of the processors."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    def __call__(self, items: Iterable[Any], title: str, *, total: int | None = None) -> Iterator[Any]:
        begin, cpu = time.perf_counter(), time.process_time()
        yield from items
        self.seconds.append(time.perf_counter() - begin)
        self.cpu.append(time.process_time() - cpu)


def forget(path: Path) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _read(folder: Path, graph: Any, passes: Passes) -> None:
    """Read the neighbours from end to end, as fast as the system gives them."""
    buffer = bytearray(READ)
    with open(graph.storage.source.indices.path, "rb", buffering=0) as file:
        for _ in passes(iter(lambda: file.readinto(buffer), 0), "reading"):
            pass


def _write(folder: Path, graph: Any, passes: Passes) -> None:
    """Write as many bytes as the neighbours have, to the disk for sure."""
    path, buffer = folder / "written", bytes(READ)
    with open(path, "wb", buffering=0) as file:
        for _ in passes(range(graph.storage.source.indices.nbytes // READ), "writing"):
            file.write(buffer)
            os.fdatasync(file.fileno())
    path.unlink()


def _convert(folder: Path, graph: Any, passes: Passes) -> None:
    outofcore.build_folder(
        folder / "pairs.npy",
        folder / "g.npyd",
        memory=LIMIT,
        duplicates="first",
        n_nodes=N_NODES,
        progress=passes,
    )


def _bank(folder: Path, graph: Any, passes: Passes) -> None:
    bank = gf.FilterBank(gf.operator(graph, "sym", channel="high"), [heat(1.0), heat(5.0)], tol=1e-4)
    bank.analyze(folder / "x.npy", out=folder / "c.npy")


def _s_value(folder: Path, graph: Any, passes: Passes) -> None:
    gf.s_value(gf.operator(graph, "sym", "high"), folder / "x.npy")


def _homophily(folder: Path, graph: Any, passes: Passes) -> None:
    gf.edge_homophily(graph, np.load(folder / "y.npy"))


# Name, whether the file's pages are given back first, what is done.
JOBS: dict[str, tuple[str, bool, Callable[[Path, Any, Passes], Any]]] = {
    "convert": ("convert: read the pairs, sort, write runs; then merge them", False, _convert),
    "disk-write": ("the disk: plain writing", False, _write),
    "disk-cold": ("the disk: plain reading, cold", True, _read),
    "disk-warm": ("plain reading, from the page cache", False, _read),
    "s-cold": ("S-value of one column, cold", True, _s_value),
    "s-warm": ("S-value of one column, warm", False, _s_value),
    "homophily": ("edge homophily, 10 classes", False, _homophily),
    "bank": ("bank of two heat kernels, tol 1e-4", False, _bank),
}
# The pairs in and keys of eight bytes out, for both directions; then the keys in and the neighbours out.
CONVERT_GB = (N_PAIRS * 8 + N_PAIRS * 2 * 8 * 2) / 2e9


def _run(name: str, folder: Path) -> None:
    """Do one job in this process and print what it took."""
    _, cold, job = JOBS[name]
    passes = Passes()
    graph = None if name == "convert" else gf.open_graph(folder / "g.npyd", memory=LIMIT, progress=passes)
    if cold and graph is not None:
        forget(graph.storage.source.indices.path)
    warm_up()
    _limited()
    job(folder, graph, passes)
    facts = {"passes": passes.seconds, "cpu": passes.cpu, "peak": status_megabytes("VmHWM") / 1024}
    sys.stdout.write(json.dumps(facts))


def warm_up() -> None:
    """Compile the loops before they are timed, on a graph large enough for them."""
    with tempfile.TemporaryDirectory() as folder:
        outofcore.write_folder(gf.datasets.ring(200_000), f"{folder}/ring.npyd")
        op = gf.operator(gf.open_graph(f"{folder}/ring.npyd"), "sym", "high")
        gf.s_value(op, np.ones(200_000))


def _row(name: str, facts: dict[str, Any], gigabytes: float) -> str:
    wall, cpu = (sum(facts[kind]) / len(facts[kind]) for kind in ("passes", "cpu"))
    moved = gigabytes / 2 + CONVERT_GB if name == "convert" else gigabytes
    figures = (moved, wall, cpu, moved / wall, moved / cpu, facts["peak"])
    return f"| {JOBS[name][0]} | {len(facts['passes'])} | {' | '.join(f'{figure:.2f}' for figure in figures)} |\n"


def table(scratch: Path) -> str:
    """Generate the graph in ``scratch``, run every job on it in a process of its own, and return the page."""
    _generate(scratch)
    rows = {}
    for name in JOBS:
        command = [sys.executable, "-m", "benchmarks.outofcore", "--job", name, "--folder", str(scratch)]
        rows[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        sys.stderr.write(f"{name}: {rows[name]}\n")
        (scratch / "pairs.npy").unlink(missing_ok=True)
    graph = gf.open_graph(scratch / "g.npyd")
    gigabytes = graph.storage.source.indices.nbytes / 1e9
    head = HEAD.format(
        cpus=len(os.sched_getaffinity(0)),
        machine=os.cpu_count(),
        load=os.getloadavg()[2],
        n_entries=float(graph.n_entries),
        gigabytes=gigabytes,
    )
    return head + "".join(_row(name, facts, gigabytes) for name, facts in rows.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write OUTOFCORE.md beside this file")
    parser.add_argument("--folder", type=Path, help="where the graph goes (default a temporary folder)")
    parser.add_argument("--job", choices=tuple(JOBS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        _run(args.job, args.folder)
        return
    with tempfile.TemporaryDirectory(dir=args.folder) as scratch:
        page = table(Path(scratch))
    if args.write:
        Path(__file__).with_name("OUTOFCORE.md").write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
