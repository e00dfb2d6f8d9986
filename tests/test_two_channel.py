import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from gsp_fb import Graph
from gsp_fb.errors import ParameterError, SignalError
from gsp_fb.filters import FilterBank, two_channel
from gsp_fb.filters.sampled import bipartite_components, max_cut
from gsp_fb.variants import VARIANTS

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
HOUSE = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], [1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
ARCS = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True)
RNG = np.random.default_rng(0)


def test_the_papers_node_level_formula():
    """(L_rw x)_i is the mean of x_i - x_j over the neighbours, (A_rw x)_i the mean of x_j."""
    x = RNG.standard_normal(5)
    bank = FilterBank.two_channel(HOUSE, "rw")
    A = HOUSE.adjacency.toarray()
    aggregation = [sum(A[i, j] * x[j] for j in range(5)) / A[i].sum() for i in range(5)]
    diversification = [sum(A[i, j] * (x[i] - x[j]) for j in range(5)) / A[i].sum() for i in range(5)]
    low, high = bank.analyze(x)
    for got in (low, bank.aggregate(x)):
        assert_allclose(got, aggregation, atol=1e-14)
    for got in (high, bank.diversify(x)):
        assert_allclose(got, diversification, atol=1e-14)


@pytest.mark.parametrize("graph", [PATH, HOUSE, ARCS], ids=["path", "house", "directed"])
@pytest.mark.parametrize("family", VARIANTS)
def test_node_level_and_operator_forms_agree(graph, family):
    bank = two_channel(graph, family)
    for x in (RNG.standard_normal(graph.n_nodes), RNG.standard_normal((graph.n_nodes, 3))):
        low, high = bank.analyze(x)
        dense = bank.low.to_scipy().toarray()
        assert_allclose(low, dense @ x, atol=1e-13)
        assert_allclose(high, x - dense @ x, atol=1e-13)
        assert_allclose(high, bank.high @ x, atol=1e-13)
        assert_allclose(bank.aggregate(x), low, atol=1e-13)
        assert_allclose(bank.diversify(x), high, atol=1e-13)
        assert_allclose(bank.synthesize(low, high), x, atol=1e-14)


def test_lazy_pair_with_gamma_one_is_half_of_identity_plus_and_minus_the_walk():
    bank = FilterBank.two_channel(HOUSE, "lazy_rw", gamma=1.0)
    A = HOUSE.adjacency.toarray()
    P = A / A.sum(axis=1, keepdims=True)
    x = RNG.standard_normal(5)
    low, high = bank.analyze(x)
    assert_allclose(low, (x + P @ x) / 2, atol=1e-14)
    assert_allclose(high, (x - P @ x) / 2, atol=1e-14)


def test_cascade_splits_the_low_band_again():
    bank = two_channel(HOUSE, "renorm_sym", gamma=0.5, levels=3)
    x = RNG.standard_normal((5, 2))
    P = bank.low.to_scipy().toarray()
    want = [P @ P @ P @ x, P @ P @ x - P @ P @ P @ x, P @ x - P @ P @ x, x - P @ x]
    bands = bank.analyze(x)
    assert len(bands) == 4
    for got, band in zip(bands, want, strict=True):
        assert_allclose(got, band, atol=1e-14)
    assert_allclose(bank.synthesize(*bands), x, atol=1e-14)


def test_sparse_signals_stay_sparse():
    x = sparse.random_array((5, 7), density=0.3, rng=0, format="csr")
    bank = two_channel(HOUSE, "sym", levels=2)
    bands = bank.analyze(x)
    assert all(sparse.issparse(band) for band in bands)
    assert_allclose(bank.synthesize(*bands).toarray(), x.toarray(), atol=1e-15)
    assert_allclose(bank.aggregate(x).toarray(), bank.low.to_scipy() @ x.toarray(), atol=1e-15)


def test_bad_bands():
    bank = two_channel(PATH, levels=2)
    with pytest.raises(ParameterError, match="2 bands given; 2 levels have 3"):
        bank.synthesize(np.ones(4), np.ones(4))
    with pytest.raises(SignalError, match="must be the same"):
        bank.synthesize(np.ones(4), np.ones(4), np.ones((4, 1)))
    with pytest.raises(ParameterError, match="levels must be an integer >= 1"):
        two_channel(PATH, levels=0)


