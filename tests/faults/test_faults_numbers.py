"""Rows 109 to 116, 141 and 142 of the catalogue of faults: spectra, solvers, kernels, energies, interruption, ranks."""

import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import ConvergenceError, GspWarning, ParameterError
from gsp_fb.filters import FilterBank, Kernel, tikhonov

ROOT = Path(__file__).parents[2]
REPEATED = {
    "torus": lambda: nx.grid_graph([24, 24], periodic=True),
    "hypercube": lambda: nx.hypercube_graph(10),
    "tree": lambda: nx.balanced_tree(2, 9),
    "disjoint copies": lambda: nx.disjoint_union_all([nx.karate_club_graph()] * 20),
}


def wheel(n_nodes):
    rim = np.arange(1, n_nodes)
    spokes = np.stack([np.zeros_like(rim), rim], axis=1)
    return gf.Graph.from_edges(np.concatenate([spokes, np.stack([rim, rim % (n_nodes - 1) + 1], axis=1)]))


@pytest.mark.parametrize("certify", [None, False])
@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("name", REPEATED)
def test_fault_109_repeated_eigenvalues(name, which, certify):
    op = gf.operator(gf.from_networkx(REPEATED[name]()), "sym", channel="high")
    values = np.linalg.eigvalsh(op.to_scipy().toarray())
    for k in (5, 13):
        modes = gf.spectrum(op, k, which, certify=certify)
        np.testing.assert_allclose(modes.frequencies, values[:k] if which == "low" else values[-k:], rtol=0, atol=1e-9)
        assert modes.proof in ({"inertia", "dense"} if certify is None else {"inertia", "dense", "residual"})


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (lambda: wheel(6000), lambda f: ((f > 2.5) & (f < 3.5)).astype(float)),
        (lambda: gf.datasets.ring(6000), lambda f: np.exp(-(((f - 2 + 2 * np.cos(np.pi / 3)) / 1e-5) ** 2))),
    ],
)
@pytest.mark.filterwarnings("ignore::gsp_fb.errors.GspWarning")
def test_fault_110_kernel_that_samples_miss(make, kernel):
    op = gf.operator(make(), "comb", channel="high")
    x = np.random.default_rng(0).standard_normal(op.graph.n_nodes)
    bank = FilterBank(op, Kernel(kernel, "narrow"))
    plan = bank.plan(x)
    error = bank.error(x, bank.analyze(x)).error
    announced = plan.bound_kind == "sampled" and plan.error_bound > 0
    assert announced or error <= 1e-6


def test_fault_111_bank_on_a_low_channel():
    low = gf.operator(gf.datasets.ring(8), "sym")
    with pytest.raises(ParameterError, match=r"complement\(\)"):
        FilterBank(low, gf.filters.heat(5.0))


@pytest.mark.parametrize("family", ["rw", "renorm_rw", "lazy_rw"])
def test_fault_112_s_of_a_random_walk_on_a_star(family):
    op = gf.operator(gf.datasets.star(20), family, channel="high")
    x = np.random.default_rng(0).standard_normal(20)
    profile = gf.energy_profile(op, x)
    s = gf.s_value(op, x)
    assert op.bounds[0] <= s <= op.bounds[1]
    assert s == pytest.approx(profile.moments[1] / profile.moments[0], rel=1e-12)


@pytest.mark.parametrize("weight", [1e-13, 1e-100, 1e100])
def test_fault_113_significance_does_not_depend_on_the_unit_of_the_weights(weight):
    edges = np.stack([np.arange(40), (np.arange(40) + 1) % 40], axis=1)
    x = np.random.default_rng(0).standard_normal((40, 3)).cumsum(axis=0)
    found = [
        gf.s_value_significance(
            gf.operator(gf.Graph.from_edges(edges, np.full(40, w)), "comb", channel="high"), x, per_column=True, rng=0
        )
        for w in (1.0, weight)
    ]
    np.testing.assert_array_equal(found[0].p_smooth, found[1].p_smooth)
    np.testing.assert_array_equal(found[0].p_rough, found[1].p_rough)


