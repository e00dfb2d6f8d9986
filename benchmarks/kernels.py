"""Products, S-values and banks against the strongest peer, in one and two threads, with what bounds each row."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import distributions, version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebval
from scipy import sparse

import gsp_fb as gf
from gsp_fb._kernels import set_threads
from gsp_fb._kernels.loops import product_1d
from gsp_fb._kernels.packed import packed_product
from gsp_fb._kernels.threads import each_block
from gsp_fb._kernels.tiles import column_blocks
from gsp_fb.filters import FilterBank

from .graphs import community
from .measure import relative_difference, triad
from .peers import PEERS, chebyshev_loop, int32_csr, missing, set_peer_threads
from .report import machine

FILTERS, ORDER = 6, 30
THREADS = (2, 1)
# Each contender is timed in groups of consecutive calls, as an iterative method makes them, the contenders in turn:
# seconds for all groups of a row and number of threads, their number, and the calls of one at least and at most.
SECONDS, GROUPS, GROUP = 3.0, 3, (2, 12)
# Seconds of rest before a group of two threads, in which the threads of the contender before end their busy waiting
# (0.2 s by default in Intel's OpenMP), and of untimed calls after it.
PAUSE, WARM_UP = 0.25, 0.02
# The share of the CPUs in use by other processes above which a row is timed again, and how often at most; the last
# time counts as a run only if it is below.
DISTURBED, TRIES = 0.1, 2
# A peer whose first call takes longer than the fastest by this factor is not timed.
SLOWER = 1.5
# Calls that are timed together on a small graph: the clock is too coarse for one.
CALLS = 500
# Size of an array far larger than the caches.
STREAM_BYTES = 80_000_000
PACKAGES = ("numpy", "scipy", "numba", "torch", "mkl", "sparse_dot_mkl")

RUNS = Path(__file__).with_name("kernels.jsonl")

TITLE = "## Products and banks against the strongest peer"
HEAD = """\
{title}

Written by `python -m benchmarks --part kernels` on {date}, load at the start {load:.1f} on {cpus} CPUs.
{machine}. Versions: {versions}.

Peers: scipy, torch CSR with int32 indices, MKL through `sparse_dot_mkl`{absent}.
Of each row the fastest counts; a bank is the same recurrence written by hand over its product, in place. Unweighted
community graphs, shuffled labels; nnz = 2 000 000 at n = 100 000, 10 000 000 at n = 1 000 000. One thread is timed by
its processor time, two threads by wall time, ours and the peers in turn, in groups of consecutive calls after a rest of
{pause} s: the threads of OpenMP and BLAS wait for their next call in a busy loop, and take the second CPU from whatever
runs after them. Ratios are peer / ours, median with quartiles. "Runs" are the medians of the last three runs with the
same kernels, this one last. STREAM triad {stream2:.1f} GB/s in two threads, {stream1:.1f} in one; random numbers of 8
bytes in a vector of 800 kB {gather2:.2f} / {gather1:.2f} per ns, random lines of 64 bytes in 6.4 MB {lines2:.2f} /
{lines1:.2f} per ns.

The bound is measured in the same run and the same number of threads: gathers, which are the graph's entries read in
their order into one sum, numbers (one signal) or cache lines (packed columns), indices included; plus bytes, which are
the signals and outputs at the rate of a STREAM triad over three arrays of their size, in the cache or not. The larger
is named first. "x bound" is our time over their sum; the rest is instructions: the work per row, thread starts
and, on small graphs, Python calls. Where a bar is missed, the row gives the time that the bar asks for, the peer's over
the bar: below the bound it cannot be reached on this hardware, because the reads and writes alone take longer; where
ours or the peer is faster than the bound, it is none, and the row states that.
"Others" is the share of all CPUs that other processes took during the row. Above {disturbed:.0%} a row is timed again,
at most {tries} times; the last one counts as a run if it is below.

| job | threads | ours ms | best peer ms | ratio | bar | goal | held | runs | difference | bound ms | x bound | others |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """A job on a community graph; ``bars`` are those of two threads and of one, ``goal`` that of both."""

    title: str
    job: str
    bars: tuple[float, float]
    goal: float
    columns: int = 1
    dtype: Any = np.float64
    n_nodes: int = 100_000
    nnz: int = 2_000_000


