"""What the library saves, as jobs to be killed: graphs, checkpoints, results, journals, caches, metrics."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from gsp_fb import Graph
from gsp_fb._rundir import METRICS_FILE, MetricsFile
from gsp_fb.datasets.fetch import fetch
from gsp_fb.datasets.registry import SourceFile
from gsp_fb.files import FORMATS, read_graph, write_graph
from gsp_fb.nn import read_checkpoint, read_metrics
from gsp_fb.nn.checkpoint import write_checkpoint
from paper.journal import Journal
from paper.store import Store
from tools.chaos.killing import Job

__all__ = ["CONTENT", "SAVING", "cell", "serve", "source"]

N_NODES = 300
RING = [(i, (i + 1) % N_NODES) for i in range(N_NODES)]
CONTENT = bytes(range(256)) * 4000


def _graph_job(name: str) -> Job:
    """Return the job of one file format: every weight of the ring is the number of the save."""
    file_name = f"graph{FORMATS[name].suffixes[0]}"

    def save(folder: Path, number: int) -> None:
        write_graph(Graph.from_edges(RING, np.full(N_NODES, float(number))), folder / file_name)

    def stored(folder: Path) -> int:
        if not (folder / file_name).exists():
            return 0
        weights = read_graph(folder / file_name).adjacency.data
        return int(weights[0]) if np.all(weights == weights[0]) and len(weights) == 2 * N_NODES else -1

    return Job(f"graph, {name}", save, stored)


def _save_checkpoint(folder: Path, number: int) -> None:
    facts = {"epoch": number, "best_epoch": 0, "recipe": {}, "config": {}, "data": {}}
    write_checkpoint(folder, {"w": torch.full((5000,), float(number))}, facts)


def _stored_checkpoint(folder: Path) -> int:
    if not (folder / "checkpoint.json").exists():
        return 0
    found = read_checkpoint(folder)
    return int(found.facts["epoch"]) if bool((found.tensors["w"] == found.facts["epoch"]).all()) else -1


def cell(number: int) -> Any:
    """Return what the store asks of a cell of an experiment."""
    row, plan = SimpleNamespace(label="gcn", model="gcn"), SimpleNamespace(as_dict=dict)
    facts = {"experiment": "chaos", "dataset": "ring", "metric": "accuracy", "protocol": "none", "quick": True}
    return SimpleNamespace(**facts, path=f"{number % 3}/cell.json", command="", row=row, plan=plan)


def _save_result(folder: Path, number: int) -> None:
    Store(folder).write(cell(number), {"number": number, "arrays": {"a": np.full(2000, number)}}, 1.0)


def _stored_result(folder: Path) -> int:
    store, numbers = Store(folder), [0]
    for which in range(3):
        facts = store.read(cell(which))
        if facts is not None:
            arrays = store.arrays(cell(which))["a"]
            # The arrays are written before the JSON that vouches for them: they may be one save ahead.
            whole = np.all(arrays == arrays[0]) and arrays[0] in (facts["number"], facts["number"] + 3)
            numbers.append(facts["number"] if whole else 10**12)
    return max(numbers)


def _save_journal(folder: Path, number: int) -> None:
    Journal(folder / "journal.json").step(f"step {number}", lambda: list(range(number % 50)))


def _stored_journal(folder: Path) -> int:
    steps = Journal(folder / "journal.json").steps
    whole = all(steps[f"step {k}"]["outcome"] == list(range(k % 50)) for k in range(1, len(steps) + 1))
    return len(steps) if whole else -1


def _save_metrics(folder: Path, number: int) -> None:
    _table(str(folder), os.getpid()).append([{"epoch": number, "loss": number / 7, "note": "x" * (number % 90)}])


@cache
def _table(folder: str, pid: int) -> MetricsFile:
    """Return the table as each process opens it once, at its start."""
    rows = read_metrics(folder)
    return MetricsFile(Path(folder), ["epoch", "loss", "note"], int(rows[-1]["epoch"]) if rows else 0)


def _stored_metrics(folder: Path) -> int:
    rows = read_metrics(folder)
    whole = all(int(row["epoch"]) == k and float(row["loss"]) == k / 7 for k, row in enumerate(rows, 1))
    torn = (folder / METRICS_FILE).exists() and not (folder / METRICS_FILE).read_bytes().endswith(b"\n")
    if torn:  # what the next start does: the table is written anew without the torn line
        MetricsFile(folder, ["epoch", "loss", "note"], len(rows))
    return len(rows) if whole else -1


class _Handler(BaseHTTPRequestHandler):
    """Serves CONTENT in pieces, so that kills fall into a download."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.send_header("Content-Type", "application/octet-stream")
        self.end_headers()
        for start in range(0, len(CONTENT), 2**16):
            self.wfile.write(CONTENT[start : start + 2**16])


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that is killed in the middle is what this is about."""


def serve() -> tuple[int, Callable[[], None]]:
    """Return the port of a server of CONTENT, and the function that serves until it is killed."""
    server = _Server(("127.0.0.1", 0), _Handler)
    return server.server_address[1], server.serve_forever


def source(port: int) -> SourceFile:
    """Return the row of the registry for the file that is served."""
    return SourceFile("edges", f"http://127.0.0.1:{port}/edges.bin", hashlib.sha256(CONTENT).hexdigest())


def cache_job(port: int) -> Job:
    """Return the job that fetches a file into the cache over and over; its number is kept beside the cache."""

    def save(folder: Path, number: int) -> None:
        (folder / source(port).key).unlink(missing_ok=True)
        fetch(source(port))
        _replace(folder / "number", number)

    def stored(folder: Path) -> int:
        path = folder / source(port).key
        whole = not path.exists() or path.read_bytes() == CONTENT
        number = json.loads((folder / "number").read_text()) if (folder / "number").exists() else 0
        return number if whole else -1

    return Job("cache", save, stored)


def _replace(path: Path, number: int) -> None:
    temp = path.with_suffix(".next")
    temp.write_text(json.dumps(number))
    temp.replace(path)


SAVING = [
    *(_graph_job(name) for name in FORMATS),
    Job("checkpoint", _save_checkpoint, _stored_checkpoint),
    Job("result", _save_result, _stored_result),
    Job("journal", _save_journal, _stored_journal),
    Job("metrics", _save_metrics, _stored_metrics),
]
