"""Costs: every public function has a row of the growth table, costs are stated before they are paid."""

import os
from argparse import _SubParsersAction
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import gsp_fb as gf
from gsp_fb import filters, reduction
from gsp_fb._cost import EXPENSIVE, state_cost
from gsp_fb.cli import _parser
from gsp_fb.energy.significance import label_codes, label_forms
from gsp_fb.errors import FormatError, GspWarning, ParameterError
from gsp_fb.files import _edges
from gsp_fb.filters.response import MAX_ORDER, Response

RNG = np.random.default_rng(3)


def graph(n, degree=8, seed=0):
    pairs = np.random.default_rng(seed).integers(0, n, (n * degree // 2, 2))
    return gf.Graph.from_edges(pairs[pairs[:, 0] != pairs[:, 1]], n_nodes=n, duplicates="first")


def test_every_public_function_has_a_row_or_a_reason():
    calls = pytest.importorskip("benchmarks.calls", reason="benchmarks are outside the package")
    rows = {**calls.CALLS, **calls.EXCLUDED}
    public = calls.public_functions()
    missing = [name for name, module in public.items() if module not in calls.EXCLUDED_MODULES and name not in rows]
    assert not missing
    assert not set(calls.EXCLUDED) - set(public)


def test_every_command_has_a_row_or_a_reason():
    calls = pytest.importorskip("benchmarks.calls", reason="benchmarks are outside the package")
    commands = next(a for a in _parser()._actions if isinstance(a, _SubParsersAction)).choices
    assert set(commands) == set(calls.COMMANDS) | set(calls.EXCLUDED_COMMANDS)


def test_profile_of_many_columns_is_the_sum_of_profiles():
    op = gf.operator(graph(700), "sym", channel="high")
    x = RNG.standard_normal((700, 37))
    x[:, [0, 20]] = 0.0
    alone = [gf.energy_profile(op, x[:, j], bins=6, matvecs=20) for j in range(37) if x[:, j].any()]
    for signal in (x, sparse.csr_array(x)):
        found = gf.energy_profile(op, signal, bins=6, matvecs=20)
        assert found.matvecs == 35 * 20
        for name in ("energy", "lower", "upper", "moments"):
            assert_allclose(getattr(found, name), sum(getattr(p, name) for p in alone), rtol=1e-9, atol=1e-9)


def hard_graphs():
    n = 600
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    hubs = np.stack([np.zeros(200, dtype=int), np.arange(2, 202)], axis=1)
    weights = 10.0 ** np.random.default_rng(1).uniform(-3, 3, n - 1)
    return {
        "path": gf.Graph.from_edges(path),
        "hub": gf.Graph.from_edges(np.concatenate([path, hubs])),
        "weighted": gf.Graph.from_edges(path, weights),
        "star": gf.datasets.star(n),
        "random": graph(n),
    }


@pytest.mark.parametrize("name", hard_graphs())
@pytest.mark.parametrize("family", ["comb", "rw"])
@pytest.mark.parametrize("matvecs", [12, 150])
def test_bounds_hold_without_orthogonal_vectors(name, family, matvecs):
    """Oracle: dense modes; the edges lie on eigenvalues, where a rounded node may fall on either side."""
    op = gf.operator(hard_graphs()[name], family, channel="high")
    frequencies, modes = np.linalg.eigh(op.symmetrized.to_scipy().toarray())
    x = np.stack([RNG.standard_normal(600), (modes[:, 3] + modes[:, 400]) / op.scale, 1 / op.scale], axis=1)
    energy = ((modes.T @ (op.scale[:, None] * x)) ** 2).sum(axis=1)
    inner = np.unique(frequencies[[50, 200, 400, 550]].round(9))
    edges = np.unique(np.concatenate([[-1e-3], inner[(inner > 0) & (inner < op.bounds[1])], [op.bounds[1] + 1]]))
    found = gf.energy_profile(op, x, bins=edges, matvecs=matvecs)
    blur = 1e-8 * op.bounds[1]
    below = np.array([[energy[frequencies < at + side].sum() for at in edges] for side in (-blur, blur)])
    slack = 1e-9 * energy.sum()
    assert np.all(found.lower <= below[1] + slack)
    assert np.all(found.upper >= below[0] - slack)


@pytest.mark.parametrize("family", ["comb", "sym", "renorm_rw"])
def test_labels_are_counted_as_the_form_is(family):
    op = gf.operator(graph(60), family, channel="high")
    y = RNG.integers(-1, 4, 60)
    placements = [RNG.permutation(60) for _ in range(5)]
    x = gf.one_hot(y).toarray()
    want = [gf.s_value(op, x[p]) for p in placements]
    assert_allclose(label_forms(op, label_codes(x), placements), want, rtol=1e-12)


def test_labels_of_many_classes():
    op = gf.operator(graph(300), "sym", channel="high")
    x = np.eye(300)[RNG.permutation(300)]
    assert_allclose(label_forms(op, label_codes(x), [np.arange(300)]), [gf.s_value(op, x)], rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("family", ["renorm_sym", "lazy_rw"])
def test_aggregation_similarity_is_its_definition(kind, family):
    g, y = graph(80), RNG.choice([-1, 2, 5, 90_000], 80)
    x = RNG.random((80, 6)) * (RNG.random((80, 6)) < 0.4)
    H = gf.operator(g, family).to_scipy().toarray() @ x
    near, count = H @ H.T, 0
    for v in np.flatnonzero(y >= 0):
        own, others = (y == y[v]), (y >= 0) & (y != y[v])
        count += near[v, own].mean() >= near[v, others].mean()
    assert gf.aggregation_similarity(g, kind(x), y, family=family) == count / np.count_nonzero(y >= 0)


def test_bands_that_fill_in_are_dense(monkeypatch):
    monkeypatch.setattr(import_module("gsp_fb.filters.two_channel"), "FILLED_FROM", 100)
    bank = filters.two_channel(graph(90), "renorm_rw", levels=3)
    x = sparse.random_array((90, 12), density=0.05, rng=RNG, format="csr")
    bands = bank.analyze(x)
    assert not sparse.issparse(bands[0])
    assert sparse.issparse(bands[-1])
    for band, want in zip(bands, bank.analyze(x.toarray()), strict=True):
        assert_allclose(band.toarray() if sparse.issparse(band) else band, want, atol=1e-14)
    assert_allclose(sum(b.toarray() if sparse.issparse(b) else b for b in bands), x.toarray(), atol=1e-14)


def test_expensive_factors_are_refused_first(monkeypatch):
    monkeypatch.setattr("gsp_fb.solvers.factor.CHEAP_FLOPS", 1e3)
    bank = filters.two_channel(graph(60), "lazy_rw")
    with pytest.raises(ParameterError, match="expensive=True"):
        bank.sampling()
    x = RNG.standard_normal(60)
    kept = bank.sampling(expensive=True)
    assert_allclose(bank.synthesize_sampled(bank.analyze_sampled(x, kept), kept), x, atol=1e-8)


def test_directed_patterns_have_a_cost(monkeypatch):
    monkeypatch.setattr("gsp_fb.solvers.factor.CHEAP_FLOPS", 1.0)
    ring = gf.Graph.from_edges([(i, (i + 1) % 9) for i in range(9)], directed=True)
    with pytest.raises(ParameterError, match="expensive=True"):
        filters.two_channel(ring, "lazy_rw").sampling()


def test_the_margin_of_a_sampled_bound_costs_no_thousand_degrees():
    """A kernel whose tail is just within the tolerance: the margin asks for a few degrees more, not for the cap."""
    op = gf.operator(graph(600), "sym", channel="high")
    kernel = filters.as_kernel(lambda at: np.exp(-3 * at))
    response = Response(op, (kernel,), 1e-8)
    tails = response.expansion.tails[0]
    for order in range(4, 12):
        tolerance = float(tails[order]) * 1.001
        found = response.degree(tolerance)
        assert found is not None
        assert found <= order + 2 < MAX_ORDER
        assert response.expansion.error(found) <= tolerance


def test_costs_are_stated_above_a_size_only():
    with pytest.warns(GspWarning, match=r"a job takes about 5 s of one core; do less"):
        state_cost(EXPENSIVE * 1.0001, "a job", "do less")
    with pytest.warns(GspWarning, match="min of one core"):
        state_cost(EXPENSIVE * 1000, "a job", "do less")
    state_cost(EXPENSIVE, "a job", "do less")


def test_functions_state_their_cost(monkeypatch):
    monkeypatch.setattr("gsp_fb._cost.EXPENSIVE", 1.0)
    op, x = gf.operator(graph(600), "sym", channel="high"), RNG.standard_normal((600, 2))
    for call, remedy in (
        (lambda: gf.energy_profile(op, x, matvecs=4), "matvecs="),
        (lambda: gf.spectral_density(op, n_vectors=2, matvecs=4, rng=0), "n_vectors="),
        (lambda: gf.s_value_significance(op, x, n_surrogates=3, rng=0), "method='analytic'"),
        (lambda: gf.row_diff(x), "a sample"),
        (lambda: gf.FilterBank(op, filters.heat(2.0), method="chebyshev").analyze(x), "filtering 2 signals.*tol="),
        (lambda: gf.line_graph(op.graph), "a sparser graph"),
        (lambda: reduction.sparsify(gf.datasets.grid(30), 0.9, rng=0), "a part of the graph"),
    ):
        with pytest.warns(GspWarning, match=remedy):
            call()


TABLES = {
    "edges": "0,1\n1,2\n2,3\n",
    "crlf": "0,1\r\n1,2\r\n2,3\r\n",
    "weights": "0,1,0.1\n1,2,2e-3\n2,3,.5\n",
    "header": "source,target,weight\n0,1,1.5\n2,1,2.5\n",
    "swapped header": "target;source\n0;1\n2;1\n",
    "weight first": "weight,source,target\n0.5,0,1\n0.25,1,2\n",
    "more columns": "source,target,weight,year\n0,1,1.5,1999\n2,1,2.5,2001\n",
    "number as header": "0,1\n1,2\n",
    "comment": "# a comment\n0 ,1\n1,2\n",
    "names": "a,b\nb,c\nc,a\n",
    "signed": "+0,1\n1,2\n",
}


@pytest.mark.parametrize("fast", [1, 2**40])
@pytest.mark.parametrize("name", TABLES)
def test_the_pattern_reads_as_the_cells_are_read(tmp_path, monkeypatch, name, fast):
    """Oracle: the path over single cells, which the pattern never accepts more than."""
    (tmp_path / "g.csv").write_text(TABLES[name], newline="")
    monkeypatch.setattr(_edges, "FAST_FROM", fast)
    options = {"header": True} if name == "number as header" else {}
    found = gf.read_graph(tmp_path / "g.csv", **options)
    monkeypatch.setattr(_edges, "_read_numbers", lambda *args, **options: None)
    assert found == gf.read_graph(tmp_path / "g.csv", **options)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("0,1\n1,x\n", "line 2"),
        ("0,1\n1,\n", "line 2"),
        ("0,1\n1,2,3\n", "line 2"),
        ("source,target,weight\n0,1,1\n1,2,x\n", "line 3: weight 'x'"),
        ("source,target,weight\n0,1,1_0\n1,2,3\n", "line 2: weight '1_0'"),
        ("0,1\n1,0000000000000000002\n", "line 2"),
        ("0,1,abc\n1,2,3\n2,3,4\n", "line 1"),
        ("source,source\n0,1\n1,2\n", "line 1"),
    ],
)
def test_a_cell_that_is_no_number_is_named(tmp_path, text, named):
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(FormatError, match=named):
        gf.read_graph(tmp_path / "g.csv")


def test_own_files_come_back_by_the_pattern(tmp_path, monkeypatch):
    monkeypatch.setattr(_edges, "FAST_FROM", 1)
    g = gf.Graph.from_edges([(0, 1), (1, 2)], RNG.random(2) * 1e-7, n_nodes=5)
    gf.write_graph(g, tmp_path / "g.csv")
    assert gf.read_graph(tmp_path / "g.csv") == g
    text = (tmp_path / "g.csv").read_text().splitlines(keepends=True)
    (tmp_path / "g.csv").write_text("".join(text[:-1]))
    with pytest.raises(FormatError, match="1 edges found, 2 written"):
        gf.read_graph(tmp_path / "g.csv")


def test_generated_folders_are_symmetric(tmp_path):
    folders = pytest.importorskip("benchmarks.folders", reason="benchmarks are outside the package")
    n_entries = folders.write_symmetric_folder(tmp_path / "g.npyd", 12)
    g = gf.open_graph(tmp_path / "g.npyd").load()
    A = g.adjacency
    assert (g.n_nodes, len(g.indices), A.diagonal().sum()) == (4096, n_entries, 0)
    assert abs(A - A.T).max() == 0
    assert 28 < n_entries / 4096 < 32


def test_reading_ahead_is_left_out_where_the_system_has_no_call_for_it(tmp_path, monkeypatch):
    gf.outofcore.write_folder(g := graph(500), tmp_path / "g.npyd")
    x = RNG.standard_normal(500)
    want = gf.operator(g, "sym") @ x
    assert_allclose(gf.operator(gf.open_graph(tmp_path / "g.npyd", memory=120_000), "sym") @ x, want, atol=1e-13)
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    assert_allclose(gf.operator(gf.open_graph(tmp_path / "g.npyd", memory=120_000), "sym") @ x, want, atol=1e-13)
