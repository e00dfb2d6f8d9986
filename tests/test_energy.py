"""Energies, homophily and significance by hand-computed examples and independent oracles."""

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score
from torch_geometric.utils import homophily as pyg_homophily

import gsp_fb as gf
from gsp_fb.energy import dirichlet
from gsp_fb.errors import ParameterError, SignalError

SQUARE = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
Y = np.array([0, 0, 1, 1])


def edges_of(graph):
    return torch.as_tensor(np.stack(graph.adjacency.tocoo().coords), dtype=torch.long)


def random_labelled(seed, n_nodes=80, n_edges=300, n_classes=4):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n_nodes, (n_edges, 2))
    graph = gf.Graph.from_edges(pairs, n_nodes=n_nodes, duplicates="first", loops="drop")
    return graph, rng.integers(0, n_classes, n_nodes), rng.standard_normal((n_nodes, 5))


def test_a_low_channel_has_no_energies():
    with pytest.raises(ParameterError, match=r"op\.complement\(\)"):
        gf.dirichlet_energy(gf.operator(SQUARE, "sym"), Y)


def test_per_column_adds_up():
    op = gf.operator(SQUARE, "sym", channel="high")
    x = np.random.default_rng(0).standard_normal((4, 3))
    for energy in (gf.dirichlet_energy, gf.nonsmooth_energy):
        assert np.sum(energy(op, x, per_column=True)) == pytest.approx(energy(op, x))
    assert np.sum(gf.signal_energy(x, per_column=True)) == pytest.approx(gf.signal_energy(x))
    columns = [gf.s_value(op, x[:, j]) for j in range(3)]
    assert np.allclose(gf.s_value(op, x, per_column=True), columns)


def test_one_hot():
    assert gf.one_hot([0, 2, -1], n_classes=4).toarray().tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    with pytest.raises(ParameterError, match="label 2 does not fit n_classes=2"):
        gf.one_hot([0, 2], n_classes=2)
    with pytest.raises(SignalError, match="integers"):
        gf.one_hot([0.5, 1.0])


