"""Several ranks: what a product costs on one and on two, what it sends, and a plan for 1e10 edges from these rates.

``python3 -m benchmarks.scaling --write`` makes SCALING.md, with a Python that has petsc4py and slepc4py (on Debian that
of the system, with PETSC_DIR and SLEPC_DIR set as docs/distributed.md states). It needs 1 GB of disk for a while.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb.distributed._mpi import petsc, world
from gsp_fb.filters import heat
from gsp_fb.outofcore import write_folder

PAGE = Path(__file__).with_name("SCALING.md")
DEGREE, NEAR, SHARE_NEAR = 20, 1000, 0.9
NUMBERINGS = ("near", "anywhere")
LARGE, SMALL = 1_000_000, 500_000
ROUNDS, REPEATS = 3, 20

# The plan's assumptions; everything else in it is measured here.
PLAN_EDGES, PLAN_NODES, PLAN_RANKS, PLAN_MACHINES = 10**10, 10**9, 256, 32
NETWORK = 1.25e9  # bytes a second in and out of a machine: 10 Gbit/s
VECTORS = 20  # float64 numbers a node: the operator's four, pointers, degrees, a column, and the recurrence of a bank

HEAD = """\
# Scaling over MPI ranks

Written by `{command}` on {date}; Python {python}, numpy {numpy}, PETSc {petsc}
({bits}-bit indices), {launcher}; {cpus} CPUs ({processor}) of a machine shared with other work: {load:.0f} processes
wanted them while this was measured, its session at {priority}. Of {repeats} products in {rounds} rounds, all
ranks starting together, the table has the least, the median and the greatest time; the least is the one that others
disturbed least, and the rates follow from it.

Generated graphs with a mean degree of {degree}. *near*: {near_share:.0%} of the edges join numbers within {near} of
each other, as a good numbering does; *anywhere*: none do, the worst case. Bytes sent are eight for each node of
another rank that a rank's rows name (its ghosts), all ranks together.

| graph | nodes | entries | ranks | s a product: least | median | greatest | entries / s / rank | bytes sent a product \
| s a bank of order {order} | peak MB a rank | s to open |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def _generate(n_nodes: int, numbering: str) -> gf.Graph:
    rng = np.random.default_rng(n_nodes)
    source = rng.integers(0, n_nodes, n_nodes * DEGREE // 2)
    anywhere = rng.integers(0, n_nodes, len(source))
    near = (source + rng.integers(1, NEAR, len(source))) % n_nodes
    target = np.where(rng.random(len(source)) < (SHARE_NEAR if numbering == "near" else 0.0), near, anywhere)
    return gf.Graph.from_edges(np.stack([source, target], axis=1), n_nodes=n_nodes, duplicates="first", loops="drop")


def _timed(graph: Any, work: Callable[[], Any], repeats: int) -> list[float]:
    """Return the seconds of each repeat, all ranks starting together and the slowest one counting."""
    work()
    seconds = []
    for _ in range(repeats):
        graph.storage.layout.comm.barrier()
        start = time.perf_counter()
        work()
        seconds.append(max(graph.storage.layout.comm.allgather(time.perf_counter() - start)))
    return seconds


def _worker(folder: str) -> None:
    """Measure on every rank; rank 0 prints."""
    start = time.perf_counter()
    graph = gf.open_graph(folder, comm=world())
    comm, rows = graph.storage.layout.comm, graph.local_rows
    opened = time.perf_counter() - start
    op = gf.operator(graph, "sym", "high")
    x = np.sin(np.arange(rows.start, rows.stop, dtype=np.float64))
    bank = gf.FilterBank(op, [heat(1.0), heat(5.0), heat(25.0)], 1e-6)
    products = _timed(graph, lambda: op @ x, REPEATS)
    banks = _timed(graph, lambda: bank.analyze(x), 3)
    ghosts = comm.allgather(graph.storage.n_ghosts)
    peak = max(comm.allgather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)) / 1024
    order = bank.plan(x).order
    if comm.rank == 0:
        found = {
            "nodes": graph.n_nodes,
            "entries": graph.n_entries,
            "ranks": comm.size,
            "opened": opened,
            "products": products,
            "ghosts": ghosts,
            "bank": min(banks),
            "order": order,
            "peak": peak,
        }
        sys.stdout.write(json.dumps(found) + "\n")