ROWS = (
    Row("op @ x, one signal", "product", (1.2, 1.0), 2.0),
    Row("op @ x, one signal, n = 1 000 000", "product", (1.2, 1.0), 2.0, n_nodes=1_000_000, nnz=10_000_000),
    Row("s_value, one signal", "s_value", (1.2, 1.0), 2.0),
    Row("product, 16 columns, float64", "product", (1.5, 1.5), 2.0, 16),
    Row("product, 16 columns, float32", "product", (1.3, 1.3), 2.0, 16, np.float32),
    Row("product, 64 columns, float64", "product", (2.2, 2.2), 3.0, 64),
    Row("product, 64 columns, float32", "product", (2.0, 2.0), 3.0, 64, np.float32),
    Row("bank, 6 x order 30 x 16 columns, float64", "bank", (3.0, 3.0), 4.0, 16),
    Row("bank, 6 x order 30 x 16 columns, float32", "bank", (2.0, 2.0), 4.0, 16, np.float32),
    Row("op @ x, one signal, 183 nodes", "product", (0.4, 0.4), 0.8, n_nodes=183, nnz=560),
    Row("s_value, one signal, 183 nodes", "s_value", (0.33, 0.33), 0.8, n_nodes=183, nnz=560),
    Row("op @ x, one signal, 2 708 nodes", "product", (0.4, 0.4), 0.8, n_nodes=2708, nnz=10_556),
    Row("s_value, one signal, 2 708 nodes", "s_value", (0.33, 0.33), 0.8, n_nodes=2708, nnz=10_556),
)


@cache
def _laplacian(n_nodes: int, nnz: int) -> gf.Operator:
    return gf.operator(gf.Graph.from_adjacency(community(n_nodes, nnz)), "sym", channel="high")


def _product(op: gf.Operator, x: Any) -> dict[str, Callable[[], Any]]:
    matrix = int32_csr(op.to_scipy(), x.dtype)
    calls: dict[str, Callable[[], Any]] = {"ours": lambda: op @ x}
    for name in PEERS.keys() - set(missing()):
        product, convert, _ = PEERS[name][1](matrix)
        calls[name] = partial(product, convert(x))
    return calls


def _s_value(op: gf.Operator, x: Any) -> dict[str, Callable[[], Any]]:
    matrix = op.to_scipy()
    return {"ours": lambda: gf.s_value(op, x), "scipy": lambda: (x @ (matrix @ x)) / (x @ x)}


def _bank(op: gf.Operator, x: Any) -> dict[str, Callable[[], Any]]:
    coefficients = np.random.default_rng(2).standard_normal((FILTERS, ORDER + 1)) / np.arange(1, ORDER + 2)
    kernels = [lambda f, row=row: chebval(np.asarray(f) - 1.0, row) for row in coefficients]
    bank = FilterBank(op, kernels, method="chebyshev", order=ORDER)
    shifted = int32_csr(sparse.csr_array(op.to_scipy() - sparse.eye_array(op.shape[0])), x.dtype)
    calls: dict[str, Callable[[], Any]] = {"ours": lambda: np.moveaxis(bank.analyze(x), -1, 0)}
    for name in PEERS.keys() - set(missing()):
        product, convert, add_scaled = PEERS[name][1](shifted)
        calls[name] = partial(chebyshev_loop, product, add_scaled, convert(x), coefficients.astype(x.dtype))
    return calls


JOBS = {"product": _product, "s_value": _s_value, "bank": _bank}


def _bound(row: Row, op: gf.Operator, x: Any, threads: int) -> dict[str, float]:
    """Return the seconds of gathering alone, and those of the bytes that are read and written in order."""
    indices = op.graph.indices
    if row.columns == 1:
        gathers = _gather_seconds(indices, len(x), 1, x.dtype, threads)
        return {"gathers": gathers, "bytes": 4 * x.nbytes / _stream(x.nbytes, threads)}
    steps = ORDER if row.job == "bank" else 1
    gathers = sum(_gather_seconds(indices, len(x), width, x.dtype, threads) for _, _, width in column_blocks(x))
    # Signal, packed signal and result, or the vectors of the recurrence; the result is read and written.
    written = (3 * steps + (0 if row.job == "bank" else 2)) * x.nbytes / _stream(x.nbytes, threads)
    if row.job == "bank":  # the outputs, read and written at every third order
        written += 2 * ORDER / 3 * FILTERS * x.nbytes / _stream(FILTERS * x.nbytes, threads)
    return {"gathers": steps * gathers, "bytes": written}


@cache
def _random(n_nodes: int, size: int) -> Any:
    return np.random.default_rng(0).integers(n_nodes, size=size, dtype=np.int32)