def test_one_hot_has_a_column_for_each_class_there_is():
    assert gf.one_hot([0]).shape == (1, 1)
    assert gf.one_hot([-1, -1]).shape == (2, 0)
    assert gf.one_hot([]).shape == (0, 0)
    assert gf.one_hot(np.array([1, 0, 1])).toarray().tolist() == [[0, 1], [1, 0], [0, 1]]
    assert gf.one_hot([1]).indices.dtype == gf.one_hot([1]).indptr.dtype == np.int32
    assert gf.one_hot([1, 1], n_classes=2).dtype == np.float64


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_columns_of_every_size_keep_their_own_energy(form):
    x = np.array([[1e-200, 3e150, 0.0, 1.0], [2e-200, 4e150, 0.0, -2.0]])
    op = gf.operator(gf.Graph.from_edges([(0, 1)]), "comb", "high")
    with pytest.warns(gf.errors.GspWarning, match="column 2"):
        values = gf.s_value(op, form(x), per_column=True)
    assert np.allclose(values, [1 / 5, 1 / 25, np.nan, 9 / 5], equal_nan=True)
    energies = gf.signal_energy(form(x[:, 1:]), per_column=True)
    assert np.allclose(energies, [25e300, 0.0, 5.0], rtol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_no_column_hides_another(form):
    op = gf.operator(gf.Graph.from_edges([(0, 1)]), "comb", "high")
    x = form(np.array([[1e-150, 1e150, 0.0], [0.0, 0.0, 0.0]]))
    for energy in (gf.signal_energy(x, per_column=True), gf.dirichlet_energy(op, x, per_column=True)):
        assert np.allclose(energy, [1e-300, 1e300, 0.0], rtol=1e-12, atol=0.0)
    assert np.allclose(gf.nonsmooth_energy(op, x, per_column=True), 0.0)
    twins = form(np.array([[1e-150, 1e150, 0.0], [1e-150, 1e150, 0.0]]))
    assert np.allclose(gf.nonsmooth_energy(op, twins, per_column=True), [2e-300, 2e300, 0.0], rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("unit", [1.0, 1j])
def test_complex_columns_are_scaled_by_either_part(unit):
    op = gf.operator(gf.Graph.from_edges([(0, 1)]), "comb", "high")
    x = unit * np.array([[1e200, 1.0], [-1e200, 3.0]])
    assert np.allclose(gf.s_value(op, x, per_column=True), [2.0, 4 / 10])
    assert gf.s_value(op, x) == pytest.approx(2.0)


def test_single_precision_columns_stay_single_while_they_are_scaled():
    op = gf.operator(gf.Graph.from_edges([(0, 1)]), "comb", "high")
    x = np.array([[1e-30, 1.0], [-1e-30, 1.0]], dtype=np.float32)
    assert np.allclose(gf.s_value(op, x, per_column=True), [2.0, 0.0])
    assert np.allclose(gf.signal_energy(x, per_column=True), [2e-60, 2.0], rtol=1e-6)


def test_signals_without_rows_or_columns_have_no_energy():
    assert gf.signal_energy(np.zeros((0, 2)), per_column=True).tolist() == [0.0, 0.0]
    assert gf.signal_energy(np.zeros((2, 0))) == 0.0
    assert gf.signal_energy([]) == 0.0


def test_energies_of_more_rows_than_a_block():
    x = np.random.default_rng(0).standard_normal((2 * dirichlet.BLOCK_ROWS + 7, 2))
    assert np.allclose(gf.signal_energy(x, per_column=True), (x**2).sum(axis=0), rtol=1e-12)
    assert gf.signal_energy(x[:, 0]) == pytest.approx(x[:, 0] @ x[:, 0], rel=1e-12)


def test_a_row_that_sums_to_zero_stays_as_it_is():
    x = np.array([[1.0, -1.0], [2.0, 2.0]])
    assert gf.row_normalized(x).tolist() == [[1.0, -1.0], [0.5, 0.5]]
    assert gf.row_normalized(sparse.csr_array(x)).toarray().tolist() == [[1.0, -1.0], [0.5, 0.5]]


def test_row_normalized_keeps_zero_rows_and_sparsity():
    x = sparse.csr_array(np.array([[1.0, 3.0], [0.0, 0.0]]))
    y = gf.row_normalized(x)
    assert sparse.issparse(y)
    assert y.toarray().tolist() == [[0.25, 0.75], [0.0, 0.0]]


@pytest.mark.parametrize("seed", range(5))
def test_homophily_agrees_with_pyg_on_graphs_without_isolated_nodes(seed):
    graph, y, _ = random_labelled(seed, n_edges=900)
    assert graph.n_isolated == 0
    edges, labels = edges_of(graph), torch.as_tensor(y)
    assert gf.edge_homophily(graph, y) == pytest.approx(pyg_homophily(edges, labels, method="edge"), abs=1e-6)
    assert gf.node_homophily(graph, y) == pytest.approx(pyg_homophily(edges, labels, method="node"), abs=1e-6)
    theirs = pyg_homophily(edges, labels, method="edge_insensitive")
    assert gf.class_homophily(graph, y) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("unlabelled", [-2, -3, -100])
@pytest.mark.parametrize(
    "measure",
    [
        gf.node_homophily,
        gf.edge_homophily,
        gf.class_homophily,
        gf.adjusted_homophily,
        gf.label_informativeness,
        lambda graph, y: gf.aggregation_similarity(graph, np.eye(graph.n_nodes), y),
    ],
)
def test_every_negative_label_means_unlabelled(measure, unlabelled):
    graph, y, _ = random_labelled(0)
    y[::3] = -1
    assert measure(graph, np.where(y < 0, unlabelled, y)) == measure(graph, y)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_homophily_is_the_assortativity_of_the_labels(seed):
    graph, y, _ = random_labelled(seed)
    theirs = nx.Graph(graph.adjacency)
    nx.set_node_attributes(theirs, dict(enumerate(y.tolist())), "label")
    assert gf.adjusted_homophily(graph, y) == pytest.approx(nx.attribute_assortativity_coefficient(theirs, "label"))


@pytest.mark.parametrize("seed", range(5))
def test_label_informativeness_is_mutual_information_over_entropy(seed):
    graph, y, _ = random_labelled(seed)
    edges = graph.adjacency.tocoo()
    ends, others = y[edges.row], y[edges.col]
    expected = mutual_info_score(ends, others) / entropy(np.bincount(ends))
    assert gf.label_informativeness(graph, y) == pytest.approx(expected)


def test_label_measures_that_have_no_answer_or_the_extreme_one():
    ring = gf.datasets.ring(6)
    for measure in (gf.adjusted_homophily, gf.label_informativeness):
        assert np.isnan(measure(ring, [0] * 6))
        assert np.isnan(measure(ring, [-1] * 6))
        assert np.isnan(measure(gf.Graph.from_edges([], n_nodes=3), [0, 1, 2]))
        assert np.isnan(measure(gf.Graph.from_edges([], n_nodes=0), []))
    assert gf.adjusted_homophily(ring, [0, 1] * 3) == pytest.approx(-1.0)
    assert gf.label_informativeness(ring, [0, 1] * 3) == pytest.approx(1.0)
    # Labels with gaps and unlabelled nodes count as they do for the other measures; so do arcs, read without direction.
    pairs = gf.Graph.from_edges([(0, 1), (2, 3), (4, 5)])
    assert gf.adjusted_homophily(pairs, [0, 0, 9, 9, -1, 0]) == pytest.approx(1.0)
    arcs = gf.Graph.from_edges([(0, 1), (2, 3)], directed=True)
    assert gf.label_informativeness(arcs, [0, 1, 0, 1]) == pytest.approx(1.0)


def test_differences_of_vectors_and_of_nothing():
    assert gf.row_diff([0.0, 1.0, 3.0]) == pytest.approx((1 + 3 + 2) * 2 / 9)
    assert gf.col_diff([1.0, 3.0]) == 0.0
    assert gf.row_diff(np.zeros((0, 2))) == 0.0
    assert gf.col_diff([[1.0, 0.0], [1.0, 0.0]]) == pytest.approx(0.5**0.5 * 2 / 4)


def test_aggregation_similarity_takes_one_feature_a_family_and_a_gamma():
    graph, y, x = random_labelled(1)
    one = gf.aggregation_similarity(graph, x[:, 0], y)
    assert one == gf.aggregation_similarity(graph, x[:, :1], y)
    for options in ({"family": "rw", "gamma": None}, {"family": "lazy_rw", "gamma": 3.0}, {"gamma": 5.0}):
        h = gf.operator(graph, **{"family": "renorm_sym"} | options).to_scipy() @ x
        similar = h @ h.T
        want = [similar[v, y == y[v]].mean() >= similar[v, y != y[v]].mean() for v in range(80)]
        assert gf.aggregation_similarity(graph, x, y, **options) == pytest.approx(np.mean(want))


def test_equal_similarities_count_for_the_own_class():
    two = gf.Graph.from_edges([(0, 1)])
    assert gf.aggregation_similarity(two, np.zeros((2, 1)), [0, 1]) == 1.0
    assert gf.aggregation_similarity(two, [[1.0], [1.0]], [0, 1]) == 1.0


def test_class_homophily_by_hand():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (4, 4)], n_nodes=6)
    y = [0, 0, 0, 2, 2, -1]  # the labels skip a class; an end of class 2 has no neighbour of its own
    assert gf.class_homophily(graph, y) == pytest.approx((4 / 5 - 3 / 5) / 1)
    assert np.isnan(gf.class_homophily(graph, [-1] * 6))
    arc = gf.Graph.from_edges([(0, 1)], n_nodes=3, directed=True)  # one end of class 0, whose head is of it too
    assert gf.class_homophily(arc, [0, 0, 1]) == pytest.approx(1 - 2 / 3)


