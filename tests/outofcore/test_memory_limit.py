"""The limit is kept where the operating system enforces it: a process that may not map more than imports and limit."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import outofcore
from gsp_fb.filters import heat

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_AS and /proc are Linux's")

# The baseline is taken after a small run of everything: by then all libraries are loaded and all loops compiled.
LIMITED = """
import json, resource, sys, tempfile
import numpy as np
import gsp_fb as gf
from gsp_fb import outofcore
from gsp_fb.filters import heat

def measured(path, limit, x, out):
    graph = outofcore.open_graph(path, memory_limit=limit)
    op = gf.operator(graph, "sym", channel="high")
    bank = gf.FilterBank(op, [heat(1.0), heat(3.0)], tol=1e-4)
    return outofcore.s_value(op, x), outofcore.analyze(bank, x, out=out).shape

path, x, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tempfile.TemporaryDirectory() as folder:
    outofcore.write_folder(gf.datasets.ring(200_000), f"{folder}/ring.npyd")
    np.save(f"{folder}/x.npy", np.ones((200_000, 3)))
    for width in (1, 3):
        measured(f"{folder}/ring.npyd", "300MB", np.ones((200_000, width)), f"{folder}/c.npy")
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + limit
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    bytearray(limit + 2**20)
except MemoryError:
    pass
else:
    sys.exit("the limit is not enforced")
s, shape = measured(path, limit, x, x + ".bank.npy")
print(json.dumps({"s": s, "shape": shape}))
"""


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


def run_limited(tmp_path, n_nodes, degree, limit, columns):
    offsets = write_random_folder(tmp_path / "g.npyd", n_nodes, degree)
    stored = (tmp_path / "g.npyd" / "indices.npy").stat().st_size
    assert stored > limit
    # A wave is an eigenvector of a circulant graph: its S-value and its filtered form are known without the graph.
    waves = np.cos(2 * np.pi * np.outer(np.arange(n_nodes), np.arange(1, columns + 1)) / n_nodes)
    np.save(tmp_path / "x.npy", waves)
    command = [sys.executable, "-c", LIMITED, tmp_path / "g.npyd", tmp_path / "x.npy", limit]
    # What the small run has freed goes back to the system, and no thread reserves addresses for itself.
    malloc = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    environment = {**os.environ, **malloc, "OMP_NUM_THREADS": "1", "GSP_FB_THREADS": "1"}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    frequencies = 1 - np.cos(2 * np.pi * np.outer(np.arange(1, columns + 1), offsets) / n_nodes).mean(axis=1)
    assert found["s"] == pytest.approx(frequencies.mean(), rel=1e-9)
    c = np.load(tmp_path / "x.npy.bank.npy", mmap_mode="r")
    assert c.shape == tuple(found["shape"]) == (n_nodes, columns, 2)
    for m, tau in enumerate((1.0, 3.0)):
        gain = heat(tau).bind(2.0)(frequencies)
        np.testing.assert_allclose(c[::997, :, m], waves[::997] * gain, atol=2e-4)


@pytest.mark.parametrize("columns", [1, 5])
def test_s_value_and_bank_of_a_graph_larger_than_the_limit(tmp_path, columns):
    run_limited(tmp_path, n_nodes=100_000, degree=200, limit=60_000_000, columns=columns)


@pytest.mark.slow
def test_s_value_and_bank_of_a_gigabyte_of_edges(tmp_path):
    run_limited(tmp_path, n_nodes=1_000_000, degree=300, limit=500_000_000, columns=4)


def test_too_little_memory_is_said_before_anything_is_read(tmp_path):
    outofcore.write_folder(gf.datasets.ring(1000), tmp_path / "g.npyd")
    op = gf.operator(outofcore.open_graph(tmp_path / "g.npyd", memory_limit="100kB"), "sym", channel="high")
    with pytest.raises(gf.errors.ParameterError, match="give at least 173715"):
        outofcore.s_value(op, np.ones(1000))


def test_a_result_that_does_not_fit_asks_for_a_file(tmp_path):
    outofcore.write_folder(gf.datasets.ring(1000), tmp_path / "g.npyd")
    op = gf.operator(outofcore.open_graph(tmp_path / "g.npyd", memory_limit="300kB"), "sym")
    x = np.ones((1000, 40))
    with pytest.raises(gf.errors.ParameterError, match="out="):
        outofcore.multiply(op, x)
    y = outofcore.multiply(op, x, out=tmp_path / "y.npy")
    np.testing.assert_allclose(np.asarray(y), x, rtol=1e-15)
    twice = outofcore.multiply(op, y, out=tmp_path / "z.npy")
    np.testing.assert_allclose(np.asarray(twice), x, rtol=1e-15)


def test_every_pass_is_shown(tmp_path):
    outofcore.write_folder(gf.datasets.ring(100), tmp_path / "g.npyd")
    shown = []

    def note(items, title, total):
        for number, item in enumerate(items, 1):
            yield item
            shown.append((title, number, total))

    graph = outofcore.open_graph(tmp_path / "g.npyd", memory_limit="9kB", progress=note)
    gf.operator(graph, "rw") @ np.ones(100)
    assert shown == [("product", number, len(graph.spans())) for number in range(1, len(graph.spans()) + 1)]
    assert len(shown) > 1
