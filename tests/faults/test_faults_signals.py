"""Rows 40-64 and 105-106 of the catalogue: signals, parameters, spectra, and what an absent library does."""

import importlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import ConvergenceError, GspWarning, ParameterError, SignalError
from gsp_fb.variants import VARIANTS

PATH = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3)])
HIGH = gf.operator(PATH, "sym", channel="high")


def test_fault_040_wrong_length():
    with pytest.raises(SignalError, match="signal has 5 rows but the graph has 4 nodes"):
        HIGH @ np.zeros(5)


def test_fault_041_transposed():
    with pytest.raises(SignalError, match=r"2 rows .* 4 nodes \(transposed\?\)"):
        HIGH @ np.zeros((2, 4))
    square = np.arange(16.0).reshape(4, 4)
    assert np.allclose(HIGH @ square, HIGH.to_scipy() @ square, atol=1e-13)


@pytest.mark.parametrize("bad", [3.0, np.zeros((4, 2, 2)), [[1.0], [1.0, 2.0], [3.0], [4.0]]])
def test_fault_042_wrong_number_of_axes(bad):
    with pytest.raises(SignalError):
        HIGH @ bad
    with pytest.raises(SignalError):
        gf.s_value(HIGH, bad)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_fault_043_not_finite(value):
    x = np.ones((4, 2))
    x[2, 1] = value
    with pytest.raises(SignalError, match=rf"signal is {value} at index \(2, 1\)"):
        HIGH @ x
    with pytest.raises(SignalError, match="in row 2"):
        HIGH @ sparse.csr_array(x)


def test_fault_044_zero_signal():
    with pytest.raises(SignalError, match="zero everywhere"):
        gf.s_value(HIGH, np.zeros(4))
    with pytest.warns(GspWarning, match="column 1 is zero"):
        values = gf.s_value(HIGH, [[1.0, 0], [0, 0], [0, 0], [0, 0]], per_column=True)
    assert np.isnan(values[1])
    assert values[0] == pytest.approx(1.0)


@pytest.mark.parametrize("x", [[1, 0, 0, 1], [True, False, False, True]])
def test_fault_045_integers_and_bools(x):
    assert (HIGH @ x).dtype == np.float64
    assert gf.s_value(HIGH, x) == gf.s_value(HIGH, np.asarray(x, dtype=float))
    assert gf.s_value(HIGH, gf.one_hot([0, 0, 0, 0])) >= 0


def test_fault_046_complex_signal():
    edge = gf.operator(gf.Graph.from_edges([(0, 1)]), "sym", channel="high")
    assert gf.signal_energy([1j, 1.0]) == 2.0
    assert gf.s_value(edge, [1j, 1.0]) == pytest.approx(1.0)


def test_fault_047_float32():
    x = np.full(4, 1.0, dtype=np.float32)
    assert (HIGH @ x).dtype == np.float32
    ones = np.ones(2**24 + 8, dtype=np.float32)
    assert gf.signal_energy(ones) == 2.0**24 + 8


def test_fault_048_layouts():
    x = np.arange(24.0).reshape(4, 6)
    frozen = x.copy()
    frozen.setflags(write=False)
    wanted = HIGH.to_scipy() @ x
    for variant in (np.asfortranarray(x), frozen, np.repeat(x, 2, axis=1)[:, ::2]):
        assert np.allclose(HIGH @ variant, wanted, atol=1e-13)
    assert (HIGH @ np.zeros((4, 0))).shape == (4, 0)


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_049_sparse_signal_is_never_densified(family, monkeypatch):
    x = sparse.random_array((4, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    op = gf.operator(PATH, family, channel="high")
    wanted, energy = op.to_scipy() @ x.toarray(), gf.dirichlet_energy(op, x.toarray())
    for name in ("toarray", "todense", "__array__"):
        monkeypatch.setattr(sparse.csr_array, name, lambda *a, **k: pytest.fail("densified"), raising=False)
    y = op @ x
    measured = gf.dirichlet_energy(op, x)
    monkeypatch.undo()
    assert sparse.issparse(y)
    assert np.allclose(y.toarray(), wanted, atol=1e-12)
    assert measured == pytest.approx(energy)


def test_fault_050_frames_and_tensors():
    x = np.arange(4.0)
    wanted = HIGH @ x
    assert np.array_equal(HIGH @ pd.Series(x), wanted)
    assert np.array_equal((HIGH @ pd.DataFrame({"a": x}))[:, 0], wanted)
    assert np.array_equal(HIGH @ torch.tensor(x, requires_grad=True), wanted)
    with pytest.raises(SignalError, match=r"meta.*\.cpu\(\)"):
        HIGH @ torch.zeros(4, device="meta")


def test_fault_051_huge_signal():
    x = np.array([1.0, -2.0, 3.0, 0.5])
    assert gf.s_value(HIGH, 1e200 * x) == pytest.approx(gf.s_value(HIGH, x))
    assert gf.s_value(HIGH, 1e-200 * x) == pytest.approx(gf.s_value(HIGH, x))
    for energy in (gf.signal_energy, lambda x: gf.dirichlet_energy(HIGH, x)):
        with pytest.raises(SignalError, match="overflows"):
            energy(1e200 * x)


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "1", np.array([1.0]), True])
def test_fault_052_bad_gamma(gamma):
    with pytest.raises(ParameterError, match="gamma"):
        gf.operator(PATH, "renorm_sym", gamma=gamma)


