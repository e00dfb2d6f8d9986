"""Laws of the energies and of S, against sums over edges, over modes, and the plain quadratic form."""

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import sparse

import gsp_fb as gf
from gsp_fb.testing import families, graphs, operators, signals
from gsp_fb.testing._signals import SignalRecipe
from gsp_fb.theory import paper_matrix
from gsp_fb.variants import VARIANTS
from tests.support.closeness import assert_close, size_of

SYMMETRIC = families(norm=("none", "sym"))
ANY_WIDTH = st.none() | st.integers(1, 3)


def highs(graph=None, family=None):
    return operators(graph, family=family, channel="high")


def spread_out(op):
    """How far the weights of the operator's inner product lie apart, as a ratio of lengths."""
    return size_of(op.scale) / float(np.min(op.scale, initial=1.0))


def absolute_form(op, x):
    """The size of the terms that a quadratic form adds up.

    In ``D - A`` a loop cancels, but it was in the degree and in the adjacency: both count.
    """
    x = np.abs(x).reshape(len(x), -1)
    loops = 2 * op.graph.loop_weights if VARIANTS[op.family].norm == "none" else np.zeros(len(x))
    return float(np.sum(x * (np.abs(paper_matrix(op)) @ x + (1 + loops)[:, None] * x)))


@given(graphs(), signals(columns=ANY_WIDTH, complex=True))
def test_signal_energy_is_the_sum_of_squares(graph, signal):
    x = signal(graph)
    expected = np.linalg.norm(x) ** 2
    assert_close(gf.signal_energy(x), expected, scale=expected, n=len(x))


