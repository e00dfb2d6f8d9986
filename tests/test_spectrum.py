"""Transforms and partial spectra, against closed forms and dense decompositions."""

import importlib

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import _eigen, _search, operators
from gsp_fb.errors import ConvergenceError, GspWarning, ParameterError, SignalError
from gsp_fb.solvers import Factorization
from gsp_fb.variants import VARIANTS
from tests.support.real_data import DATA, needs_data


def ring_frequencies(n):
    return np.sort(1 - np.cos(2 * np.pi * np.arange(n) / n))


def grid_frequencies(n, m):
    row, col = (2 - 2 * np.cos(np.pi * np.arange(k) / k) for k in (n, m))
    return np.sort((row[:, None] + col).ravel())


@pytest.fixture
def products(monkeypatch):
    """Count the sparse products of every operator, by columns."""
    count = [0]
    real = operators.affine_product

    def counted(graph, x, *args):
        count[0] += 1 if x.ndim == 1 else x.shape[1]
        return real(graph, x, *args)

    monkeypatch.setattr(operators, "affine_product", counted)
    return count


def community(n_nodes, n_blocks, n_edges, seed=0):
    """Return a graph of equal blocks, three edges in five inside them, in shuffled order."""
    rng = np.random.default_rng(seed)
    tail = rng.integers(0, n_nodes, n_edges)
    block = n_nodes // n_blocks
    inside = tail // block * block + rng.integers(0, block, n_edges)
    head = np.where(rng.random(n_edges) < 0.6, inside, rng.integers(0, n_nodes, n_edges))
    order = rng.permutation(n_nodes)
    pairs = order[np.stack([tail, head], axis=1)]
    return gf.Graph.from_edges(pairs, n_nodes=n_nodes, duplicates="first", loops="drop")


def test_ring_and_grid_have_their_closed_form_spectra():
    ring = gf.spectrum(gf.operator(gf.datasets.ring(12), "sym", channel="high"))
    assert np.allclose(ring.frequencies, ring_frequencies(12), atol=1e-13)
    grid = gf.spectrum(gf.operator(gf.datasets.grid(5, 7), "comb", channel="high"))
    assert np.allclose(grid.frequencies, grid_frequencies(5, 7), atol=1e-12)


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("channel", ["low", "high"])
@pytest.mark.parametrize("which", ["low", "high"])
def test_partial_spectrum_is_the_end_of_the_full_one(family, channel, which):
    graph = community(700, 4, 4000)
    op = gf.operator(graph, family, channel=channel)
    whole = np.linalg.eigvalsh(op.symmetrized.to_scipy().toarray())
    part = gf.spectrum(op, k=5, which=which)
    assert part.proof == ("inertia" if op.graph.device == "cpu" else "residual")
    first = (which == "low") == (channel == "high")
    assert np.allclose(part.frequencies, whole[:5] if first else whole[-5:], atol=1e-9 * np.abs(whole).max())
    residual = op.to_scipy() @ part.basis - part.basis * part.frequencies
    assert np.abs(residual).max() <= 1e-7 * np.abs(whole).max()
    assert np.allclose(part.symmetrized_basis.T @ part.symmetrized_basis, np.eye(5), atol=1e-8)


@pytest.mark.parametrize("family", ["comb", "sym", "rw"])
def test_components_give_the_null_vectors_without_a_solver(family):
    pieces = [np.array([[i, i + 1] for i in range(at, at + 299)]) for at in (0, 300, 600)]
    graph = gf.Graph.from_edges(np.concatenate(pieces), n_nodes=902)
    op = gf.operator(graph, family, channel="high")
    modes = gf.spectrum(op, k=4)
    assert modes.method == "components"
    assert modes.frequencies.tolist() == [0.0] * 4
    assert np.abs(op @ modes.basis).max() < 1e-14
    more = gf.spectrum(op, k=6)
    assert more.frequencies[:5].tolist() == [0.0] * 5
    assert more.frequencies[5] > 1e-6


def test_isolated_nodes_under_the_zero_policy_are_no_null_vectors():
    graph = gf.Graph.from_edges([(i, i + 1) for i in range(599)], n_nodes=640)
    op = gf.operator(graph, "sym", channel="high", isolated="zero")
    modes = gf.spectrum(op, k=3)
    whole = np.linalg.eigvalsh(op.to_scipy().toarray())
    assert np.allclose(modes.frequencies, whole[:3], atol=1e-9)