@pytest.mark.parametrize(
    "graph",
    [PATH, HOUSE, Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2), (5, 5)], n_nodes=7)],
    ids=["bipartite", "odd", "mixed"],
)
@pytest.mark.parametrize("isolated", ["self", "zero"])
def test_every_choice_of_nodes_is_invertible_or_refused_as_the_theorem_says(graph, isolated):
    bank = two_channel(graph, "lazy_rw", isolated=isolated)
    P = bank.low.to_scipy().toarray()
    n, x = graph.n_nodes, RNG.standard_normal(graph.n_nodes)
    for bits in itertools.product([True, False], repeat=n):
        keep = np.array(bits)
        rows = np.where(keep[:, None], P, np.eye(n) - P)
        if np.linalg.matrix_rank(rows, tol=1e-10) < n:
            with pytest.raises(ParameterError, match="cannot be restored"):
                bank.sampling(keep)
            continue
        chosen = bank.sampling(keep)
        c = bank.analyze_sampled(x, chosen)
        assert c.shape == x.shape
        assert_allclose(c, rows @ x, atol=1e-14)
        assert_allclose(bank.synthesize_sampled(c, chosen), x, atol=1e-12 * chosen.condition)
        assert_allclose(chosen.condition, np.linalg.cond(rows), rtol=1e-6)


@pytest.mark.parametrize("sides", [(3, 3), (2, 5), (20, 30)])
def test_bipartite_cut_is_conditioned_by_the_root_of_two(sides):
    rng = np.random.default_rng(5)
    m, n = sides
    B = rng.random((m, n))
    graph = Graph.from_adjacency(np.block([[np.zeros((m, m)), B], [B.T, np.zeros((n, n))]]))
    bank = two_channel(graph, "lazy_rw")
    chosen = bank.sampling()
    assert_array_equal(chosen.keep[:m], chosen.keep[0])
    assert_array_equal(chosen.keep[m:], ~chosen.keep[0])
    scale = bank.low.scale
    symmetric = scale[:, None] * chosen.matrix.toarray() / scale
    assert np.linalg.cond(symmetric) <= np.sqrt(2) + 1e-12


def test_max_cut_cuts_most_of_a_random_graph_and_reaches_every_component():
    rng = np.random.default_rng(1)
    A = np.triu(rng.random((60, 60)) < 0.1, 1)
    A[:, 55:] = A[55:, :] = False
    graph = Graph.from_adjacency((A | A.T).astype(float))
    side = max_cut(graph)
    edges = graph.adjacency.tocoo()
    cut = edges.data[side[edges.row] != side[edges.col]].sum()
    assert cut >= 0.6 * edges.data.sum()
    same = np.bincount(edges.row, weights=np.where(side[edges.row] == side[edges.col], 1.0, -1.0), minlength=60)
    assert same.max() <= 0  # no single node would cut more on the other side
    assert all(side[graph.component_labels == k].any() for k in range(graph.n_components))
    chosen = two_channel(graph).sampling()
    x = rng.standard_normal((60, 2)) + 1j
    bank = two_channel(graph)
    chosen = bank.sampling()
    assert_allclose(bank.synthesize_sampled(bank.analyze_sampled(x, chosen), chosen), x, atol=1e-9)


def test_bipartite_components_of_a_mixed_graph():
    graph = Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2), (5, 5)], n_nodes=7)
    labels = graph.component_labels
    found = bipartite_components(graph)
    assert found[labels].tolist() == [True, True, False, False, False, False, False]


def test_sampling_of_other_families_is_judged_by_its_factors():
    bank = two_channel(HOUSE, "renorm_rw", gamma=2.0)
    x = RNG.standard_normal(5)
    chosen = bank.sampling()
    assert_allclose(bank.synthesize_sampled(bank.analyze_sampled(x, chosen), chosen), x, atol=1e-12)
    with pytest.raises(ParameterError, match=r"restored|condition"):
        bank.sampling(np.zeros(5, dtype=bool))


def test_bad_samplings():
    bank = two_channel(PATH)
    with pytest.raises(ParameterError, match="4 booleans, one per node"):
        bank.sampling([1, 0, 1, 0])
    with pytest.raises(ParameterError, match="unknown keep 'maxcut'"):
        bank.sampling("maxcut")
    with pytest.raises(ParameterError, match="component of node 0 has no node that keeps its low value"):
        bank.sampling([False] * 4)
    with pytest.raises(ParameterError, match=r"not a sampling of this bank; make one with bank\.sampling"):
        bank.analyze_sampled(np.ones(4), two_channel(PATH).sampling())


def test_a_choice_that_keeps_nothing_of_a_node_is_refused():
    """With gamma so large that low is the identity to rounding, the high rows are zero."""
    bank = two_channel(PATH, "lazy_rw", gamma=1e300)
    with pytest.raises(ParameterError, match=r"no signal can be restored|condition number"):
        bank.sampling([False, True, True, True])


def test_empty_graph_and_repr():
    bank = two_channel(Graph.from_edges([], n_nodes=0))
    chosen = bank.sampling()
    assert repr(chosen) == "Sampling(low at 0 of 0 nodes, condition=1)"
    assert bank.analyze_sampled(np.zeros(0), chosen).shape == (0,)