@given(highs() | highs(graphs(directed=True)), signals(columns=ANY_WIDTH))
def test_dirichlet_energy_is_the_papers_quadratic_form(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    expected = np.trace(x.reshape(len(x), -1).T @ matrix @ x.reshape(len(x), -1))
    assert_close(gf.dirichlet_energy(op, x, inner="plain"), expected, scale=absolute_form(op, x), n=len(x))


@given(highs(), signals(columns=ANY_WIDTH))
def test_energies_are_those_of_the_inner_product_in_which_the_operator_is_self_adjoint(op, signal):
    x, weights = signal(op.graph), np.diag(op.scale**2)
    form = weights @ paper_matrix(op)
    columns = x.reshape(len(x), -1)
    scale = absolute_form(op, x) * size_of(op.scale) ** 2
    assert_close(form, form.T, scale=size_of(form), n=len(x))
    assert_close(gf.dirichlet_energy(op, x), np.trace(columns.T @ form @ columns), scale=scale, n=len(x))
    assert_close(gf.signal_energy(x, op), np.trace(columns.T @ weights @ columns), scale=scale, n=len(x))


@given(highs(family=SYMMETRIC), signals())
def test_dirichlet_energy_is_the_frequency_weighted_sum_over_modes(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    frequencies, modes = np.linalg.eigh(matrix)
    expected = np.sum(frequencies * (modes.T @ x) ** 2)
    scale = (size_of(op.bounds) + 1) * float(x @ x)
    assert_close(gf.dirichlet_energy(op, x), expected, scale=scale, n=len(x))


@given(highs(family=SYMMETRIC), signals())
def test_nonsmooth_energy_has_the_square_that_the_paper_lacks(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    frequencies, modes = np.linalg.eigh(matrix)
    expected = np.sum((1 - frequencies) * np.abs(modes.T @ x) ** 2)
    scale = (size_of(op.bounds) + 1) * float(x @ x)
    assert_close(gf.nonsmooth_energy(op, x), expected, scale=scale, n=len(x))


@given(highs(family=families(norm="none")), signals())
@example(
    gf.operator(gf.Graph.from_adjacency([[1e3, 0.1], [0.1, 0.0]]), "comb", "high"), SignalRecipe("wide", 2)
)  # a heavy loop: 1000 x^2 - 1000 x^2 leaves its rounding
def test_combinatorial_dirichlet_energy_is_a_sum_over_edges(op, signal):
    x, A = signal(op.graph), op.graph.adjacency.tocoo()
    expected = 0.5 * np.sum(A.data * (x[A.row] - x[A.col]) ** 2)
    assert_close(gf.dirichlet_energy(op, x), expected, scale=absolute_form(op, x), n=len(x))


@given(highs(graphs(min_degree=1e-3), families(norm="sym", loops="none")), signals())
def test_symmetric_dirichlet_energy_is_a_sum_over_edges_of_scaled_differences(op, signal):
    x, A = signal(op.graph), op.graph.adjacency.tocoo()
    scaled = x / np.sqrt(op.graph.degrees)
    expected = 0.5 * np.sum(A.data * (scaled[A.row] - scaled[A.col]) ** 2)
    assert_close(gf.dirichlet_energy(op, x), expected, scale=absolute_form(op, x), n=len(x))


@given(highs(family=SYMMETRIC), signals(columns=2, complex=True))
def test_dirichlet_energy_of_a_symmetric_family_is_not_negative(op, signal):
    x = signal(op.graph)
    assert gf.dirichlet_energy(op, x) >= -1e-13 * absolute_form(op, x)


@given(highs(), signals(columns=ANY_WIDTH, complex=True))
def test_smooth_and_nonsmooth_energy_add_up(op, signal):
    x = signal(op.graph)
    scale = absolute_form(op, x) * size_of(op.scale) ** 2
    for inner in (None, "plain"):
        total = gf.dirichlet_energy(op, x, inner=inner) + gf.nonsmooth_energy(op, x, inner=inner)
        assert_close(total, gf.signal_energy(x, op, inner=inner), scale=scale, n=len(x))


@given(highs(), signals(columns=ANY_WIDTH, complex=True))
def test_s_lies_between_the_bounds(op, signal):
    x = signal(op.graph)
    assume(np.any(x))
    low, high = op.bounds
    slack = 1e-13 * op.graph.n_nodes * max(high, 1.0)
    assert low - slack <= gf.s_value(op, x) <= high + slack


@given(highs(family=SYMMETRIC), st.data())
def test_s_of_a_mode_is_its_frequency(op, data):
    frequencies, modes = np.linalg.eigh(paper_matrix(op))
    at = data.draw(st.integers(0, op.graph.n_nodes - 1))
    scale = size_of(op.bounds) + 1
    assert_close(gf.s_value(op, modes[:, at]), frequencies[at], scale=scale, n=op.graph.n_nodes)


@given(highs(), signals(columns=ANY_WIDTH), st.floats(1e-3, 1e3), st.sampled_from([1, -1, 1j]))
def test_s_does_not_see_the_unit_of_the_signal(op, signal, size, phase):
    x = signal(op.graph)
    assume(np.any(x))
    scale = absolute_form(op, x) / float(np.sum(x**2)) * spread_out(op) ** 2
    assert_close(gf.s_value(op, size * phase * x), gf.s_value(op, x), scale=scale, n=len(x))


@given(highs(), signals(columns=ANY_WIDTH))
def test_s_is_the_ratio_of_the_energies(op, signal):
    x = signal(op.graph)
    assume(np.any(x))
    scale = absolute_form(op, x) / float(np.sum(x**2))
    for inner in (None, "plain"):
        ratio = gf.dirichlet_energy(op, x, inner=inner) / gf.signal_energy(x, op, inner=inner)
        assert_close(gf.s_value(op, x, inner=inner), ratio, scale=scale * spread_out(op) ** 2, n=len(x))


@given(highs(), signals(columns=3))
def test_columns_add_up_to_the_block(op, signal):
    x = signal(op.graph)
    scale = absolute_form(op, x) * max(1.0, size_of(op.scale)) ** 2
    for energy in (gf.dirichlet_energy, gf.nonsmooth_energy):
        columns = energy(op, x, per_column=True)
        assert columns.shape == (3,)
        assert_close(columns, [energy(op, column) for column in x.T], scale=scale, n=len(x))
        assert_close(columns.sum(), energy(op, x), scale=scale, n=len(x))


@given(highs(), signals(columns=2))
def test_s_per_column_is_s_of_each_column(op, signal):
    x = signal(op.graph)
    assume(np.all(np.any(x, axis=0)))
    scale = max(absolute_form(op, column) / float(column @ column) for column in x.T) * spread_out(op) ** 2
    expected = [gf.s_value(op, column) for column in x.T]
    assert_close(gf.s_value(op, x, per_column=True), expected, scale=scale, n=len(x))


@given(highs(), signals(columns=2), signals(columns=2))
def test_the_energy_of_a_complex_signal_is_that_of_its_two_parts(op, first, second):
    x, y = first(op.graph), second(op.graph)
    parts = gf.dirichlet_energy(op, x) + gf.dirichlet_energy(op, y)
    scale = absolute_form(op, np.abs(x) + np.abs(y))
    assert_close(gf.dirichlet_energy(op, x + 1j * y), parts, scale=scale, n=len(x))


@given(highs(), signals(columns=3))
def test_a_sparse_signal_has_the_energy_of_the_dense_one(op, signal):
    x = signal(op.graph)
    scale = absolute_form(op, x)
    assert_close(gf.signal_energy(sparse.csr_array(x)), gf.signal_energy(x), scale=scale, n=len(x))
    for energy in (gf.dirichlet_energy, gf.nonsmooth_energy):
        assert_close(energy(op, sparse.csc_array(x)), energy(op, x), scale=scale, n=len(x))


@given(highs(), signals(columns=2, dtype=np.float32))
def test_single_precision_signals_are_summed_in_double(op, signal):
    x = signal(op.graph)
    wide = x.astype(np.float64)
    scale = absolute_form(op, wide)
    assert_close(gf.dirichlet_energy(op, x), gf.dirichlet_energy(op, wide), scale=scale, n=len(x))


@given(highs(graphs(directed=True)) | highs(family=families(norm="rw")), signals())
def test_an_unsymmetric_matrix_has_the_energy_of_its_symmetric_part(op, signal):
    x, matrix = signal(op.graph), paper_matrix(op)
    expected = x @ ((matrix + matrix.T) / 2) @ x
    assert_close(gf.dirichlet_energy(op, x, inner="plain"), expected, scale=absolute_form(op, x), n=len(x))


def test_the_energy_on_a_directed_graph_can_be_negative():
    inward = gf.Graph.from_edges([(i, 0) for i in range(1, 17)] + [(0, 1)], directed=True)
    x = np.array([4.0] + [1.0] * 16)
    op = gf.operator(inward, "sym", "high", isolated="zero")
    assert_close(gf.dirichlet_energy(op, x), 32.0 - 4.0 * 17, scale=100.0, n=17)


@given(highs(family=SYMMETRIC))
def test_the_root_of_the_degrees_has_no_energy(op):
    assume(op.isolated == "self")
    loops = {"sym": op.graph.degrees, "renorm_sym": op.graph.degrees + op.gamma, "lazy_sym": op.graph.degrees}
    x = np.sqrt(loops.get(op.family, np.ones(op.graph.n_nodes)))
    assert_close(gf.dirichlet_energy(op, x), 0.0, scale=absolute_form(op, x), n=len(x))


@given(graphs(connected=True, min_nodes=2, loops=False, weighted=False))
def test_a_signal_rougher_than_its_own_energy_exists(graph):
    """Both the remark that E_NS can be negative and that S can exceed 1."""
    op = gf.operator(graph, "sym", "high")
    roughest = np.linalg.eigh(paper_matrix(op))[1][:, -1]
    assert gf.nonsmooth_energy(op, roughest) < 0
    assert gf.s_value(op, roughest) > 1
