"""The strategies reach every kind of graph that a law could fail on, and the assertion can fail."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from scipy import sparse
from scipy.sparse import csgraph

import gsp_fb as gf
from gsp_fb import testing
from gsp_fb.errors import ParameterError
from gsp_fb.testing import (
    adjacencies,
    channels,
    families,
    gammas,
    graphs,
    graphs_with_signals,
    isolated_policies,
    operators,
    signals,
)
from gsp_fb.testing._signals import KINDS
from gsp_fb.theory import paper_dense
from gsp_fb.variants import CHANNELS, VARIANTS
from tests.support.closeness import assert_close, size_of


def drawn(strategy, holds):
    """Return some value of the strategy that satisfies ``holds``; the smallest one is not worth its search."""
    return find(strategy, holds, settings=settings(max_examples=2000, database=None, phases=[Phase.generate]))


def counts(graph):
    """Sorted numbers of neighbours, or None where there are loops."""
    if graph.n_loops:
        return None
    return sorted(np.diff(graph.indptr).tolist())


def is_bipartite(graph):
    """Whether no edge joins two nodes at an even distance from the first node of their component."""
    hops = csgraph.shortest_path(graph.adjacency, unweighted=True)
    roots = np.unique(graph.component_labels, return_index=True)[1]
    parity = hops[roots[graph.component_labels], np.arange(graph.n_nodes)] % 2
    i, j = graph.adjacency.nonzero()
    return bool(np.all(parity[i] != parity[j]))


REACHED = {
    "one node": lambda g: g.n_nodes == 1,
    "no edge": lambda g: g.n_edges == 0 and g.n_nodes > 1,
    "isolated node beside edges": lambda g: g.n_isolated > 0 and g.n_edges > 0,
    "loop": lambda g: g.n_loops > 0,
    "one node with a loop": lambda g: g.n_nodes == g.n_loops == 1,
    "disconnected with edges in two parts": lambda g: g.n_components > 1 and g.n_isolated == 0 and g.n_loops == 0,
    "connected": lambda g: g.n_components == 1 and g.n_nodes > 2,
    "K2": lambda g: counts(g) == [1, 1],
    "path": lambda g: g.n_components == 1 and g.n_nodes > 3 and counts(g) == [1, 1] + [2] * (g.n_nodes - 2),
    "star": lambda g: g.n_nodes > 3 and counts(g) == [1] * (g.n_nodes - 1) + [g.n_nodes - 1],
    "even ring": lambda g: g.n_components == 1 and g.n_nodes in (4, 6, 8, 10, 12) and counts(g) == [2] * g.n_nodes,
    "odd ring": lambda g: g.n_components == 1 and g.n_nodes in (5, 7, 9, 11) and counts(g) == [2] * g.n_nodes,
    "complete": lambda g: g.n_nodes > 3 and counts(g) == [g.n_nodes - 1] * g.n_nodes,
    "complete bipartite": lambda g: (
        g.n_nodes > 4 and is_bipartite(g) and g.n_components == 1 and g.n_edges == g.n_nodes // 2 * -(-g.n_nodes // 2)
    ),
    "bipartite and weighted": lambda g: g.is_weighted and g.n_edges > 4 and is_bipartite(g),
    "not bipartite": lambda g: g.n_loops == 0 and not is_bipartite(g),
    "weight 1e-3": lambda g: g.is_weighted and g.weights.min() < 1.2e-3,
    "weight 1e3": lambda g: g.is_weighted and g.weights.max() > 900,
    "unweighted": lambda g: not g.is_weighted and g.n_edges > 3,
    "many nodes": lambda g: g.n_nodes == 12 and g.n_edges > 20,
}


@pytest.fixture(scope="module")
def kinds_of_1000():
    """How often each kind turns up among 1000 drawn graphs."""
    seen = Counter()

    @settings(max_examples=1000, derandomize=True, database=None, phases=[Phase.generate])
    @given(graphs())
    def count(graph):
        seen.update(kind for kind, holds in REACHED.items() if holds(graph))

    count()
    return seen


@pytest.mark.parametrize("kind", REACHED)
def test_graphs_reaches(kind, kinds_of_1000):
    assert kinds_of_1000[kind] > 0


@pytest.mark.parametrize(
    "kind", ["one node", "no edge", "loop", "isolated node beside edges", "not bipartite", "unweighted", "connected"]
)
def test_the_usual_suspects_come_often(kind, kinds_of_1000):
    assert kinds_of_1000[kind] >= 50


@given(graphs(connected=True, min_nodes=2))
def test_connected_graphs_are_connected(graph):
    assert graph.n_components == 1
    assert graph.n_isolated == 0


@given(graphs(min_degree=1.0))
def test_min_degree_bounds_the_degrees(graph):
    assert graph.degrees.min() >= 1.0


@given(graphs(min_degree=0.5, directed=True))
def test_min_degree_bounds_the_out_degrees(graph):
    assert graph.directed
    assert graph.degrees.min() >= 0.5


@given(graphs(loops=False, weighted=False, min_nodes=3, max_nodes=5))
def test_options_are_kept(graph):
    assert graph.n_loops == 0
    assert not graph.is_weighted
    assert 3 <= graph.n_nodes <= 5


def test_directed_graphs_reach_one_way_arcs_and_both_ways():
    def is_reversible(graph):
        return np.array_equal(graph.adjacency.toarray(), graph.adjacency.toarray().T)

    assert drawn(graphs(directed=True), lambda g: not is_reversible(g)).directed
    assert drawn(graphs(directed=True, loops=False), lambda g: g.n_edges > 2 and is_reversible(g)).directed


def test_graphs_without_nodes_come_on_request():
    assert drawn(graphs(min_nodes=0), lambda g: g.n_nodes == 0).n_edges == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_nodes": -1}, "min_nodes must be an integer >= 0, not -1"),
        ({"min_nodes": 5, "max_nodes": 3}, "max_nodes must be an integer >= 5, not 3"),
        ({"weighted": False, "min_degree": 2.0}, "min_degree=2.0; give weighted=None"),
    ],
)
def test_impossible_graphs_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        graphs(**options)


@given(adjacencies())
def test_adjacencies_are_the_graph_in_another_dress(pair):
    matrix, graph = pair
    assert gf.Graph.from_adjacency(matrix).sha256 == graph.sha256


@given(adjacencies(graphs(directed=True)))
def test_adjacencies_of_directed_graphs_stay_directed(pair):
    matrix, graph = pair
    assert gf.Graph.from_adjacency(matrix, directed=True).sha256 == graph.sha256


@pytest.mark.parametrize("kind", [list, np.ndarray, sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_adjacencies_reach_each_container(kind):
    assert isinstance(drawn(adjacencies(), lambda pair: type(pair[0]) is kind)[0], kind)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_adjacencies_reach_each_dtype(dtype):
    assert drawn(adjacencies(), lambda pair: getattr(pair[0], "dtype", None) == dtype)


@given(graphs(min_nodes=0), signals(columns=st.none() | st.integers(0, 3), complex=True, dtype=np.float32))
def test_a_recipe_gives_the_same_signal_each_time(graph, signal):
    x = signal(graph)
    assert x.dtype == np.complex64
    assert x.shape[0] == graph.n_nodes
    assert np.array_equal(x, signal(graph))


@given(graphs_with_signals(graphs(max_nodes=4), columns=2))
def test_a_signal_comes_with_its_graph(pair):
    graph, x = pair
    assert x.shape == (graph.n_nodes, 2)


def test_signals_of_a_given_graph_are_arrays():
    graph = gf.Graph.from_edges([(0, 1)])
    assert drawn(signals(graph), lambda x: not np.any(x == 0)).shape == (2,)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_signal_is_drawn(kind):
    assert drawn(signals(), lambda recipe: recipe.kind == kind).kind == kind


def test_the_package_exports_strategies_and_nothing_else():
    assert set(testing.__all__) == {
        name for name in vars(testing) if not name.startswith("_") and name != "annotations"
    }
    for name in testing.__all__:
        assert isinstance(getattr(testing, name)(), SearchStrategy), name


def test_names_cover_the_tables():
    for strategy, names in ((families(), VARIANTS), (channels(), CHANNELS), (isolated_policies(), ("self", "zero"))):
        for name in names:
            assert drawn(strategy, lambda name, wanted=name: name == wanted) == name


def test_families_are_chosen_by_their_properties():
    lazy = families(norm=("sym", "rw"), loops="degree")
    assert {drawn(lazy, lambda name, norm=norm: VARIANTS[name].norm == norm) for norm in ("sym", "rw")} == {
        name for name, row in VARIANTS.items() if row.loops == "degree"
    }
    assert VARIANTS[find(families(norm="none"), lambda name: True)].norm == "none"


def test_gammas_span_six_decades_and_extremes_on_request():
    assert drawn(gammas(), lambda gamma: gamma < 2e-3) >= 1e-3
    assert drawn(gammas(), lambda gamma: gamma > 500) <= 1e3
    assert drawn(gammas(extreme=True), lambda gamma: gamma > 1e200) == 1e300
    assert drawn(gammas(extreme=True), lambda gamma: gamma < 1e-200) == 1e-300


@given(operators(graphs(min_nodes=3), family="renorm_rw", channel="high", gamma=2.0, isolated="zero"))
def test_operators_keep_what_is_fixed(op):
    assert (op.family, op.channel, op.gamma, op.isolated) == ("renorm_rw", "high", 2.0, "zero")
    assert op.graph.n_nodes >= 3


def test_paper_dense_has_a_formula_for_every_family_and_channel():
    path = gf.Graph.from_edges([(0, 1), (1, 2)])
    for family in VARIANTS:
        for channel in CHANNELS:
            assert paper_dense(path, family, channel).shape == (3, 3)


@pytest.mark.parametrize(
    ("actual", "expected", "options", "message"),
    [
        ([1.0, 2.0], [1.0, 2.1], {}, r"differs by 0.1 at \(1,\): 2.0, expected 2.1"),
        ([1.0], [[1.0]], {}, r"shape \(1,\), expected \(1, 1\)"),
        ([np.nan], [np.nan], {}, r"differs by nan at \(0,\)"),
        (1.0 + 1e-13, 1.0, {"n": 1}, "tolerance 1.4e-14"),
        (1.0 + 1e-13, 1.0, {"n": 10, "scale": 0.1}, "tolerance 1.4e-14"),
        (sparse.eye_array(2), np.zeros((2, 2)), {}, r"differs by 1 at \(0, 0\)"),
    ],
)
def test_assert_close_fails_and_says_where(actual, expected, options, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected, **options)


def test_assert_close_takes_the_coarser_precision():
    assert_close(np.float32([1 / 3]), [1 / 3])
    with pytest.raises(AssertionError):
        assert_close(np.float64(np.float32([1 / 3])), [1 / 3])


def test_assert_close_of_nothing_passes():
    assert_close(np.zeros((0, 3)), np.zeros((0, 3)))


def test_size_of_is_the_largest_entry():
    assert size_of(sparse.csr_array([[0.0, -2.0]])) == 2.0
    assert size_of([]) == 0.0
    assert size_of([3 + 4j]) == 5.0