def test_isolated_nodes_loops_and_unlabelled_nodes():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (0, 0)], n_nodes=5)
    assert gf.node_homophily(graph, [0, 0, 1, 1, 1]) == pytest.approx((1 + 0.5 + 0) / 3)
    assert gf.edge_homophily(graph, [0, 0, 1, 1, 1]) == 0.5
    assert gf.edge_homophily(graph, [0, 0, -1, 1, 1]) == 1.0
    empty = gf.Graph.from_edges([], n_nodes=3)
    assert np.isnan(gf.edge_homophily(empty, [0, 1, 1]))
    assert np.isnan(gf.node_homophily(empty, [0, 1, 1]))
    assert np.isnan(gf.class_homophily(graph, [0] * 5))


def test_row_and_column_differences_are_their_definitions():
    x = np.random.default_rng(0).standard_normal((700, 3))
    rows = np.mean([np.linalg.norm(x - row, axis=1).mean() for row in x])
    assert gf.row_diff(x) == pytest.approx(rows)
    scaled = x / np.abs(x).sum(axis=0)
    columns = np.mean([np.linalg.norm(scaled[:, i] - scaled[:, j]) for i in range(3) for j in range(3)])
    assert gf.col_diff(x) == pytest.approx(columns)
    assert gf.col_diff(sparse.csr_array(x)) == pytest.approx(columns)
    assert gf.row_diff(sparse.csr_array(x)) == pytest.approx(rows)


