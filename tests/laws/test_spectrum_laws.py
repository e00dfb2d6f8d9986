"""Laws of the graph Fourier transform; subspaces are compared by projectors, never vector by vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import gsp_fb as gf
from gsp_fb.testing import families, gammas, graphs, operators, signals
from gsp_fb.theory import paper_dense, paper_matrix, tolerance
from gsp_fb.variants import VARIANTS
from tests.support.closeness import assert_close, size_of
from tools.oracles.graphs import CLOSED_FORM, DENSE

SYMMETRIC = families(norm=("none", "sym"))
WALKS = families(norm="rw")
PAIRS = {f"{prefix}sym": f"{prefix}rw" for prefix in ("", "renorm_", "lazy_")}
WITHOUT_ISOLATED = graphs(min_degree=1e-3)


def gamma_of(family, gamma):
    return gamma if VARIANTS[family].has_gamma else None


def looped_degrees(op):
    loops = {"none": 0.0, "unit": op.gamma, "degree": op.gamma * op.graph.degrees}
    return op.graph.degrees + loops[VARIANTS[op.family].loops]


def stretch(op):
    """Condition of the similarity between a walk and its symmetric core."""
    return op.scale.max() / op.scale.min()


@given(operators(family=SYMMETRIC))
def test_the_frequencies_are_the_eigenvalues_of_the_papers_matrix(op):
    matrix = paper_matrix(op)
    assert_close(gf.spectrum(op).frequencies, np.linalg.eigvalsh(matrix), scale=size_of(op.bounds) + 1)


@given(operators(family=WALKS))
def test_the_frequencies_of_a_walk_are_the_eigenvalues_of_its_unsymmetric_matrix(op):
    values = np.sort(np.linalg.eigvals(paper_matrix(op)).real)
    # Bauer-Fike: rounding in an unsymmetric matrix moves its eigenvalues by up to the condition of its vectors.
    assert_close(gf.spectrum(op).frequencies, values, scale=stretch(op))


@given(operators())
def test_frequencies_ascend(op):
    assert np.all(np.diff(gf.spectrum(op).frequencies) >= 0)


@given(operators())
def test_the_modes_are_right_eigenvectors(op):
    modes, matrix = gf.spectrum(op), paper_matrix(op)
    scale = (size_of(op.bounds) + 1) * stretch(op) * size_of(modes.basis)
    assert_close(matrix @ modes.basis, modes.basis * modes.frequencies, scale=scale)


@given(operators(family=SYMMETRIC))
def test_symmetric_modes_are_orthonormal(op):
    basis = gf.spectrum(op).basis
    assert_close(basis.T @ basis, np.eye(op.graph.n_nodes))
    assert_close(basis @ basis.T, np.eye(op.graph.n_nodes))


def test_weights_of_two_sizes_leave_the_modes_orthonormal():
    """Clustered eigenvalues, on which LAPACK's default driver (MRRR) loses three digits of orthogonality."""
    path = gf.Graph.from_edges([(i, i + 1) for i in range(8)], weights=[1.0, 100.0] * 4, n_nodes=10)
    basis = gf.spectrum(gf.operator(path, "comb", "high")).basis
    assert_close(basis.T @ basis, np.eye(10), n=1)


@given(operators(WITHOUT_ISOLATED, family=WALKS))
def test_the_modes_of_a_walk_are_orthonormal_in_the_degree_weighted_product(op):
    basis = gf.spectrum(op).basis
    assert_close(basis.T @ (looped_degrees(op)[:, None] * basis), np.eye(op.graph.n_nodes))


@given(operators(), signals(columns=st.none() | st.integers(0, 3), complex=True))
def test_igft_inverts_gft(op, signal):
    x, modes = signal(op.graph), gf.spectrum(op)
    assert_close(modes.igft(modes.gft(x)), x, scale=stretch(op) * size_of(x))