def _gather_seconds(indices: Any, n_nodes: int, width: int, dtype: Any, threads: int) -> float:
    """Return the seconds of reading rows of ``width`` numbers at ``indices`` into one sum a thread."""
    table, ones = np.ones((n_nodes, width), dtype), np.ones(threads)
    out = np.empty((threads, width), dtype)
    indptr = np.linspace(0, len(indices), threads + 1).astype(np.int32)
    head = (indptr, indices.view(np.uint32)), None
    if width == 1:
        kernel, arguments = product_1d, (table[:, 0], table[:, 0], ones, ones, out[:, 0], out[:0, 0])
    else:
        kernel, arguments = packed_product, (table, table, ones, ones, out, (0, width))

    def loop(i, j):
        kernel(i, j, *head, *arguments)

    loop(0, 1)  # compiles
    call = partial(each_block, loop, [(i, i + 1) for i in range(threads)], threads)
    return min(_timed(call, threads) for _ in range(5))


@cache
def _stream(n_bytes: int, threads: int) -> float:
    """Return the STREAM rate over three arrays of ``n_bytes``, in bytes per second."""
    size = n_bytes // 8
    a, b, c = np.zeros(size), np.ones(size), np.ones(size)
    triad(0, 10, a, b, c)  # compiles
    blocks = list(pairwise(np.linspace(0, size, threads + 1).astype(int).tolist()))
    # Short arrays are passed over several times: a thread start would count in one pass.
    repeats = max(1, 10_000_000 // size)
    call = partial(each_block, lambda *rows: [triad(*rows, a, b, c) for _ in range(repeats)], blocks, threads)
    return repeats * 3 * 8 * size / min(_timed(call, threads) for _ in range(5))


def _timed(call: Callable[[], Any], threads: int) -> float:
    clock = time.thread_time if threads == 1 else time.perf_counter
    begin = clock()
    call()
    return clock() - begin


def _often(call: Callable[[], Any]) -> None:
    for _ in range(CALLS):
        call()


def _rounds(calls: dict[str, Callable[[], Any]], threads: int, rest: float) -> dict[str, Any]:
    """Return the times of the calls of ours and of the faster peers, in groups of consecutive ones."""
    first = {name: min(_timed(call, threads) for _ in range(2)) for name, call in calls.items()}
    fastest = min(first[name] for name in first.keys() - {"ours"})
    timed = [name for name in calls if name == "ours" or first[name] <= SLOWER * fastest]
    size = int(np.clip(SECONDS / GROUPS / sum(first[name] for name in timed), *GROUP))
    times: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(GROUPS):
        for name in timed:
            times[name] += _group(calls[name], size, threads, rest)
    return {name: np.array(found) for name, found in times.items()}


def _group(call: Callable[[], Any], size: int, threads: int, rest: float) -> list[float]:
    time.sleep(rest)
    begin = time.perf_counter()
    call()
    while time.perf_counter() - begin < WARM_UP:
        call()
    return [_timed(call, threads) for _ in range(size)]


def _cpu_seconds() -> tuple[float, float, float]:
    """Return the clock, the seconds that all CPUs were busy, and those of this process."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    busy = sum(fields[:8]) - fields[3] - fields[4]  # idle, and waiting for a disk
    return time.perf_counter(), busy / os.sysconf("SC_CLK_TCK"), time.process_time()


def _others(before: tuple[float, float, float]) -> float:
    """Return the share of all CPUs that other processes took since ``before``."""
    wall, busy, own = (now - then for now, then in zip(_cpu_seconds(), before, strict=True))
    return max(0.0, busy - own) / (wall * (os.cpu_count() or 1))


def _undisturbed(calls: dict[str, Callable[[], Any]], threads: int, rest: float) -> tuple[dict[str, Any], float]:
    """Return ``_rounds``, measured again while other processes disturb it, and their share of the CPUs."""
    for _ in range(TRIES):
        before = _cpu_seconds()
        times, others = _rounds(calls, threads, rest), _others(before)
        if others <= DISTURBED:
            break
    return times, others


def line(row: Row, threads: int, keep: bool) -> str:
    """Measure one row in a number of threads and return its line of the table."""
    op = _laplacian(row.n_nodes, row.nnz)
    shape = (row.n_nodes,) if row.columns == 1 else (row.n_nodes, row.columns)
    x = np.random.default_rng(1).standard_normal(shape).astype(row.dtype)
    calls = JOBS[row.job](op, x)
    ours = calls["ours"]()  # compiles
    small = row.n_nodes < 10_000
    repeated = {name: partial(_often, call) if small else call for name, call in calls.items()}
    times, others = _undisturbed(repeated, threads, PAUSE if threads > 1 and not small else 0.0)
    best = min(times.keys() - {"ours"}, key=lambda name: np.median(times[name]))
    peer = calls[best]()
    difference = relative_difference(ours, np.stack([np.asarray(part) for part in peer]) if row.job == "bank" else peer)
    low, middle, high = np.quantile(times[best] / times["ours"], [0.25, 0.5, 0.75])
    unit = 1e3 / (CALLS if small else 1)
    mine, bar = np.median(times["ours"]) * unit, row.bars[THREADS.index(threads)]
    tolerance = 1e-10 if row.dtype is np.float64 else 1e-5
    bound = {} if small else _bound(row, op, x, threads)
    parts, least = sorted(bound, key=lambda name: -bound[name]), sum(bound.values()) * 1e3
    asked = np.median(times[best]) * unit / bar
    reach = f"out of reach, the bound is {least:.3g}" if asked < least else f"the bound is {least:.3g}"
    if min(mine, asked * bar) < least:  # reads in this order, by our loop, are not the fastest there are
        reach = f"gathers and bytes as measured take {least:.3g}, longer than the faster of both, and bound nothing"
    cells = (
        row.title,
        str(threads),
        f"{mine:.3g}",
        f"{np.median(times[best]) * unit:.3g} ({best})",
        f"{middle:.2f} ({low:.2f} - {high:.2f})",
        f"{bar:g}",
        f"{row.goal:g}",
        "yes"
        if middle >= bar and difference <= tolerance
        else f"**no**, {middle / bar:.2f} of the bar, which asks for {asked:.3g} ms: {reach}",
        _runs(row.title, threads, float(middle)) if keep and others <= DISTURBED else "",
        f"{difference:.0e}",
        " + ".join(f"{name} {bound[name] * 1e3:.3g}" for name in parts) or "instructions",
        f"{mine / least:.1f}" if bound else "",
        f"{others:.0%}",
    )
    return f"| {' | '.join(cells)} |\n"


def _runs(title: str, threads: int, ratio: float) -> str:
    """Keep the median ratio of this run, and return it behind those of the two runs before with the same kernels."""
    code = subprocess.run(["git", "rev-parse", "HEAD:gsp_fb/_kernels"], capture_output=True, text=True, check=True)
    key = {"kernels": code.stdout.strip()[:12], "processor": machine(), "job": title, "threads": threads}
    with RUNS.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**key, "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "ratio": round(ratio, 3)}) + "\n")
    known = [json.loads(text) for text in RUNS.read_text("utf-8").splitlines()]
    return ", ".join(f"{run['ratio']:.2f}" for run in known if key.items() <= run.items())[-16:].lstrip(", ")


def _head(rates: dict[int, float]) -> str:
    absent = missing()
    note = f"; not installed here: {', '.join(absent)} (`pip install -e '.[bench]'`)" if absent else ""
    entries = 2_000_000
    numbers, lines = (
        {n: entries / _gather_seconds(_random(100_000, entries), 100_000, width, np.float64, n) / 1e9 for n in THREADS}
        for width in (1, 8)
    )
    return HEAD.format(
        title=TITLE,
        date=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        load=os.getloadavg()[0],
        cpus=os.cpu_count(),
        machine=machine(),
        versions=", ".join(f"{name} {version(name)}" for name in PACKAGES if list(distributions(name=name))),
        absent=note,
        pause=PAUSE,
        disturbed=DISTURBED,
        tries=TRIES,
        stream1=rates[1] / 1e9,
        stream2=rates[2] / 1e9,
        gather1=numbers[1],
        gather2=numbers[2],
        lines1=lines[1],
        lines2=lines[2],
    )


def table(only: str = "") -> str:
    """Measure all rows whose title contains ``only`` and return the section of the page."""
    set_threads(max(THREADS))
    page = _head({threads: _stream(STREAM_BYTES, threads) for threads in THREADS})
    print(page, end="", flush=True)
    for row in (row for row in ROWS if only in row.title):
        for threads in THREADS:
            set_threads(threads)
            set_peer_threads(threads)
            page += line(row, threads, keep=not only)
            print(page.splitlines()[-1], flush=True)
    return page