def test_fault_114_weights_of_six_decades():
    grid = gf.datasets.grid(60, 60)
    source, target, _ = grid.edges()
    weights = 10.0 ** np.random.default_rng(3).uniform(-3, 3, len(source))
    graph = gf.Graph.from_edges(np.stack([source, target], axis=1), weights=weights)
    begin = time.process_time()
    assert gf.eigengap(gf.operator(graph, "sym")).proof == "inertia"
    op = gf.operator(graph, "comb", channel="high")
    x = np.random.default_rng(0).standard_normal(graph.n_nodes)
    f = tikhonov(op, x, 1e3, tol=1e-8)
    assert np.linalg.norm(f + 1e3 * (op @ f) - x) <= 1e-8 * np.linalg.norm(x)
    assert time.process_time() - begin < 30


@pytest.mark.parametrize("family", ["comb", "sym", "renorm_rw"])
@pytest.mark.parametrize("which", ["low", "high"])
def test_fault_115_edgeless_graph(family, which):
    op = gf.operator(gf.Graph.from_edges([], n_nodes=2000), family, channel="high")
    modes = gf.spectrum(op, 7, which)
    np.testing.assert_array_equal(modes.frequencies, np.zeros(7))
    np.testing.assert_allclose(modes.symmetrized_basis.T @ modes.symmetrized_basis, np.eye(7), atol=1e-12)


def test_fault_116_modes_of_many_components():
    pairs = np.arange(200_000).reshape(-1, 2)
    op = gf.operator(gf.Graph.from_edges(pairs), "sym", channel="high")
    with pytest.raises(ParameterError, match=r"need about 3\.2 GB \(max_bytes=1\.0 GB\)"):
        gf.spectrum(op, 1000, max_bytes=10**9)
    tracemalloc.start()
    modes = gf.spectrum(op, 20, max_bytes=10**9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**9
    np.testing.assert_array_equal(modes.frequencies, np.zeros(20))
    assert modes.proof == "inertia"


def test_fault_141_a_warning_before_what_cannot_be_interrupted(monkeypatch):
    monkeypatch.setattr(sys.modules["gsp_fb.spectrum"], "UNINTERRUPTED_NODES", 20)
    with pytest.warns(GspWarning, match="does not react to Ctrl-C"):
        gf.spectrum(gf.operator(gf.datasets.ring(30), "sym", channel="high"))
    monkeypatch.setattr("gsp_fb.solvers.factor.CHEAP_FLOPS", 1.0)
    with pytest.warns(GspWarning, match="does not react to Ctrl-C; certify=None"):
        gf.spectrum(gf.operator(gf.datasets.grid(30, 30), "sym", channel="high"), 3, certify=True)


def test_fault_141_a_count_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr("gsp_fb._eigen.CERTIFIED_FLOPS", 1.0)
    monkeypatch.setattr("gsp_fb._search.DENSE_FALLBACK", 0)
    with pytest.raises(ConvergenceError, match="counting the eigenvalues needs a factorisation"):
        gf.spectrum(gf.operator(gf.datasets.grid(30, 30), "sym", channel="high"), 3, certify=True)


@pytest.mark.skipif(sys.platform != "linux", reason="Debian's packages")
def test_fault_142_a_machine_with_nothing_installed(tmp_path):
    """A stand-in for apt-get records what the script installs."""
    for name, body in {"apt-get": f'echo "$@" >> {tmp_path}/log', "id": "echo 0", "mpirun": "exit 9"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    clean = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "MPI_PYTHON"}}
    nothing = {**clean, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PETSC_DIR": str(tmp_path)}
    if subprocess.run(["/usr/bin/env", "python3", "-c", "import petsc4py"], env=nothing, check=False).returncode == 0:
        pytest.skip("petsc4py is installed here without a build to choose")
    done = subprocess.run([ROOT / "tests/mpi/run.sh"], env=nothing, capture_output=True, check=False)
    assert done.returncode != 0
    asked = (tmp_path / "log").read_text()
    for package in ("python3-petsc4py-real", "python3-petsc4py-64-real", "python3-mpi4py", "openmpi-bin"):
        assert package in asked