def _launched(folder: Path, n_ranks: int) -> dict[str, Any]:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    line = ["mpirun", *root, "--bind-to", "core", "-n", str(n_ranks), sys.executable, "-m", __spec__.name]
    quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*line, "--worker", str(folder)], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **quiet}
    )
    return dict(json.loads(done.stdout))


CASES = ((SMALL, 1), (LARGE, 1), (LARGE, 2))
Rows = dict[tuple[int, int], dict[str, Any]]


def _measure() -> dict[str, list[Rows]]:
    """Return for each numbering what every round measured, by (nodes, ranks); the cases take turns in a round."""
    return {numbering: _rounds(numbering) for numbering in NUMBERINGS}


def _rounds(numbering: str) -> list[Rows]:
    with tempfile.TemporaryDirectory() as work:
        folders = {n_nodes: Path(work, f"{n_nodes}.npyd") for n_nodes in (SMALL, LARGE)}
        for n_nodes, folder in folders.items():
            write_folder(_generate(n_nodes, numbering), folder)
        return [{case: _launched(folders[case[0]], case[1]) for case in CASES} for _ in range(ROUNDS)]


def _pooled(rounds: list[Rows], case: tuple[int, int]) -> dict[str, Any]:
    """Return a case over all rounds: its products together, the least of the other times, the greatest memory."""
    rows = [one[case] for one in rounds]
    least = {name: min(row[name] for row in rows) for name in ("bank", "opened")}
    products = [seconds for row in rows for seconds in row["products"]]
    return {**rows[0], **least, "products": products, "peak": max(row["peak"] for row in rows)}


def _rate(row: dict[str, Any]) -> float:
    return float(row["entries"] / row["ranks"] / min(row["products"]))


def _line(numbering: str, row: dict[str, Any]) -> str:
    least, middle, greatest = (how(row["products"]) for how in (min, statistics.median, max))
    return (
        f"| {numbering} | {row['nodes']:.2g} | {row['entries']:.3g} | {row['ranks']} "
        f"| {least:.4f} | {middle:.4f} | {greatest:.4f} | {_rate(row):.3g} "
        f"| {8 * sum(row['ghosts']):,} | {row['bank']:.3f} | {row['peak']:.0f} | {row['opened']:.2f} |"
    )


def _efficiencies(numbering: str, rounds: list[Rows]) -> list[str]:
    """Return a line for each round: no round is left out."""
    lines = []
    for number, rows in enumerate(rounds, 1):
        half, one, two = (min(rows[case]["products"]) for case in CASES)
        times = f"{half:.4f} | {one:.4f} | {two:.4f}"
        lines.append(f"| {numbering} | {number} | {times} | {one / two:.2f} | {half / two:.2f} |")
    return lines