@pytest.mark.parametrize("seed", range(3))
def test_aggregation_similarity_is_its_definition(seed):
    graph, y, x = random_labelled(seed)
    y[3] = -1
    h = gf.operator(graph, "renorm_sym").to_scipy() @ x
    similar = h @ h.T
    count = [
        similar[v, (y == y[v])].mean() >= similar[v, (y != y[v]) & (y >= 0)].mean() for v in range(80) if y[v] >= 0
    ]
    assert gf.aggregation_similarity(graph, x, y) == pytest.approx(np.mean(count))
    with pytest.raises(SignalError, match="fewer than two"):
        gf.aggregation_similarity(graph, x, np.zeros(80, dtype=int))


@pytest.mark.parametrize("family", ["rw", "renorm_rw", "lazy_rw"])
def test_s_of_a_random_walk_is_its_mean_frequency(family):
    op = gf.operator(gf.datasets.star(20), family, "high")
    L, scale = op.to_scipy().toarray(), op.scale
    for x in (np.eye(20)[0], np.eye(20)[7], np.random.default_rng(0).standard_normal(20), np.ones(20)):
        profile = gf.energy_profile(op, x)
        energy, smooth = gf.signal_energy(x, op), gf.dirichlet_energy(op, x)
        assert -1e-12 <= gf.s_value(op, x) <= 2 + 1e-12
        assert gf.s_value(op, x) == pytest.approx(profile.moments[1] / profile.moments[0], abs=1e-12)
        assert energy == pytest.approx(profile.total)
        assert smooth == pytest.approx(np.sum(scale**2 * x * (L @ x)), abs=1e-11)
        assert gf.nonsmooth_energy(op, x) == pytest.approx(energy - smooth, abs=1e-11)
        assert gf.s_value(op, x, inner="plain") == pytest.approx(x @ L @ x / (x @ x), abs=1e-12)


def test_directed_operators_have_the_plain_form():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (0, 2)], directed=True)
    x = np.array([1.0, -2.0, 0.5])
    for family in ("sym", "rw"):
        op = gf.operator(graph, family, "high")
        assert gf.s_value(op, x) == gf.s_value(op, x, inner="plain")
        assert gf.s_value(op, x) == pytest.approx(x @ op.to_scipy().toarray() @ x / (x @ x))


def test_an_unknown_inner_product_is_refused():
    op = gf.operator(SQUARE, "sym", channel="high")
    for measure in (gf.dirichlet_energy, gf.nonsmooth_energy, gf.s_value):
        with pytest.raises(ParameterError, match=r"unknown inner product 'plane'; .*did you mean 'plain'"):
            measure(op, Y, inner="plane")
    with pytest.raises(ParameterError, match="unknown inner product"):
        gf.signal_energy(Y, inner="euclid")
