"""Cost of audits: a graph of 1e5 nodes and 2e6 entries, and a record of ``watch`` against an epoch.

    python -m benchmarks.auditing [--models gcn "PyG GCN"] [--threads 1] [--write]

Every audit runs in a process of its own, whose peak memory is reported. ``--write`` puts the tables into
``benchmarks/AUDIT.md``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch_geometric.nn import models as pyg

from gsp_fb import Graph, datasets, nn
from gsp_fb._document import Table

from .graphs import community

RESULTS = Path(__file__).with_name("AUDIT.md")
NODES, ENTRIES, FEATURES, CLASSES = 100_000, 2_000_000, 64, 10
WATCHED = {"cora": ("gcn", "fb-gcn", "graphsage", "gat"), "texas": ("gcn", "fb-gcn"), "minesweeper": ("gcn", "fb-gcn")}
EPOCHS, RECORDS = 100, 50


def _model(name: str, data: Any) -> torch.nn.Module:
    if not name.startswith("PyG"):
        return nn.build(name, data, hidden=8 if name == "gat" else 64)
    network: torch.nn.Module = getattr(pyg, name.split()[1])(FEATURES, 64, num_layers=2, out_channels=CLASSES)
    return network


def _audit(name: str, threads: int) -> tuple[float, float, float, str]:
    """Return wall and processor time in seconds, peak memory in MB and the verdict's first words, of this process."""
    torch.set_num_threads(threads)
    graph, rng = Graph.from_adjacency(community(NODES, ENTRIES)), np.random.default_rng(0)
    x = rng.standard_normal((NODES, FEATURES)).astype(np.float32)
    data = SimpleNamespace(graph=graph, x=x, y=rng.integers(0, CLASSES, NODES))
    model = _model(name, data)
    wall, processor = time.perf_counter(), time.process_time()
    found = nn.audit(model, data, progress=True)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return wall, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, found.verdict.partition(":")[0]


def large(models: Sequence[str], threads: int) -> Table:
    """Return the table of audits of a large graph."""
    rows = []
    for name in models:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            *numbers, verdict = pool.apply(_audit, (name, threads))
        rows.append([name, *(f"{number:.0f}" for number in numbers), verdict])
        print(*rows[-1], flush=True)
    return Table(["model", "seconds", "processor seconds", "peak memory, MB", "verdict"], rows)


def watched(threads: int) -> Table:
    """Return the table of the processor time of a record against that of an epoch of the trainer."""
    torch.set_num_threads(threads)
    rows = []
    for name, models in WATCHED.items():
        data = datasets.load(name, loops="drop")
        for row in models:
            epoch, record = _watch_cost(row, data)
            rows.append([row, name, f"{1e3 * epoch:.1f}", f"{1e3 * record:.1f}", f"{record / epoch:.2f}"])
            print(*rows[-1], flush=True)
    return Table(["model", "data set", "epoch, ms", "record, ms", "record / epoch"], rows)


def _watch_cost(name: str, data: Any) -> tuple[float, float]:
    """Return the median of three measurements of the processor time of an epoch and of a record."""
    model, times = nn.build(name, data), []
    history = nn.watch(model, data)
    config = nn.TrainConfig(**{**nn.MODELS[name].training, "epochs": EPOCHS, "patience": EPOCHS})
    for _ in range(3):
        start = time.process_time()
        nn.train(nn.build(name, data), data, data.splits[0], config)
        middle = time.process_time()
        for k in range(RECORDS):
            history.record(k)
        times.append(((middle - start) / EPOCHS, (time.process_time() - middle) / RECORDS))
    epoch, record = np.median(times, axis=0).tolist()
    return epoch, record


def main() -> None:
    """Measure and print; write the page where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.auditing", description=__doc__)
    parser.add_argument("--models", nargs="*", default=["gcn"], help="audited on the large graph; PyG's as 'PyG GCN'")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    content = page(large(args.models, args.threads), watched(args.threads), args)
    if args.write:
        RESULTS.write_text(content, encoding="utf-8")


def page(audits: Table, records: Table, args: argparse.Namespace) -> str:
    """Return the page."""
    models = shlex.join(args.models)
    return f"""# Audits: measured

{platform.machine()}, torch {torch.__version__}, {args.threads} thread(s). Written by
`python -m benchmarks.auditing --models {models} --threads {args.threads} --write`. Wall times are those of a
machine that may be shared; processor times are not.

`gf.nn.audit` with its defaults (8 bands, 16 probes) on a graph of {NODES} nodes and {ENTRIES} entries with {FEATURES}
features, two layers, 64 hidden columns; the peak memory is that of a process that made graph and model too:

{audits.markdown()}

A record of `gf.nn.watch` against an epoch of the trainer (a step and its evaluation), processor time:

{records.markdown()}
"""


if __name__ == "__main__":
    main()
