import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from gsp_fb import Graph, filters, operator
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.filters import TIGHT, FilterBank, heat, mexican_hat, meyer
from gsp_fb.spectrum import spectrum
from gsp_fb.variants import VARIANTS


def random_graph(n, mean_degree=6, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n, (n * mean_degree // 2, 2))
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    pairs = np.concatenate([ring, pairs[pairs[:, 0] != pairs[:, 1]]])
    return Graph.from_edges(pairs, symmetrize="max", duplicates="first")


SMALL, LARGE = random_graph(40), random_graph(700)
RNG = np.random.default_rng(1)


def high(graph, family="sym"):
    return operator(graph, family, channel="high")


@pytest.mark.parametrize("graph", [SMALL, LARGE])
@pytest.mark.parametrize("family", VARIANTS)
def test_shapes_are_never_squeezed_or_guessed(graph, family):
    n = graph.n_nodes
    for n_filters in (1, 3):
        bank = FilterBank(high(graph, family), [heat(t + 1.0) for t in range(n_filters)])
        for shape in ((n,), (n, 1), (n, n_filters), (n, 0)):
            c = bank.analyze(RNG.standard_normal(shape))
            assert c.shape == (*shape, n_filters)
            assert bank.synthesize(c).shape == shape


@pytest.mark.parametrize("family", VARIANTS)
def test_polynomial_and_basis_agree_on_a_graph_of_700_nodes(family):
    op, x = high(LARGE, family), RNG.standard_normal((700, 2))
    exact = FilterBank(op, mexican_hat(4), method="exact").analyze(x)
    bank = FilterBank(op, mexican_hat(4), tol=1e-10)
    assert bank.plan(x).method == "chebyshev"
    size = np.linalg.norm(op.scale[:, None] * x)
    assert np.linalg.norm(op.scale[:, None, None] * (bank.analyze(x) - exact)) <= 4 * 1e-10 * size


@pytest.mark.parametrize("graph", [SMALL, LARGE])
def test_columns_are_filtered_one_by_one_and_sparse_signals_as_dense_ones(graph):
    bank = FilterBank(high(graph, "lazy_rw"), meyer(3), tol=1e-3)
    x = RNG.standard_normal((graph.n_nodes, 3)) * (RNG.random((graph.n_nodes, 3)) < 0.2)
    whole = bank.analyze(x)
    for j in range(3):
        assert_allclose(whole[:, j], bank.analyze(x[:, j]), atol=1e-12)
    assert_allclose(bank.analyze(sparse.csr_array(x)), whole, atol=1e-14)
    assert_allclose(bank.analyze((1 + 2j) * x), (1 + 2j) * whole, atol=1e-12)
    single = bank.analyze(x.astype(np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, whole, atol=2e-5)


@pytest.mark.parametrize("name", TIGHT)
@pytest.mark.parametrize("family", VARIANTS)
def test_tight_families_have_frame_bounds_one_on_every_operator(name, family):
    op = high(SMALL, family)
    bank = FilterBank(op, filters.KERNELS[name]())
    assert bank.is_tight
    assert_allclose(bank.frame_bounds(), 1, atol=1e-12)
    assert_allclose(bank.frame_bounds(spectrum(op).frequencies), 1, atol=1e-12)


def test_frame_bounds_are_attained():
    op = high(SMALL)
    bank = FilterBank(op, mexican_hat(5))
    modes = spectrum(op)
    least, greatest = bank.frame_bounds(modes.frequencies)
    gains = [np.sum(bank.analyze(modes.basis[:, k]) ** 2) for k in range(40)]
    assert_allclose([min(gains), max(gains)], [least, greatest], rtol=1e-10)
    outer = bank.frame_bounds()
    assert outer[0] <= least
    assert greatest <= outer[1]
    assert not bank.is_tight


def test_complement_makes_it_tight():
    bank = FilterBank(high(SMALL), mexican_hat(5))
    _, greatest = bank.frame_bounds()
    assert_allclose((bank + bank.complement()).frame_bounds(), greatest, rtol=1e-12)
    assert_allclose((bank + bank.complement(3.0)).frame_bounds(), 3.0, rtol=1e-12)
    with pytest.raises(ParameterError, match="bound must be at least"):
        bank.complement(1e-3)


@pytest.mark.parametrize("graph", [SMALL, LARGE])
@pytest.mark.parametrize("family", ["sym", "comb", "renorm_rw"])
@pytest.mark.parametrize("kernels", [mexican_hat(4), meyer(4), (heat(0.5), heat(0.1))], ids=["hat", "meyer", "heat"])
def test_reconstruction(graph, family, kernels):
    op = high(graph, family)
    bank = FilterBank(op, kernels, tol=1e-6)
    bank = bank + bank.complement(3.0) if family == "comb" else bank
    x = RNG.standard_normal((graph.n_nodes, 2))
    restored = bank.reconstruct(bank.analyze(x))
    condition = np.divide(*bank.frame_bounds()[::-1])
    assert np.linalg.norm(op.scale[:, None] * (restored - x)) <= 1e-5 * condition * np.linalg.norm(
        op.scale[:, None] * x
    )
    assert bank.reconstruct(bank.analyze(x[:, 0])).shape == (graph.n_nodes,)


def test_dual_synthesis_inverts_and_is_the_least_squares_answer():
    op = high(SMALL)
    bank = FilterBank(op, mexican_hat(4))
    c = RNG.standard_normal((40, 4))
    matrix = np.concatenate([FilterBank(op, k).analyze(np.eye(40))[..., 0] for k in bank.kernels])
    want = np.linalg.lstsq(matrix, c.T.ravel(), rcond=None)[0]
    assert_allclose(bank.dual().synthesize(c), want, atol=1e-10)
    assert_allclose(bank.reconstruct(c), want, atol=1e-10)


def test_what_no_filter_passes_cannot_be_restored():
    bank = FilterBank(high(SMALL), filters.ideal(0.0, 0.5))
    with pytest.raises(ParameterError, match="no filter of the bank passes frequency"):
        bank.reconstruct(bank.analyze(np.ones(40)))
    narrow = FilterBank(high(LARGE), heat(20.0), tol=1e-6)
    with pytest.raises(ParameterError, match=r"add bank\.complement"):
        narrow.reconstruct(narrow.analyze(np.ones(700)))


def test_banks_are_sequences_of_filters():
    bank = FilterBank(high(SMALL), meyer(4))
    assert len(bank) == 4
    assert [part.kernels[0].name for part in bank] == [kernel.name for kernel in bank.kernels]
    assert len(bank[1:3]) == 2
    x = RNG.standard_normal(40)
    assert_allclose(bank[-1].analyze(x)[:, 0], bank.analyze(x)[:, 3])
    assert_allclose((bank[:1] + bank[1:]).analyze(x), bank.analyze(x))
    with pytest.raises(IndexError):
        bank[4]
    with pytest.raises(ParameterError, match="two operators"):
        bank + FilterBank(high(LARGE), meyer(4))
    with pytest.raises(TypeError):
        bank + 1


def test_localize_is_a_column_of_the_filter():
    bank = FilterBank(high(SMALL, "rw"), [heat(1.0), heat(3.0)])
    assert_allclose(bank.localize(7), bank.analyze(np.eye(40))[:, 7])
    for node, message in ((40, "node 40 is not in the graph"), (-1, "node must be an integer >= 0")):
        with pytest.raises(ParameterError, match=message):
            bank.localize(node)


def test_heat_on_the_walk_is_scipys_exponential():
    from scipy.linalg import expm

    for family in VARIANTS:
        op = high(SMALL, family)
        want = expm(-1.5 * op.to_scipy().toarray())
        assert_allclose(FilterBank(op, heat(1.5)).analyze(np.eye(40))[..., 0], want, atol=1e-12)


@pytest.mark.parametrize("n", [700, 701])
def test_ring_filters_are_circular_convolutions(n):
    """Closed form: the frequencies of a ring are 1 - cos(2 pi k / n) and the modes are Fourier's."""
    op = high(Graph.from_edges([(i, (i + 1) % n) for i in range(n)]))
    x = RNG.standard_normal(n)
    frequencies = 1 - np.cos(2 * np.pi * np.arange(n) / n)
    bank = FilterBank(op, [heat(4.0), *mexican_hat(3, lmax=2.0)], tol=1e-11)
    c = bank.analyze(x)
    assert bank.plan(x).method == "chebyshev"
    for m, kernel in enumerate(bank.kernels):
        assert_allclose(c[:, m], np.fft.ifft(kernel(frequencies) * np.fft.fft(x)).real, atol=1e-10)


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("kernels", [heat(5.0), meyer(4), np.cos], ids=["heat", "meyer", "callable"])
def test_low_channels_are_refused_with_the_remedy(family, kernels):
    low = operator(SMALL, family)
    with pytest.raises(ParameterError, match=r"is a low channel: give op\.complement\(\)"):
        FilterBank(low, kernels)
    assert len(FilterBank(low.complement(), kernels))


def test_a_kernel_that_begins_above_the_spectrum_is_refused():
    root = filters.Kernel(np.sqrt, "root", lower_bound=0.5)
    with pytest.raises(ParameterError, match=r"begins at frequency 0\.5 but .* has eigenvalues down to 0"):
        FilterBank(high(SMALL), root)


def test_directed_graphs_are_refused_with_the_remedy():
    op = operator(Graph.from_edges([(0, 1), (1, 2)], directed=True), "rw", channel="high")
    with pytest.raises(GraphError, match="symmetrize="):
        FilterBank(op, heat(1.0))


@pytest.mark.parametrize(
    ("c", "message"),
    [
        (np.ones(40), r"\(40,\); they must be \(40, 3\)"),
        (np.ones((40, 2)), "filters last"),
        (np.ones((39, 3)), "nodes first"),
        (np.ones((40, 2, 3, 1)), "shape"),
        (np.full((40, 3), np.nan), "finite"),
    ],
)
def test_bad_coefficients(c, message):
    with pytest.raises(SignalError, match=message):
        FilterBank(high(SMALL), meyer(3)).synthesize(c)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FilterBank(SMALL, heat(1.0)), "an operator is needed, not Graph"),
        (lambda: FilterBank(high(SMALL), []), "at least one kernel"),
        (lambda: FilterBank(high(SMALL), heat(1.0), tol=0.0), "tol must be finite and > 0"),
        (lambda: FilterBank(high(SMALL), heat(1.0), method="chebychev"), "did you mean 'chebyshev'"),
        (lambda: FilterBank(high(SMALL), [meyer(3)]), "must be a Kernel or a function"),
        (lambda: FilterBank(high(SMALL), heat(1.0), method="cg").analyze(np.ones(40)), "is not rational"),
        (lambda: FilterBank(high(SMALL), filters.rational([1.0], [1.0, -0.9]), method="cg").plan(), "vanishes"),
    ],
)
def test_bad_banks(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_bank_is_frozen_and_leaves_the_signal_alone():
    bank = FilterBank(high(LARGE), meyer(3), tol=1e-3)
    x = RNG.standard_normal((700, 2))
    before = x.copy()
    c = bank.analyze(x)
    kept = c.copy()
    bank.synthesize(c)
    assert_array_equal(x, before)
    assert_array_equal(c, kept)
    with pytest.raises(AttributeError):
        bank.tol = 1.0
    copy = pickle.loads(pickle.dumps(bank))
    assert_allclose(copy.analyze(x), kept, rtol=0, atol=1e-14)


@pytest.mark.parametrize("n_edges", [0, 1])
@pytest.mark.parametrize("n", [1, 3, 600])
def test_graphs_with_next_to_no_edges(n, n_edges):
    graph = Graph.from_edges([(0, min(1, n - 1))][:n_edges], n_nodes=n)
    for family in VARIANTS:
        bank = FilterBank(high(graph, family), [heat(1.0), *meyer(3)], tol=1e-4)
        x = RNG.standard_normal(n)
        assert np.isfinite(bank.analyze(x)).all()
        if not n_edges:
            assert_allclose(bank.analyze(x)[:, 0] / x, bank.analyze(x)[0, 0] / x[0], rtol=1e-4)


def test_plot_draws_every_kernel():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bank = FilterBank(high(SMALL), meyer(3))
    _, ax = plt.subplots()
    assert bank.plot(ax=ax) is ax
    assert [line.get_label() for line in ax.lines][:3] == [kernel.name for kernel in bank.kernels]
    assert len(bank.plot().lines) == 4
    plt.close("all")


def test_a_graph_without_nodes_has_empty_outputs():
    bank = FilterBank(high(Graph.from_edges([], n_nodes=0)), [heat(1.0), heat(2.0)])
    assert bank.analyze(np.zeros((0, 3))).shape == (0, 3, 2)
    assert bank.synthesize(np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize("method", ["chebyshev", "lanczos", "cg"])
@pytest.mark.parametrize("family", ["sym", "renorm_rw"])
def test_every_method_synthesises_the_same(method, family):
    op = high(SMALL, family)
    kernels = [filters.ppr(0.2), filters.rational([1.0], [1.0, 2.0])]
    c = RNG.standard_normal((40, 3, 2))
    want = FilterBank(op, kernels, method="exact").synthesize(c)
    assert_allclose(FilterBank(op, kernels, tol=1e-11, method=method).synthesize(c), want, atol=1e-9)


def test_iterations_that_do_not_arrive_say_so():
    from gsp_fb.errors import ConvergenceError
    from gsp_fb.solvers import System, solve

    spread = np.geomspace(1.0, 1e6, 50)[:, None]
    with pytest.raises(ConvergenceError, match=r"residual of .* after 3 steps"):
        solve(System(lambda v: spread * v, np.ones(50)), np.ones((50, 1)), 1e-8, max_steps=3)
