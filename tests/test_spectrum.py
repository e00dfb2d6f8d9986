"""Transforms and partial spectra, against closed forms and dense decompositions."""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import _eigen, operators
from gsp_fb._certify import eigenvalue_floor
from gsp_fb.errors import ConvergenceError, ParameterError, SignalError
from gsp_fb.variants import VARIANTS


def ring_frequencies(n):
    return np.sort(1 - np.cos(2 * np.pi * np.arange(n) / n))


def grid_frequencies(n, m):
    row, col = (2 - 2 * np.cos(np.pi * np.arange(k) / k) for k in (n, m))
    return np.sort((row[:, None] + col).ravel())


@pytest.fixture
def products(monkeypatch):
    """Count the sparse products of every operator."""
    count = [0]
    real = operators.affine_product

    def counted(*args):
        count[0] += 1
        return real(*args)

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
    assert part.method == "lanczos"
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
    with pytest.raises(ConvergenceError):
        _eigen._eigsh(op.complement().linear_operator(), 2, 1e-10, 200)


@pytest.mark.slow
def test_grid_of_316_by_316():
    gap = gf.eigengap(gf.operator(gf.datasets.grid(316, 316), "comb"))
    assert gap.proof == "inertia"
    assert abs(gap.ratio - (1 - (2 - 2 * np.cos(np.pi / 316)))) <= gap.error < 1e-9


def test_multigrid_agrees_with_the_closed_form():
    op = gf.operator(gf.datasets.grid(60, 61), "comb", channel="high").symmetrized
    pairs = _eigen._multigrid(op, _eigen.null_space(op), 3, 1e-9)
    assert np.allclose(pairs.values, grid_frequencies(60, 61)[1:4], rtol=1e-7)


def test_a_healthy_gap_takes_at_most_250_products(products):
    graph = community(100_000, 2, 1_000_000)
    gap = gf.eigengap(gf.operator(graph, "sym"))
    assert products[0] <= 250
    assert gap.error < 1e-7
    assert gap.proof == "residual"
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
def test_a_count_of_eigenvalues_notices_one_that_was_missed(family):
    core = gf.operator(community(900, 3, 6000, seed=1), family, channel="high").symmetrized.to_scipy()
    frequencies = np.linalg.eigvalsh(core.toarray())
    floor = eigenvalue_floor(core, frequencies[1] - 1e-9, 1)
    assert frequencies[1] - 1e-7 < floor <= frequencies[1]
    with pytest.raises(ConvergenceError, match=r"2 eigenvalues lie below .* one was missed"):
        eigenvalue_floor(core, (frequencies[1] + frequencies[2]) / 2, 1)


def test_an_eigengap_that_the_solver_missed_is_not_certified(monkeypatch):
    honest = _eigen._deflated_lanczos

    def blind(core, null, k, tol, max_matvecs):
        pairs = honest(core, null, k + 1, tol, max_matvecs)
        return _eigen.Pairs(pairs.values[1:], pairs.vectors[:, 1:], pairs.method)

    monkeypatch.setattr(_eigen, "_deflated_lanczos", blind)
    op = gf.operator(community(900, 3, 6000, seed=1), "sym")
    with pytest.raises(ConvergenceError, match="one was missed"):
        gf.eigengap(op)
    assert gf.eigengap(op, certify=False).proof == "residual"


def test_eigengap_says_what_is_not_resolved(monkeypatch):
    monkeypatch.setattr(_eigen, "FACTOR_NODES", 0)
    monkeypatch.setattr(_eigen, "FACTOR_MEAN_DEGREE", 0)
    monkeypatch.setattr(_eigen, "has", lambda module: False)
    with pytest.raises(ConvergenceError, match=r"lambda_2 not resolved: .*gsp-fb\[fast\]"):
        gf.eigengap(gf.operator(gf.datasets.grid(40, 40), "sym"), max_matvecs=45)


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
    assert repr(gf.spectrum(ring, k=2)) == f"Spectrum(2 of 5 modes of {ring!r}, dense)"
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