@pytest.mark.parametrize("gamma", [1e-300, 1e300])
@pytest.mark.parametrize("family", [name for name, row in VARIANTS.items() if row.has_gamma])
def test_fault_053_extreme_gamma(family, gamma):
    low, high = (gf.operator(PATH, family, channel=channel, gamma=gamma) for channel in ("low", "high"))
    x = np.array([1.0, -2.0, 3.0, 0.5])
    assert np.isfinite(low.to_scipy().toarray()).all()
    assert np.allclose(low @ x + high @ x, x)
    limit = x if gamma > 1 else gf.operator(PATH, family.partition("_")[2]) @ x
    assert np.allclose(low @ x, limit)
    modes = gf.spectrum(high)
    assert np.allclose(modes.igft(modes.gft(x)), x)


@pytest.mark.parametrize("family", [name for name, row in VARIANTS.items() if not row.has_gamma])
def test_fault_054_gamma_where_there_is_none(family):
    with pytest.raises(ParameterError, match=f"'{family}' has no gamma.*renorm_sym"):
        gf.operator(PATH, family, gamma=1.0)


def test_fault_055_unknown_names():
    with pytest.raises(ParameterError, match=r"unknown family 'renorm'; choose one of comb, .*did you mean 'renorm_"):
        gf.operator(PATH, "renorm")
    with pytest.raises(ParameterError, match=r"unknown channel 'hihg'.*did you mean 'high'"):
        gf.operator(PATH, "sym", channel="hihg")
    with pytest.raises(ParameterError, match="choose one of"):
        gf.datasets.load("texsa")


def test_fault_056_graph_hash_tells_graphs_of_equal_size_apart():
    other = gf.Graph.from_edges([(0, 1), (1, 2), (1, 3)])
    assert other.n_nodes == PATH.n_nodes
    assert other.sha256 != PATH.sha256
    assert gf.Graph.from_edges([(2, 3), (1, 0), (1, 2)]).sha256 == PATH.sha256


@pytest.mark.parametrize("k", [0, -1, 5, 1.0, True])
def test_fault_057_bad_number_of_modes(k):
    with pytest.raises(ParameterError):
        gf.spectrum(HIGH, k=k)
    assert len(gf.spectrum(HIGH, k=4)) == 4


def test_fault_058_no_convergence(monkeypatch):
    from gsp_fb import _eigen, _search

    monkeypatch.setattr(_search, "PHASES", 1)
    monkeypatch.setattr("gsp_fb._search.DENSE_FALLBACK", 0)
    monkeypatch.setattr(_eigen, "factorization_cost", lambda matrix: _eigen.FactorizationCost(1e12, 1e18))
    ring = gf.Graph.from_edges([(i, (i + 1) % 3000) for i in range(3000)])
    op = gf.operator(ring, "sym", channel="high")
    with pytest.raises(ConvergenceError, match=r"resolved \d+ of 6 eigenpairs") as stuck:
        gf.spectrum(op, k=6, which="high")
    assert stuck.value.eigenvalues is not None


def test_fault_059_nothing_reaches_arpack_that_is_not_finite(capfd):
    with pytest.raises(SignalError):
        gf.s_value(HIGH, [np.nan, 1, 2, 3])
    with pytest.raises(gf.errors.GraphError):
        gf.Graph.from_adjacency([[0, np.nan], [np.nan, 0]])
    assert capfd.readouterr().err == ""


