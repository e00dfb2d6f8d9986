"""The limit is kept where the operating system enforces it: a process that may not map more than imports and limit."""

import filecmp
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

import gsp_fb as gf
from gsp_fb import outofcore
from gsp_fb.filters import heat
from gsp_fb.storage import silent
from gsp_fb.variants import VARIANTS

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS and /proc are Linux's")

# The baseline is taken after a small run of everything: by then all libraries are loaded and all loops compiled.
LIMITED = """
import json, resource, sys, tempfile
import numpy as np
import gsp_fb as gf
from gsp_fb import outofcore
from gsp_fb.filters import heat
from gsp_fb.variants import VARIANTS

def enforce(limit):
    pages = int(open("/proc/self/statm").read().split()[0])
    most = pages * resource.getpagesize() + limit
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        bytearray(limit + 2**20)
    except MemoryError:
        return
    sys.exit("the limit is not enforced")
"""
MEASURE = (
    LIMITED
    + """
def measured(path, limit, x, out):
    graph = gf.open_graph(path, memory=limit)
    op = gf.operator(graph, "sym", channel="high")
    bank = gf.FilterBank(op, [heat(1.0), heat(3.0)], tol=1e-4)
    facts = {"s": gf.s_value(op, x), "shape": bank.analyze(x, out=out).shape}
    facts["degrees"] = [float(graph.degrees.min()), float(graph.degrees.max())]
    del op, bank
    for family in VARIANTS:
        facts[family] = gf.dirichlet_energy(gf.operator(graph, family, channel="high"), x)
    y = np.arange(graph.n_nodes) % 2
    for name in ("node_homophily", "edge_homophily", "class_homophily", "adjusted_homophily"):
        facts[name] = getattr(gf, name)(graph, y)
    return facts

path, x, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tempfile.TemporaryDirectory() as folder:
    outofcore.write_folder(gf.datasets.ring(200_000), f"{folder}/ring.npyd")
    gf.write_graph(gf.datasets.ring(1000), f"{folder}/ring.parquet")
    for width in (1, 3):
        measured(f"{folder}/ring.npyd", "300MB", np.ones((200_000, width)), f"{folder}/c.npy")
    measured(f"{folder}/ring.parquet", "300MB", np.ones((1000, 2)), f"{folder}/c.npy")
enforce(limit)
print(json.dumps(measured(path, limit, x, x + ".bank.npy")))
"""
)
CONVERT = (
    LIMITED
    + """
source, path, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tempfile.TemporaryDirectory() as folder:
    gf.write_graph(gf.datasets.ring(1000), f"{folder}/ring.csv")
    gf.write_graph(gf.datasets.ring(1000), f"{folder}/ring.parquet")
    for suffix in ("csv", "parquet"):
        outofcore.build_folder(f"{folder}/ring.{suffix}", f"{folder}/{suffix}.npyd")
enforce(limit)
print(outofcore.build_folder(source, path, memory=limit).n_entries)
"""
)


