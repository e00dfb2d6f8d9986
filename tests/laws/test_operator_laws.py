"""Laws of the product ``op @ x``: the paper's matrices, linearity, forms of the same operator, memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import gsp_fb as gf
from gsp_fb.testing import adjacencies, channels, families, gammas, graphs, isolated_policies, operators, signals
from gsp_fb.theory import paper_dense, paper_matrix
from gsp_fb.variants import CHANNELS, VARIANTS
from tests.support.closeness import assert_close, size_of

ANY_WIDTH = st.none() | st.integers(0, 3)
NORMALISED = families(norm=("sym", "rw"))
WALKS = families(norm="rw")


def gain(matrix):
    """How much a matrix can enlarge a signal, entry by entry: its largest absolute row or column sum."""
    return max(size_of(abs(matrix).sum(axis=0)), size_of(abs(matrix).sum(axis=1)), 1.0)


def added_up(op):
    """The size of the numbers in a product: a heavy loop is in the degree and in the adjacency, but not in D - A."""
    loops = size_of(op.graph.loop_weights) if VARIANTS[op.family].norm == "none" else 0.0
    return gain(paper_matrix(op)) + 2 * loops


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("family", VARIANTS)
@given(
    graph=graphs(min_nodes=0),
    gamma=gammas(extreme=True),
    isolated=isolated_policies(),
    signal=signals(columns=ANY_WIDTH),
)
def test_the_operator_is_the_papers_matrix(family, channel, *, graph, gamma, isolated, signal):
    op = gf.operator(graph, family, channel, gamma if VARIANTS[family].has_gamma else None, isolated)
    x, matrix = signal(op.graph), paper_matrix(op)
    assert_close(op @ x, matrix @ x, scale=added_up(op) * size_of(x))


@given(operators(graphs(directed=True)), signals())
def test_a_directed_operator_uses_out_degrees_on_both_sides(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    assert_close(op @ x, matrix @ x, scale=added_up(op) * size_of(x))


@given(operators(channel="low"))
def test_high_is_the_papers_laplacian(low):
    matrix = paper_matrix(low.complement())
    assert_close(low.complement().to_scipy(), matrix, scale=added_up(low))


HEAVY_LOOP = gf.Graph.from_edges([(0, 0)], [1000.0])


@given(operators(channel="low"), signals())
@example(gf.operator(HEAVY_LOOP, "comb"), lambda graph: np.array([0.12573022]))
def test_low_and_high_share_the_signal(low, signal):
    x = signal(low.graph)
    high = gf.operator(low.graph, low.family, "high", low.gamma or None, low.isolated)
    assert_close(low @ x + high @ x, x, scale=added_up(low) * size_of(x))


@given(operators())
def test_complement_twice_is_the_operator(op):
    assert_close(op.complement().complement().to_scipy(), op.to_scipy(), scale=added_up(op))


@given(graphs(min_degree=1e-3), signals(), families(norm="rw", loops=("none", "unit")), gammas())
def test_the_node_level_forms_are_a_mean_and_a_mean_difference(graph, signal, family, gamma):
    x, A = signal(graph), graph.adjacency.toarray()
    loop = gamma if VARIANTS[family].has_gamma else 0.0
    low, high = np.zeros_like(x), np.zeros_like(x)
    for i in range(graph.n_nodes):
        neighbours = [(x[j], A[i, j]) for j in range(graph.n_nodes) if A[i, j]] + [(x[i], loop)]
        total = sum(weight for _, weight in neighbours)
        low[i] = sum(weight * value for value, weight in neighbours) / total
        high[i] = sum(weight * (x[i] - value) for value, weight in neighbours) / total
    given_gamma = loop or None
    assert_close(gf.operator(graph, family, "low", given_gamma) @ x, low, scale=size_of(x))
    assert_close(gf.operator(graph, family, "high", given_gamma) @ x, high, scale=2 * size_of(x))


@given(graphs(weighted=False, loops=False), signals())
def test_the_renormalised_walk_is_the_mean_over_the_closed_neighbourhood(graph, signal):
    x = signal(graph)
    closed = [np.append(graph.indices[graph.indptr[i] : graph.indptr[i + 1]], i) for i in range(graph.n_nodes)]
    means = [np.mean(x[members]) for members in closed]
    assert_close(gf.operator(graph, "renorm_rw", gamma=1.0) @ x, means, scale=size_of(x))


@given(operators(family=WALKS, channel="low", isolated="self"))
def test_the_rows_of_a_walk_sum_to_one(op):
    assert_close(op @ np.ones(op.graph.n_nodes), np.ones(op.graph.n_nodes))


@given(operators(family=WALKS, channel="low", isolated="self"), signals())
def test_a_walk_stays_between_the_extremes_of_the_signal(op, signal):
    x = signal(op.graph)
    y = op @ x
    slack = 1e-13 * size_of(x)
    assert x.min() - slack <= y.min()
    assert y.max() <= x.max() + slack


@given(operators(family=families(norm="none"), channel="high"), signals(columns=2))
def test_the_combinatorial_laplacian_forgets_a_constant(op, signal):
    x = signal(op.graph)
    scale = added_up(op) * (size_of(x) + 7.0)
    assert_close(op @ (x + 7.0), op @ x, scale=scale)


@given(operators(family=NORMALISED, channel="low"))
def test_an_isolated_node_keeps_or_loses_its_value(op):
    alone = op.graph.degrees == 0
    x = 1.0 + np.arange(op.graph.n_nodes)
    has_own_loop = VARIANTS[op.family].loops == "unit"
    expected = x if op.isolated == "self" or has_own_loop else np.zeros_like(x)
    assert_close((op @ x)[alone], expected[alone], scale=size_of(x))


@given(graphs(min_degree=1e-3), families(), channels(), gammas())
def test_the_isolated_policy_changes_nothing_without_isolated_nodes(graph, family, channel, gamma):
    loop = gamma if VARIANTS[family].has_gamma else None
    as_self, as_zero = (gf.operator(graph, family, channel, loop, policy) for policy in ("self", "zero"))
    assert np.array_equal(as_self.to_scipy().toarray(), as_zero.to_scipy().toarray())


@given(operators(graphs(directed=True)) | operators(), signals())
def test_the_transpose_is_the_transposed_matrix(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    assert_close(op.T @ x, matrix.T @ x, scale=added_up(op) * size_of(x))
    assert_close(op.T.T @ x, op @ x, scale=added_up(op) * size_of(x))


@given(operators(graphs(directed=True)) | operators(), signals(complex=True), signals(complex=True))
def test_the_transpose_moves_to_the_other_side_of_the_inner_product(op, first, second):
    x, y = first(op.graph), second(op.graph)
    scale = added_up(op) * size_of(x) * size_of(y) * op.graph.n_nodes
    assert_close(np.vdot(y, op @ x), np.vdot(op.T @ y, x), scale=scale, n=op.graph.n_nodes)


@given(operators(graphs(directed=True)) | operators())
def test_to_scipy_is_the_matrix(op):
    matrix = paper_matrix(op)
    assert_close(op.to_scipy(), matrix, scale=added_up(op))
    assert_close(op.diagonal, np.diag(matrix), scale=added_up(op))


@given(operators(graphs(directed=True)) | operators(), signals(columns=2))
def test_the_linear_operator_is_the_operator(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    scale = added_up(op) * size_of(x)
    matrix_free = op.linear_operator()
    assert_close(matrix_free @ x[:, 0], matrix @ x[:, 0], scale=scale)
    assert_close(matrix_free @ x, matrix @ x, scale=scale)
    assert_close(matrix_free.T @ x[:, 0], matrix.T @ x[:, 0], scale=scale)
    assert_close(matrix_free.H @ x, matrix.T @ x, scale=scale)


@given(operators(), signals(columns=3), st.sampled_from(["csr", "csc", "coo", "lil"]))
def test_a_sparse_signal_gives_the_dense_answer_and_stays_sparse(op, signal, form):
    x = signal(op.graph)
    y = op @ sparse.csr_array(x).asformat(form)
    assert sparse.issparse(y)
    assert_close(y, op @ x, scale=added_up(op) * size_of(x))


@given(operators(), signals(columns=ANY_WIDTH, dtype=np.float32))
def test_single_precision_stays_single(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    y = op @ x
    assert y.dtype == np.float32
    assert_close(y, matrix @ x.astype(np.float64), scale=added_up(op) * size_of(x))


@given(operators(), signals(complex=True, dtype=np.float32))
def test_single_precision_complex_stays_single(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    y = op @ x
    assert y.dtype == np.complex64
    assert_close(y, matrix @ x.astype(np.complex128), scale=added_up(op) * size_of(x))


@given(operators(), signals(), signals(), st.complex_numbers(max_magnitude=1e3, allow_subnormal=False))
def test_the_product_is_linear_over_the_complex_numbers(op, first, second, factor):
    x, y = first(op.graph), second(op.graph)
    scale = added_up(op) * (abs(factor) * size_of(x) + size_of(y))
    assert_close(op @ (factor * x + 1j * y), factor * (op @ x) + 1j * (op @ y), scale=scale)


@given(operators(), signals(columns=3))
def test_columns_do_not_see_each_other(op, signal):
    x = signal(op.graph)
    one_by_one = np.stack([op @ column for column in x.T], axis=1)
    assert_close(op @ x, one_by_one, scale=added_up(op) * size_of(x))


@given(operators(), signals(columns=ANY_WIDTH))
def test_the_signal_is_left_as_it_was(op, signal):
    x = signal(op.graph)
    x.setflags(write=False)
    op @ x
    assert np.array_equal(x, signal(op.graph))


@given(operators(family=WALKS) | operators())
def test_the_core_is_symmetric_and_similar(op):
    matrix = paper_matrix(op)
    core = op.scale[:, None] * matrix / op.scale[None, :]
    assert_close(op.symmetrized.to_scipy(), core, scale=added_up(op))
    assert_close(core, core.T, scale=added_up(op))


@given(graphs(), families(), channels(), st.randoms(use_true_random=False), signals())
def test_renumbering_the_nodes_renumbers_the_answer(graph, family, channel, random, signal):
    order = list(range(graph.n_nodes))
    random.shuffle(order)
    moved = gf.Graph.from_adjacency(graph.adjacency[order][:, order])
    x = signal(graph)
    scale = gain(paper_dense(graph, family, channel)) * size_of(x)
    there = gf.operator(moved, family, channel) @ x[order]
    assert_close(there, (gf.operator(graph, family, channel) @ x)[order], scale=scale)


@given(operators(graphs(max_nodes=6)), graphs(max_nodes=6))
def test_a_disjoint_union_is_block_diagonal(op, other):
    def like(graph):
        return gf.operator(graph, op.family, op.channel, op.gamma or None, op.isolated).to_scipy()

    whole = like(gf.Graph.from_adjacency(sparse.block_diag([op.graph.adjacency, other.adjacency])))
    assert_close(whole, sparse.block_diag([like(op.graph), like(other)]), scale=gain(whole))


@given(graphs(), families(loops=("none", "degree"), norm=("sym", "rw")), channels(), st.floats(1e-3, 1e3))
def test_the_unit_of_the_weights_cancels_in_normalised_operators(graph, family, channel, unit):
    scaled = gf.Graph.from_adjacency(unit * graph.adjacency)
    matrix = gf.operator(graph, family, channel).to_scipy()
    assert_close(gf.operator(scaled, family, channel).to_scipy(), matrix, scale=gain(matrix))


@given(graphs(), families(loops="unit"), channels(), gammas(), st.floats(1e-3, 1e3))
def test_the_unit_of_the_weights_is_the_unit_of_the_renormalising_loops(graph, family, channel, gamma, unit):
    scaled = gf.Graph.from_adjacency(unit * graph.adjacency)
    matrix = gf.operator(graph, family, channel, gamma).to_scipy()
    assert_close(gf.operator(scaled, family, channel, gamma * unit).to_scipy(), matrix, scale=gain(matrix))


@given(graphs(), families(norm="none"), st.floats(1e-3, 1e3))
@example(gf.Graph.from_edges([(0, 0), (0, 1), (1, 2)], [1e3, 0.1, 0.1]), "comb", 3.0)  # a heavy loop beside light edges
def test_the_combinatorial_laplacian_is_homogeneous_in_the_weights(graph, family, unit):
    scaled = gf.operator(gf.Graph.from_adjacency(unit * graph.adjacency), family, "high")
    expected = unit * gf.operator(graph, family, "high").to_scipy()
    assert_close(scaled.to_scipy(), expected, scale=added_up(scaled))


@given(graphs(min_degree=1e-3), families(norm=("sym", "rw"), loops=("unit", "degree")), channels())
def test_vanishing_loops_leave_the_plain_family(graph, family, channel):
    plain = paper_dense(graph, VARIANTS[family].norm, channel)
    assert_close(gf.operator(graph, family, channel, 1e-300).to_scipy(), plain, scale=gain(plain))


@given(graphs(), families(norm=("sym", "rw"), loops=("unit", "degree")))
def test_overwhelming_loops_leave_the_identity(graph, family):
    assert_close(gf.operator(graph, family, gamma=1e300).to_scipy(), np.eye(graph.n_nodes))


@given(graphs(), st.sampled_from(["sym", "rw"]), channels(), gammas())
def test_lazy_adds_the_degree_as_a_loop(graph, norm, channel, gamma):
    looped = gf.Graph.from_adjacency(graph.adjacency + gamma * sparse.diags_array(graph.degrees))
    plain = gf.operator(looped, norm, channel).to_scipy()
    assert_close(gf.operator(graph, f"lazy_{norm}", channel, gamma).to_scipy(), plain, scale=gain(plain))


@given(graphs(), st.sampled_from(["sym", "rw"]), channels(), gammas())
def test_renormalising_adds_gamma_as_a_loop(graph, norm, channel, gamma):
    looped = gf.Graph.from_adjacency(graph.adjacency + gamma * sparse.eye_array(graph.n_nodes))
    plain = gf.operator(looped, norm, channel).to_scipy()
    assert_close(gf.operator(graph, f"renorm_{norm}", channel, gamma).to_scipy(), plain, scale=gain(plain))


@given(operators(family=WALKS, channel="low"))
def test_the_looped_degrees_are_a_stationary_distribution(op):
    added = {"none": 0.0, "unit": op.gamma, "degree": op.gamma * op.graph.degrees}
    degrees = op.graph.degrees + added[VARIANTS[op.family].loops]
    assert_close(op.T @ degrees, degrees, scale=size_of(degrees))


@given(graphs(), gammas(), signals())
def test_a_lazy_walk_commutes_with_the_walk(graph, gamma, signal):
    walk, lazy, x = gf.operator(graph, "rw"), gf.operator(graph, "lazy_rw", gamma=gamma), signal(graph)
    assert_close(walk @ (lazy @ x), lazy @ (walk @ x), scale=size_of(x))


@given(adjacencies(), families(), channels())
def test_the_container_of_the_adjacency_does_not_matter(pair, family, channel):
    matrix, graph = pair
    expected = paper_dense(graph, family, channel)
    actual = gf.operator(gf.Graph.from_adjacency(matrix), family, channel).to_scipy()
    assert_close(actual, expected, scale=gain(expected))


@given(graphs(), channels())
def test_all_operators_of_a_graph_share_its_arrays(graph, channel):
    indices, data = graph.adjacency.indices, graph.adjacency.data
    for family in VARIANTS:
        for op in (gf.operator(graph, family, channel), gf.operator(graph, family, channel).complement()):
            assert op.graph is graph
            assert op.symmetrized.graph is graph
            assert op.T.graph is graph
            assert graph.n_edges == 0 or np.shares_memory(op.graph.adjacency.indices, indices)
            assert graph.n_edges == 0 or np.shares_memory(op.graph.adjacency.data, data)


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_switching_the_variant_allocates_vectors_only(weight):
    n_nodes = 400
    graph = gf.Graph.from_adjacency(np.full((n_nodes, n_nodes), weight))
    first = gf.operator(graph, "sym")
    first @ np.ones(n_nodes)
    tracemalloc.start()
    try:
        kept = [gf.operator(graph, family, channel) for family in VARIANTS for channel in CHANNELS]
        kept += [op.T for op in kept] + [op.symmetrized for op in kept] + [op.complement() for op in kept]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    vectors_each = 12
    assert peak < vectors_each * 8 * n_nodes * len(kept)
    assert peak / len(kept) < graph.indices.nbytes / 10