@given(operators(), signals())
def test_gft_inverts_igft(op, signal):
    c, modes = signal(op.graph), gf.spectrum(op)
    assert_close(modes.gft(modes.igft(c)), c, scale=stretch(op) * size_of(c))


@given(operators(family=SYMMETRIC), signals(complex=True))
def test_parseval_for_symmetric_families(op, signal):
    x = signal(op.graph)
    energy = float(np.sum(np.abs(x) ** 2))
    assert_close(np.sum(np.abs(gf.spectrum(op).gft(x)) ** 2), energy, scale=energy, n=len(x))


@given(operators(WITHOUT_ISOLATED, family=WALKS), signals(complex=True))
def test_parseval_for_walks_weighs_by_the_degrees(op, signal):
    x = signal(op.graph)
    energy = float(np.sum(looped_degrees(op) * np.abs(x) ** 2))
    assert_close(np.sum(np.abs(gf.spectrum(op).gft(x)) ** 2), energy, scale=energy, n=len(x))


@given(operators(), signals())
def test_the_operator_multiplies_coefficients_by_frequencies(op, signal):
    x, modes = signal(op.graph), gf.spectrum(op)
    scale = (size_of(op.bounds) + 1) * size_of(modes.gft(x))
    assert_close(modes.gft(op @ x), modes.frequencies * modes.gft(x), scale=scale)


@pytest.mark.parametrize("sym", PAIRS)
@given(graph=WITHOUT_ISOLATED, gamma=gammas())
def test_sym_and_rw_share_their_frequencies(sym, graph, gamma):
    gamma = gamma_of(sym, gamma)
    expected = np.linalg.eigvalsh(paper_dense(graph, sym, "high", gamma))
    assert_close(gf.spectrum(gf.operator(graph, PAIRS[sym], "high", gamma)).frequencies, expected, scale=2.0)


@pytest.mark.parametrize("sym", PAIRS)
@given(graph=WITHOUT_ISOLATED, gamma=gammas())
def test_the_modes_of_rw_are_those_of_sym_divided_by_the_root_of_the_degree(sym, graph, gamma):
    gamma = gamma_of(sym, gamma)
    op, u_sym = gf.operator(graph, PAIRS[sym], "low", gamma), gf.spectrum(gf.operator(graph, sym, "low", gamma))
    u_rw = u_sym.basis / np.sqrt(looped_degrees(op))[:, None]
    scale = stretch(op) * size_of(u_rw)
    assert_close(paper_matrix(op) @ u_rw, u_rw * u_sym.frequencies, scale=scale)


@given(operators(channel="low"))
def test_affinity_frequencies_are_one_minus_laplacian_frequencies(low):
    mirrored = 1.0 - gf.spectrum(low.complement()).frequencies[::-1]
    assert_close(gf.spectrum(low).frequencies, mirrored, scale=size_of(low.bounds) + 1)


@given(operators(channel="high", isolated="self"))
def test_the_nullity_is_the_number_of_components(op):
    zero = tolerance(op.graph.n_nodes, scale=size_of(op.bounds) + 1)
    assert np.count_nonzero(gf.spectrum(op).frequencies <= zero) == op.graph.n_components


@given(operators(channel="high", isolated="zero", family=families(norm=("sym", "rw"), loops=("none", "degree"))))
def test_an_isolated_node_that_loses_its_value_is_no_component(op):
    zero = tolerance(op.graph.n_nodes, scale=2.0)
    expected = op.graph.n_components - op.graph.n_isolated
    assert np.count_nonzero(gf.spectrum(op).frequencies <= zero) == expected