def test_grid_with_a_tiny_gap_is_resolved_where_plain_lanczos_gives_up():
    op = gf.operator(gf.datasets.grid(100, 100), "comb", channel="high")
    gap = gf.eigengap(op)
    true = 1 - (2 - 2 * np.cos(np.pi / 100))
    assert (gap.method, gap.proof) == ("shift-invert", "inertia")
    assert abs(gap.ratio - true) <= gap.error < 1e-9


@pytest.mark.slow
def test_grid_of_316_by_316():
    gap = gf.eigengap(gf.operator(gf.datasets.grid(316, 316), "comb"))
    assert gap.proof == "inertia"
    assert abs(gap.ratio - (1 - (2 - 2 * np.cos(np.pi / 316)))) <= gap.error < 1e-9


def test_a_healthy_gap_takes_at_most_250_products(products):
    graph = community(100_000, 2, 1_000_000)
    gap = gf.eigengap(gf.operator(graph, "sym"))
    assert products[0] <= 250
    assert gap.error < 1e-7
    assert (gap.method, gap.proof) == ("lanczos", "residual")
    assert gap.ratio == pytest.approx(0.6, abs=0.1)


@pytest.mark.parametrize("family", VARIANTS)
def test_eigengap_error_holds(family):
    graph = community(900, 3, 6000, seed=1)
    gap = gf.eigengap(gf.operator(graph, family))
    dense = np.linalg.eigvalsh(gf.operator(graph, family).symmetrized.to_scipy().toarray())
    assert abs(gap.ratio - dense[-2] / dense[-1]) <= gap.error < 1e-7
    assert gap.resolved
    assert gap.proof == "inertia"


@pytest.mark.parametrize("family", VARIANTS)
def test_a_factorisation_counts_the_eigenvalues_below_its_shift(family):
    matrix = gf.operator(community(900, 3, 6000, seed=1), family, channel="high").symmetrized.to_scipy()
    frequencies = np.linalg.eigvalsh(matrix.toarray())
    for below in (1, 2, 40, 899):
        factors = Factorization(matrix, (frequencies[below - 1] + frequencies[below]) / 2)
        assert factors.n_negative == below
        assert factors.rounding < 1e-6 * frequencies[-1]


def test_a_count_finds_what_a_search_missed(monkeypatch):
    """A search that skips the first pair, as a single-vector method skips copies, is sent back for it."""
    honest = _search.inverse_search
    monkeypatch.setattr(_eigen, "inverse_search", lambda *args, **kwargs: _without_first(honest, args))
    op = gf.operator(community(900, 3, 6000, seed=1), "sym", channel="high")
    modes = gf.spectrum(op, k=6)
    assert modes.proof == "inertia"
    assert np.allclose(modes.frequencies, np.linalg.eigvalsh(op.to_scipy().toarray())[:6], atol=1e-10)


def _without_first(search, args):
    problem, k, tol, known, block = args
    if known is not None:
        return search(problem, k, tol, known, block)
    found = search(problem, k + 1, tol, known, block)
    return _search.Found(found.values[1:], found.rows[1:], found.residuals[1:], found.method)


@pytest.mark.parametrize("which", ["low", "high"])
def test_a_second_search_finds_what_the_first_missed_without_a_count(monkeypatch, which):
    honest = _search.polynomial_search

    def incomplete(problem, k, tol, known=None, block=4, *, beyond=None):
        found = honest(problem, k + (known is None), tol, known, block, beyond=beyond)
        if known is not None:
            return found
        return _search.Found(found.values[1:], found.rows[1:], found.residuals[1:], found.method)

    monkeypatch.setattr(_eigen, "polynomial_search", incomplete)
    monkeypatch.setattr(_eigen, "inverse_search", incomplete)
    op = gf.operator(community(900, 3, 6000, seed=1), "sym", channel="high")
    modes = gf.spectrum(op, k=6, which=which, certify=False)
    assert modes.proof == "residual"
    every = np.linalg.eigvalsh(op.to_scipy().toarray())
    assert np.allclose(modes.frequencies, every[:6] if which == "low" else every[-6:], atol=1e-9)


def test_certify_names_the_size_of_a_factorisation_that_is_too_large():
    op = gf.operator(community(900, 3, 6000), "sym", channel="high")
    with pytest.raises(ConvergenceError, match=r"factorisation of about .* entries.*GB.*certify=None.*max_bytes"):
        gf.spectrum(op, k=10, certify=True, max_bytes=1_000_000)
    assert gf.spectrum(op, k=10, max_bytes=4_000_000, certify=False).proof == "residual"