def _plan(results: dict[str, list[Rows]]) -> str:
    """Return the worked plan; the arithmetic is printed with its numbers."""
    entries, per_rank = 2 * PLAN_EDGES, 2 * PLAN_EDGES / PLAN_RANKS
    rows = PLAN_NODES / PLAN_RANKS
    per_machine = PLAN_RANKS // PLAN_MACHINES
    near, anywhere = (_pooled(results[name], (LARGE, 2)) for name in NUMBERINGS)
    # Of the columns outside a rank's rows, those of the edges that lead anywhere; equal ones count once.
    far = {"near": 1 - SHARE_NEAR, "anywhere": 1.0}
    ghosts = {name: PLAN_NODES * (1 - math.exp(-share * per_rank / PLAN_NODES)) for name, share in far.items()}
    rates = {"near": _rate(near), "anywhere": _rate(anywhere)}
    compute = {name: per_rank / rates[name] for name in NUMBERINGS}
    peaks = {name: per_machine * (24 * per_rank + VECTORS * 8 * rows + 16 * ghosts[name]) for name in NUMBERINGS}
    sent = {name: 8 * ghosts[name] * per_machine for name in NUMBERINGS}
    whole = {name: compute[name] + sent[name] / NETWORK for name in NUMBERINGS}
    steps: tuple[tuple[str, str, Callable[[str], str]], ...] = (
        ("entries a rank", f"{entries:.0e} / {PLAN_RANKS}", lambda _: f"{per_rank:.3g}"),
        ("matrix a rank, 32-bit PETSc", f"{per_rank:.3g} x (4 + 8) B", lambda _: _gb(12 * per_rank)),
        ("the same while it is read", f"{per_rank:.3g} x (12 + 4 + 8) B", lambda _: _gb(24 * per_rank)),
        ("vectors a rank", f"{rows:.3g} rows x {VECTORS} x 8 B", lambda _: _gb(VECTORS * 8 * rows)),
        ("ghosts a rank", "n (1 - exp(-share x entries / n)), n nodes", lambda name: f"{ghosts[name]:.3g}"),
        ("share of edges that lead anywhere", "by the numbering", lambda name: f"{far[name]:.1f}"),
        ("memory of ghosts a rank", "ghosts x (8 + 8) B", lambda name: _gb(16 * ghosts[name])),
        ("**peak memory a machine**", f"{per_machine} x the sum", lambda name: f"**{_gb(peaks[name])}**"),
        ("entries a second a rank", "measured, two ranks", lambda name: f"{rates[name]:.3g}"),
        ("compute a product", "entries a rank / rate", lambda name: f"{compute[name]:.2f} s"),
        ("bytes into a machine a product", f"{per_machine} x ghosts x 8 B", lambda name: _gb(sent[name])),
        ("network a product", f"/ {NETWORK:.3g}", lambda name: f"{sent[name] / NETWORK:.2f} s"),
        ("**time a product**", "the sum, if nothing overlaps", lambda name: f"**{whole[name]:.1f} s**"),
        ("reading the folder once", f"{entries:.0e} x 4 B at 1 GB/s", lambda _: f"{4 * entries / 1e9:.0f} s"),
    )
    head = [
        "## A plan on paper for 1e10 edges",
        "",
        f"{PLAN_EDGES:.0e} undirected edges are {entries:.0e} entries; {PLAN_NODES:.0e} nodes; {PLAN_RANKS} ranks on",
        f"{PLAN_MACHINES} machines, {per_machine} each, joined by 10 Gbit/s ({NETWORK:.3g} bytes/s a machine), and a",
        "file system of 1 GB/s: these are assumptions. Rates are those of two ranks in the table above; nothing of",
        "this size was run.",
        "",
        "| what | arithmetic | near | anywhere |",
        "|---|---|---|---|",
    ]
    table = [f"| {what} | {how} | {value('near')} | {value('anywhere')} |" for what, how, value in steps]
    return "\n".join([*head, *table])


def _gb(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2f} GB"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _priority() -> str:
    """Return the weight of this session among those that share the machine, as the kernel's autogroups have it."""
    group = Path("/proc/self/autogroup")
    return group.read_text(encoding="utf-8").partition(" ")[2].strip() if group.exists() else f"nice {os.nice(0)}"


def _launcher() -> str:
    output = subprocess.run(["mpirun", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return output.splitlines()[0]


def _write(results: dict[str, list[Rows]]) -> None:
    rows = [(name, _pooled(results[name], case)) for name in NUMBERINGS for case in CASES]
    head = HEAD.format(
        command="python3 -m benchmarks.scaling --write",
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        python=platform.python_version(),
        numpy=np.__version__,
        petsc=".".join(map(str, petsc().Sys.getVersion())),
        bits=8 * np.dtype(petsc().IntType).itemsize,
        cpus=os.cpu_count(),
        load=os.getloadavg()[0],
        priority=_priority(),
        processor=_processor(),
        launcher=_launcher(),
        repeats=ROUNDS * REPEATS,
        rounds=ROUNDS,
        degree=DEGREE,
        near=NEAR,
        near_share=SHARE_NEAR,
        order=rows[0][1]["order"],
    )
    scaling = [
        "",
        f"Strong: {LARGE:.0e} nodes on two ranks against one, ideally 2. Weak: {LARGE:.0e} nodes on two ranks against",
        f"{SMALL:.0e} on one, ideally 1. Both from the least seconds of a round, and every round is here: how far the",
        "rounds of one graph lie apart is how far the ratios can be trusted.",
        "",
        f"| graph | round | s: {SMALL:.0e}, 1 rank | {LARGE:.0e}, 1 rank | {LARGE:.0e}, 2 ranks | strong | weak |",
        "|---|---|---|---|---|---|---|",
        *(line for name in NUMBERINGS for line in _efficiencies(name, results[name])),
        "",
    ]
    text = head + "\n".join([*(_line(*row) for row in rows), *scaling, _plan(results)]) + "\n"
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", metavar="FOLDER", help="measure this folder; started by mpirun")
    parser.add_argument("--write", action="store_true", help="write SCALING.md")
    args = parser.parse_args()
    if args.worker:
        _worker(args.worker)
        return
    results = _measure()
    if args.write:
        _write(results)


if __name__ == "__main__":
    main()