@given(operators(graphs(connected=True), family=families(norm=("sym", "rw")), channel="low", isolated="self"))
def test_the_top_mode_is_the_root_of_the_degrees(op):
    core = gf.spectrum(op).symmetrized_basis[:, -1]
    degrees = looped_degrees(op) if op.graph.degrees.any() else np.ones(op.graph.n_nodes)
    expected = np.sqrt(degrees / degrees.sum())
    gap = 1.0 - gf.spectrum(op).frequencies[-2] if op.graph.n_nodes > 1 else 1.0
    # Davis-Kahan: a vector is known up to rounding divided by the gap to its neighbours.
    assert_close(np.outer(core, core), np.outer(expected, expected), scale=1.0 / gap)


@given(operators())
def test_the_trace_is_the_sum_of_the_frequencies(op):
    matrix = paper_matrix(op)
    scale = op.graph.n_nodes * (size_of(op.bounds) + 1)
    assert_close(gf.spectrum(op).frequencies.sum(), np.trace(matrix), scale=scale, n=op.graph.n_nodes)


@given(operators(graphs(max_nodes=6)), graphs(max_nodes=6))
def test_the_spectrum_of_a_union_is_the_union_of_the_spectra(op, other):
    def frequencies(graph):
        return gf.spectrum(gf.operator(graph, op.family, op.channel, op.gamma or None, op.isolated)).frequencies

    parts = np.sort(np.concatenate([frequencies(op.graph), frequencies(other)]))
    union = gf.Graph.from_adjacency(sparse.block_diag([op.graph.adjacency, other.adjacency]))
    assert_close(frequencies(union), parts, scale=size_of(parts) + 1)


@given(graphs(), gammas())
def test_lazy_frequencies_are_an_affine_map_of_the_plain_ones(graph, gamma):
    plain = np.linalg.eigvalsh(paper_dense(graph, "sym"))
    lazy = gf.spectrum(gf.operator(graph, "lazy_rw", gamma=gamma)).frequencies
    assert_close(lazy, (gamma + plain) / (1 + gamma))


@given(graphs(), gammas())
def test_lazy_and_plain_walks_share_their_modes(graph, gamma):
    plain = gf.spectrum(gf.operator(graph, "rw"))
    lazy = gf.operator(graph, "lazy_rw", gamma=gamma)
    scale = stretch(plain.operator) * size_of(plain.basis)
    assert_close(lazy @ plain.basis, plain.basis * (gamma + plain.frequencies) / (1 + gamma), scale=scale)


@given(operators(graphs(min_nodes=2)), st.data())
def test_k_modes_are_the_end_of_all_modes(op, data):
    k = data.draw(st.integers(1, op.graph.n_nodes))
    which = data.draw(st.sampled_from(["low", "high"]))
    every = gf.spectrum(op).frequencies
    first = (which == "low") == (op.channel == "high")
    expected = every[:k] if first else every[-k:]
    assert_close(gf.spectrum(op, k, which).frequencies, expected, scale=size_of(every) + 1)


@given(operators(graphs(min_nodes=2)), signals(), st.data())
def test_a_partial_transform_projects(op, signal, data):
    modes = gf.spectrum(op, data.draw(st.integers(1, op.graph.n_nodes)))
    x = signal(op.graph)
    once = modes.igft(modes.gft(x))
    scale = stretch(op) * size_of(x) * stretch(op)
    assert_close(modes.igft(modes.gft(once)), once, scale=scale)


@given(operators(graphs(min_nodes=2, min_degree=1e-3)))
def test_the_eigengap_is_the_ratio_of_the_two_largest_affinity_frequencies(op):
    low = op if op.channel == "low" else op.complement()
    second = np.sort(np.linalg.eigvals(paper_matrix(low)).real)[-2]
    gap = gf.eigengap(op)
    scale = (size_of(low.bounds) + 1) * stretch(op)
    assert_close((gap.lambda_1, gap.lambda_2, gap.ratio), (1.0, second, second), scale=scale, n=op.graph.n_nodes)