def test_a_search_that_does_not_converge_says_what_to_do(monkeypatch):
    monkeypatch.setattr(_search, "PHASES", 1)
    monkeypatch.setattr("gsp_fb._search.DENSE_FALLBACK", 0)
    op = gf.operator(gf.datasets.grid(40, 40), "sym", channel="high")
    monkeypatch.setattr(_eigen, "factorization_cost", lambda matrix: _eigen.FactorizationCost(1e12, 1e18))
    with pytest.raises(ConvergenceError, match=r"lambda_2 not resolved: .*raise tol=.*polynomial filters"):
        gf.eigengap(op)


@pytest.mark.parametrize("which", ["low", "high"])
def test_many_pairs_of_a_graph_with_many_edges_are_dense(which):
    """Complete multipartite: n - n_i with multiplicity n_i - 1, and n twice."""
    group = np.repeat([0, 1, 2], [100, 200, 300])
    graph = gf.Graph.from_adjacency((group[:, None] != group).astype(float))
    expected = np.sort(np.concatenate([[0, 600, 600], *([600 - m] * (m - 1) for m in (100, 200, 300))]))
    modes = gf.spectrum(gf.operator(graph, "comb", channel="high"), 41, which)
    assert modes.proof == "dense"
    assert np.allclose(modes.frequencies, expected[:41] if which == "low" else expected[-41:], atol=1e-9)


def test_a_search_ends_where_all_pairs_are_cheaper(monkeypatch):
    monkeypatch.setattr(_search, "DENSE_ENTRIES", 1e-6)
    monkeypatch.setattr(_eigen, "factorization_cost", lambda matrix: _eigen.FactorizationCost(1e12, 1e18))
    modes = gf.spectrum(gf.operator(gf.datasets.grid(40, 40), "comb", channel="high"), k=4)
    assert modes.proof == "dense"
    assert np.allclose(modes.frequencies, grid_frequencies(40, 40)[:4], atol=1e-12)


def test_a_small_graph_falls_back_to_all_pairs(monkeypatch):
    monkeypatch.setattr(_search, "PHASES", 1)
    monkeypatch.setattr(_eigen, "factorization_cost", lambda matrix: _eigen.FactorizationCost(1e12, 1e18))
    modes = gf.spectrum(gf.operator(gf.datasets.grid(40, 40), "comb", channel="high"), k=4)
    assert modes.proof == "dense"
    assert np.allclose(modes.frequencies, grid_frequencies(40, 40)[:4], atol=1e-12)


def test_a_long_dense_decomposition_warns_before_it_starts(monkeypatch):
    module = importlib.import_module("gsp_fb.spectrum")
    monkeypatch.setattr(module, "UNINTERRUPTED_NODES", 30)
    with pytest.warns(GspWarning, match=r"31 nodes takes about 11 s on one core and does not react to Ctrl-C"):
        gf.spectrum(gf.operator(gf.datasets.ring(31), "sym", "high"))


@needs_data
def test_the_rough_end_of_cora_and_citeseer(monkeypatch):
    monkeypatch.setenv("GSP_FB_DATA_DIR", str(DATA))
    for name, k in (("cora", 60), ("citeseer", 30)):
        op = gf.operator(gf.datasets.load(name).graph, "sym", channel="high")
        modes = gf.spectrum(op, k=k, which="high")
        assert modes.proof == "inertia"
        residual = op @ modes.symmetrized_basis - modes.symmetrized_basis * modes.frequencies
        assert np.abs(residual).max() < 1e-8


def test_eigengap_needs_two_nodes_and_an_edge_somewhere():
    with pytest.raises(ParameterError, match="at least 2 nodes"):
        gf.eigengap(gf.operator(gf.Graph.from_edges([], n_nodes=1), "sym"))
    with pytest.raises(ParameterError, match="every node is isolated"):
        gf.eigengap(gf.operator(gf.Graph.from_edges([], n_nodes=3), "sym", isolated="zero"))


def test_projection_onto_a_few_modes_is_orthogonal():
    op = gf.operator(gf.datasets.grid(30, 30), "rw", channel="high")
    modes = gf.spectrum(op, k=6)
    x = np.random.default_rng(0).standard_normal((900, 2))
    smooth = modes.igft(modes.gft(x))
    assert np.allclose(modes.gft(x - smooth), 0.0, atol=1e-8)
    assert not modes.is_full


def test_coefficients_of_the_wrong_length_are_refused():
    modes = gf.spectrum(gf.operator(gf.datasets.ring(6), "sym", channel="high"))
    with pytest.raises(SignalError, match=r"shape \(5,\) but there are 6 modes"):
        modes.igft(np.zeros(5))