def test_fault_060_repeated_eigenvalues():
    ring = gf.Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    first, second = (gf.spectrum(gf.operator(ring, "sym", channel="high")) for _ in range(2))
    pair = first.symmetrized_basis[:, 1:3] @ first.symmetrized_basis[:, 1:3].T
    angles = 2 * np.pi * np.arange(8) / 8
    assert np.allclose(pair, np.cos(angles[:, None] - angles) / 4)
    assert np.array_equal(first.symmetrized_basis, second.symmetrized_basis)
    size = np.abs(first.symmetrized_basis)
    lead = np.isclose(size, size.max(axis=0)).argmax(axis=0)
    assert (first.symmetrized_basis[lead, np.arange(8)] > 0).all()


def test_fault_061_frequencies_stay_in_their_bounds():
    rng = np.random.default_rng(0)
    for _ in range(20):
        graph = gf.Graph.from_edges(rng.integers(0, 30, (60, 2)), n_nodes=30, duplicates="first")
        for family in VARIANTS:
            op = gf.operator(graph, family, channel="high")
            frequencies = gf.spectrum(op).frequencies
            assert frequencies.min() >= op.bounds[0]
            assert frequencies.max() <= op.bounds[1]


def test_fault_062_two_calls_are_bit_equal():
    graph = gf.datasets.grid(30, 31)
    op = gf.operator(graph, "rw", channel="high")
    first, second = (gf.spectrum(op, k=5) for _ in range(2))
    assert first.method != "dense"
    assert np.array_equal(first.frequencies, second.frequencies)
    assert np.array_equal(first.basis, second.basis)


def test_fault_063_memory_guard():
    ring = gf.Graph.from_edges(np.stack([np.arange(50_000), (np.arange(50_000) + 1) % 50_000], axis=1))
    with pytest.raises(ParameterError, match=r"60\.0 GB.*polynomial filters"):
        gf.spectrum(gf.operator(ring, "sym"))


@pytest.mark.parametrize("family", [name for name, row in VARIANTS.items() if row.norm == "rw"])
def test_fault_064_only_the_symmetric_core_is_decomposed(family, monkeypatch):
    seen = []
    spectrum_module = importlib.import_module("gsp_fb.spectrum")
    real = spectrum_module.dense_pairs
    monkeypatch.setattr(spectrum_module, "dense_pairs", lambda core: seen.append(core) or real(core))
    op = gf.operator(PATH, family, channel="high")
    modes = gf.spectrum(op)
    assert all(np.allclose(core.to_scipy().toarray(), core.to_scipy().toarray().T) for core in seen)
    assert np.allclose(op.to_scipy() @ modes.basis, modes.basis * modes.frequencies)


BLOCK = """
import sys
sys.modules["{module}"] = None
import importlib.util
real = importlib.util.find_spec
import gsp_fb._extras as extras
extras.find_spec = lambda name: None if name == "{module}" else real(name)
import gsp_fb as gf
graph = gf.Graph.from_edges([(0, 1), (1, 2)])
assert gf.s_value(gf.operator(graph, "sym", channel="high"), [1.0, 0.0, 2.0]) > 0
try:
    {use}
except ImportError as absent:
    print(absent)
"""


@pytest.mark.parametrize(
    ("module", "use", "line"),
    [
        ("networkx", "gf.to_networkx(graph)", "pip install 'gsp-fb[graphs]'"),
        ("pandas", "gf.to_pandas(graph)", "pip install 'gsp-fb[graphs]'"),
        (
            "matplotlib",
            "gf.FilterBank(gf.operator(graph, 'sym', 'high'), [gf.filters.heat(1.0)]).plot()",
            "pip install 'gsp-fb[plot]'",
        ),
        ("torch", "import gsp_fb.nn", "pip install 'gsp-fb[nn]'"),
    ],
)
def test_fault_105_missing_extra(module, use, line):
    code = BLOCK.format(module=module, use=use)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert line in run.stdout


ASYMMETRIC = """
import gsp_fb as gf
try:
    gf.Graph.from_adjacency([[0, 1], [2, 0]])
except gf.errors.GraphError as refused:
    print(refused)
"""


def test_fault_106_optimised_python_validates_the_same():
    code = ASYMMETRIC
    runs = [
        subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True)
        for flags in ([], ["-O"])
    ]
    assert runs[0].stdout == runs[1].stdout != ""