ANALYTIC = {
    "path": (lambda i, n: (i, i + 1) if i < n - 1 else None, "comb", lambda k, n: 2 - 2 * np.cos(np.pi * k / n)),
    "ring": (lambda i, n: (i, (i + 1) % n), "sym", lambda k, n: 1 - np.cos(2 * np.pi * k / n)),
    "star": (lambda i, n: (0, i) if i else None, "rw", lambda k, n: 1.0 * (k > 0) + 1.0 * (k == n - 1)),
}


@pytest.mark.parametrize("n_nodes", [3, 4, 9])
@pytest.mark.parametrize("name", ANALYTIC)
def test_textbook_spectra(name, n_nodes):
    edge, family, frequency = ANALYTIC[name]
    graph = gf.Graph.from_edges([pair for i in range(n_nodes) if (pair := edge(i, n_nodes))])
    expected = np.sort([frequency(k, n_nodes) for k in range(n_nodes)])
    assert_close(gf.spectrum(gf.operator(graph, family, "high")).frequencies, expected, scale=4.0)


@pytest.mark.parametrize("n_nodes", [2, 5, 8])
def test_the_complete_graph_has_two_frequencies(n_nodes):
    graph = gf.Graph.from_adjacency(np.ones((n_nodes, n_nodes)), loops="drop")
    expected = [0.0] + [n_nodes / (n_nodes - 1)] * (n_nodes - 1)
    assert_close(gf.spectrum(gf.operator(graph, "sym", "high")).frequencies, expected, scale=2.0)


def partial_values(op, every, k, which):
    """Return the end of all eigenvalues that a partial spectrum is to give."""
    return every[:k] if (which == "low") == (op.channel == "high") else every[-k:]


def assert_is_the_end(op, every, k, which):
    modes = gf.spectrum(op, k, which)
    size = max(1.0, float(np.abs(every).max()))
    assert np.allclose(modes.frequencies, partial_values(op, every, k, which), rtol=0, atol=1e-9 * size)
    basis = modes.symmetrized_basis
    assert np.allclose(basis.T @ basis, np.eye(k), atol=1e-9)
    assert np.abs(op.symmetrized @ basis - basis * modes.frequencies).max() <= 1e-7 * size
    assert op.graph.device != "cpu" or modes.proof in {"dense", "inertia"}


@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("name", CLOSED_FORM)
def test_every_copy_of_a_repeated_frequency_is_found(name, which):
    """k before, through and across groups of equal frequencies."""
    graph, every = CLOSED_FORM[name]()
    for k in (2, 5, 23):
        assert_is_the_end(gf.operator(graph, "comb", channel="high"), every, k, which)


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("name", DENSE)
def test_partial_spectra_of_symmetric_graphs_are_the_ends_of_lapacks(name, family):
    op = gf.operator(DENSE[name](), family, channel="high")
    every = np.linalg.eigvalsh(op.symmetrized.to_scipy().toarray())
    for k, which in ((5, "low"), (12, "high")):
        assert_is_the_end(op, every, k, which)


@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize(
    "name", ["torus 30 x 30", "caveman 60 x 10", "ternary tree", "hypercube 2^10", "3-regular 900"]
)
def test_products_alone_find_every_copy_too(name, which):
    op = gf.operator(DENSE[name](), "sym", channel="high")
    modes = gf.spectrum(op, 12, which, certify=False)
    every = np.linalg.eigvalsh(op.to_scipy().toarray())
    assert np.allclose(modes.frequencies, partial_values(op, every, 12, which), rtol=0, atol=1e-9)
    assert modes.proof in {"dense", "residual"}


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_frequencies_scale_with_the_weights(scale):
    plain = gf.datasets.grid(30, 30)
    source, target, _ = plain.edges()
    scaled = gf.Graph.from_edges(np.stack([source, target], axis=1), weights=np.full(len(source), scale))
    for which in ("low", "high"):
        ours, theirs = (gf.spectrum(gf.operator(graph, "comb", "high"), 6, which) for graph in (scaled, plain))
        assert np.allclose(ours.frequencies / scale, theirs.frequencies, atol=1e-9)