def test_precision_and_sparsity_of_signals():
    modes = gf.spectrum(gf.operator(gf.datasets.ring(6), "rw", channel="high"))
    from scipy import sparse

    x = np.eye(6, 2)
    assert modes.gft(x.astype(np.float32)).dtype == np.float32
    assert np.allclose(modes.gft(sparse.csr_array(x)), modes.gft(x))
    assert np.allclose(modes.igft(modes.gft(1j * x)), 1j * x)


def test_repr_tells_how_many_modes_of_what():
    ring = gf.operator(gf.datasets.ring(5), "sym", "high")
    assert repr(gf.spectrum(ring, k=2)) == f"Spectrum(2 of 5 modes of {ring!r}, dense, proof='dense')"
    assert not gf.spectrum(ring, k=2).is_full
    assert gf.spectrum(ring).is_full


def test_memory_that_just_suffices_does():
    ring = gf.operator(gf.datasets.ring(5), "sym", "high")
    assert gf.spectrum(ring, max_bytes=3 * 8 * 25).is_full
    with pytest.raises(ParameterError, match="all 5 modes need"):
        gf.spectrum(ring, max_bytes=3 * 8 * 25 - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_both_transforms_keep_the_precision(dtype):
    modes = gf.spectrum(gf.operator(gf.datasets.ring(5), "rw", "high"))
    x = np.arange(5).astype(dtype)
    assert modes.gft(x).dtype == dtype
    assert modes.igft(modes.gft(x)).dtype == dtype
    assert np.allclose(modes.igft(modes.gft(x)), x, atol=1e-5)


@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("isolated", ["self", "zero"])
def test_an_edgeless_graph_has_one_frequency(which, family, isolated):
    op = gf.operator(gf.Graph.from_edges([], n_nodes=2000), family, channel="high", isolated=isolated)
    modes = gf.spectrum(op, k=5, which=which)
    assert np.array_equal(modes.frequencies, np.full(5, op.diag[0]))
    assert np.allclose(op @ modes.basis, modes.basis * modes.frequencies)
    assert np.allclose(modes.symmetrized_basis.T @ modes.symmetrized_basis, np.eye(5))


def test_many_components_are_refused_before_memory_is_allocated():
    pairs = gf.Graph.from_edges([(2 * i, 2 * i + 1) for i in range(100_000)])
    op = gf.operator(pairs, "sym", channel="high")
    with pytest.raises(ParameterError, match=r"1000 modes of 200000 nodes need about 3\.2 GB \(max_bytes=1\.0 GB\)"):
        gf.spectrum(op, k=1000, max_bytes=1_000_000_000)
    modes = gf.spectrum(op, k=20)
    assert (modes.method, modes.proof) == ("components", "inertia")
    assert not modes.frequencies.any()


@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("k", [5, 12])
@pytest.mark.parametrize("family", ["comb", "sym"])
def test_copies_are_found_without_a_count(family, k, which, monkeypatch):
    """Where no factorisation is affordable, a second search with vectors of its own finds what the first one missed."""
    monkeypatch.setattr(_eigen._Ladder, "_cost", lambda self: None)
    triangle = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]
    graph = gf.Graph.from_edges([(5 * c + i, 5 * c + j) for c in range(150) for i, j in triangle])
    op = gf.operator(graph, family, "high")
    values = np.linalg.eigvalsh(op.symmetrized.to_scipy().toarray())
    found = gf.spectrum(op, k, which)
    np.testing.assert_allclose(found.frequencies, values[:k] if which == "low" else values[-k:], atol=1e-8)


@pytest.mark.parametrize("k", [2, 7])
def test_a_hub_far_from_the_rest_does_not_stop_a_search(k):
    """One eigenvalue of 700 above a ring's below 5: it is locked, else it limits every polynomial."""
    graph = gf.Graph.from_edges([(0, i) for i in range(1, 700)] + [(i, i % 699 + 1) for i in range(1, 700)])
    op = gf.operator(graph, "comb", channel="high")
    ring = 3 - 2 * np.cos(2 * np.pi * np.arange(1, 699) / 699)
    modes = gf.spectrum(op, k, "high", certify=False)
    assert (modes.method, modes.proof) == ("lanczos", "residual")
    np.testing.assert_allclose(modes.frequencies, np.sort(np.append(ring, 700.0))[-k:], rtol=0, atol=1e-6)