def write_random_folder(path, n_nodes, degree):
    """A random regular circulant graph, written without any library of ours: each row is i + offsets, sorted."""
    rng = np.random.default_rng(1)
    half = np.sort(rng.choice(np.arange(1, n_nodes // 2), degree // 2, replace=False))
    offsets = np.concatenate([half, n_nodes - half])
    path.mkdir()
    np.save(path / "indptr.npy", np.arange(0, n_nodes * degree + 1, degree, dtype=np.int64))
    rows = np.lib.format.open_memmap(path / "indices.npy", "w+", np.int32, (n_nodes * degree,))
    for first in range(0, n_nodes, 2**16):
        last = min(first + 2**16, n_nodes)
        near = (np.arange(first, last)[:, None] + offsets) % n_nodes
        rows[first * degree : last * degree] = np.sort(near, axis=1).ravel()
    facts = {"version": 1, "n_nodes": n_nodes, "n_entries": n_nodes * degree, "n_loops": 0, "directed": False}
    (path / "graph.json").write_text(json.dumps(facts))
    return offsets


def limited(code, *argv):
    """Run code in a process of its own and return what it printed."""
    # What the small run has freed goes back to the system, and no thread reserves addresses for itself.
    malloc = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    environment = {**os.environ, **malloc, "OMP_NUM_THREADS": "1", "GSP_FB_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, argv)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# The frequency of a wave on a regular graph of degree k, from its frequency f in L_sym; gamma is 1.
FREQUENCY = {
    ("none", "none"): lambda f, k: k * f,
    ("none", "sym"): lambda f, k: f,
    ("unit", "sym"): lambda f, k: k * f / (k + 1),
    ("degree", "sym"): lambda f, k: f / 2,
}


def run_limited(tmp_path, n_nodes, degree, limit, columns, *, as_edges=False):
    offsets = write_random_folder(tmp_path / "g.npyd", n_nodes, degree)
    stored = (tmp_path / "g.npyd" / "indices.npy").stat().st_size
    assert stored > limit
    # A wave is an eigenvector of a circulant graph: its energies and its filtered form are known without the graph.
    waves = np.cos(2 * np.pi * np.outer(np.arange(n_nodes), np.arange(1, columns + 1)) / n_nodes)
    np.save(tmp_path / "x.npy", waves)
    if as_edges:
        write_edges(tmp_path / "g.parquet", n_nodes, offsets)
    found = limited(MEASURE, tmp_path / ("g.parquet" if as_edges else "g.npyd"), tmp_path / "x.npy", limit)
    frequencies = 1 - np.cos(2 * np.pi * np.outer(np.arange(1, columns + 1), offsets) / n_nodes).mean(axis=1)
    assert found["s"] == pytest.approx(frequencies.mean(), rel=1e-9)
    assert found["degrees"] == [degree, degree]
    for family, row in VARIANTS.items():
        expected = FREQUENCY[row.loops, row.norm.replace("rw", "sym")](frequencies, degree).sum() * n_nodes / 2
        expected *= {"none": degree, "unit": degree + 1, "degree": 2 * degree}[row.loops] if row.norm == "rw" else 1
        assert found[family] == pytest.approx(expected, rel=1e-9)
    alike = float(np.mean(offsets % 2 == 0))
    assert (found["node_homophily"], found["edge_homophily"]) == pytest.approx((alike, alike))
    assert found["class_homophily"] == pytest.approx(2 * max(0.0, alike - 0.5))
    c = np.load(tmp_path / "x.npy.bank.npy", mmap_mode="r")
    assert c.shape == tuple(found["shape"]) == (n_nodes, columns, 2)
    for m, tau in enumerate((1.0, 3.0)):
        gain = heat(tau).bind(2.0)(frequencies)
        np.testing.assert_allclose(c[::997, :, m], waves[::997] * gain, atol=2e-4)


def write_edges(path, n_nodes, offsets):
    """List every edge of a circulant graph once and in order, as a file that is a graph by itself."""
    schema = pa.schema({"source": pa.int64(), "target": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n_nodes, 2000):
            near = np.sort((np.arange(first, min(first + 2000, n_nodes))[:, None] + offsets) % n_nodes, axis=1)
            rows = np.arange(first, first + len(near))[:, None]
            upper = near > rows
            columns = {"source": np.broadcast_to(rows, near.shape)[upper], "target": near[upper]}
            writer.write_table(pa.table(columns, schema=schema))


def write_pairs(path, n_nodes, offsets):
    """List every edge of a circulant graph once, in no order."""
    nodes = np.arange(n_nodes, dtype=np.int64) * 7919 % n_nodes
    half = offsets[: len(offsets) // 2]
    pairs = np.stack([np.repeat(nodes, len(half)), (nodes[:, None] + half).ravel() % n_nodes], axis=1)
    if path.suffix == ".npy":
        np.save(path, pairs.astype(np.int32))
    elif path.suffix == ".parquet":
        table = pa.table({"source": pairs[:, 0], "target": pairs[:, 1]})
        pq.write_table(table, path, row_group_size=50_000)
    else:
        with open(path, "wb") as file:
            file.writelines(b"%d,%d\n" % pair for pair in map(tuple, pairs.tolist()))


@pytest.mark.parametrize(
    ("suffix", "n_nodes", "degree", "limit"),
    [(".npy", 100_000, 120, 40_000_000), (".parquet", 100_000, 120, 40_000_000), (".csv", 50_000, 40, 10_000_000)],
)
def test_conversion_of_a_list_larger_than_the_limit(tmp_path, suffix, n_nodes, degree, limit):
    offsets = write_random_folder(tmp_path / "g.npyd", n_nodes, degree)
    source = tmp_path / f"pairs{suffix}"
    write_pairs(source, n_nodes, offsets)
    assert n_nodes * degree * 4 > limit or source.stat().st_size > limit
    assert limited(CONVERT, source, tmp_path / "h.npyd", limit) == n_nodes * degree
    for name in ("indptr.npy", "indices.npy"):
        assert filecmp.cmp(tmp_path / "g.npyd" / name, tmp_path / "h.npyd" / name, shallow=False)


@pytest.mark.parametrize("columns", [1, 5])
def test_every_measure_of_a_graph_larger_than_the_limit(tmp_path, columns):
    run_limited(tmp_path, n_nodes=100_000, degree=200, limit=60_000_000, columns=columns)


def test_every_measure_of_a_file_of_edges_larger_than_the_limit(tmp_path):
    run_limited(tmp_path, n_nodes=20_000, degree=140, limit=11_000_000, columns=2, as_edges=True)


@pytest.mark.slow
def test_every_measure_of_a_gigabyte_of_edges(tmp_path):
    run_limited(tmp_path, n_nodes=1_000_000, degree=300, limit=500_000_000, columns=4)


def test_too_little_memory_is_said_before_anything_is_read(tmp_path):
    outofcore.write_folder(gf.datasets.ring(1000), tmp_path / "g.npyd")
    op = gf.operator(gf.open_graph(tmp_path / "g.npyd", memory="100kB"), "sym", channel="high")
    with pytest.raises(gf.errors.ParameterError, match="give at least 173715"):
        gf.s_value(op, np.ones(1000))


def test_a_result_that_does_not_fit_asks_for_a_file(tmp_path):
    outofcore.write_folder(gf.datasets.ring(1000), tmp_path / "g.npyd")
    op = gf.operator(gf.open_graph(tmp_path / "g.npyd", memory="300kB"), "sym")
    x = np.ones((1000, 40))
    with pytest.raises(gf.errors.ParameterError, match="out="):
        op.multiply(x)
    y = op.multiply(x, out=tmp_path / "y.npy")
    np.testing.assert_allclose(np.asarray(y), x, rtol=1e-15)
    twice = op.multiply(y, out=tmp_path / "z.npy")
    np.testing.assert_allclose(np.asarray(twice), x, rtol=1e-15)


def test_every_pass_is_shown(tmp_path):
    outofcore.write_folder(gf.datasets.ring(100), tmp_path / "g.npyd")
    shown = []

    def note(items, title, total):
        for number, item in enumerate(items, 1):
            yield item
            shown.append((title, number, total))

    graph = gf.open_graph(tmp_path / "g.npyd", memory="19kB", progress=note)
    gf.operator(graph, "rw") @ np.ones(100)
    n_blocks = len(list(graph.storage.source.blocks(graph.storage.budget, silent, "count")))
    assert shown == [("product", number, n_blocks) for number in range(1, n_blocks + 1)]
    assert len(shown) > 1
