"""Laws of banks, over all families, kernels and methods; the oracle is the dense matrix and its eigenvectors."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gsp_fb import Graph, filters, operator
from gsp_fb.errors import GspWarning, ParameterError
from gsp_fb.filters import FilterBank
from gsp_fb.testing import families, gammas, graphs, operators, signals
from gsp_fb.testing._signals import SignalRecipe
from tests.support.closeness import size_of

FAMILIES = {
    "heat": lambda: (filters.heat(3.0),),
    "heat_lmax": lambda: (filters.heat(5.0, normalize="lmax"),),
    "wave": lambda: (filters.wave(3.5, speed=1.2), filters.wave(4)),
    "ppr": lambda: (filters.ppr(0.1), filters.rational([1.0, 2.0], [3.0, 0.0, 1.0])),
    "low_high": lambda: (filters.low_pass(), filters.high_pass()),
    "exponential_window": lambda: (filters.exponential_window(0.1, 0.6, slope=2.0),),
    "gabor": lambda: filters.gabor(lambda f: np.exp(-(f**2)), [0.0, 0.7]),
    "mexican_hat": lambda: filters.mexican_hat(4),
    "abspline": lambda: filters.abspline(4),
    "user": lambda: (lambda f: np.sqrt(np.abs(f - 0.3)),),
    **{name: filters.KERNELS[name] for name in filters.TIGHT},
}
SMOOTH = {"heat", "heat_lmax", "wave", "ppr", "low_high", "gabor", "mexican_hat", "regular"}
highs = operators(channel="high")
EVERY_DAY = 60


def at_most(number):
    """Fewer examples where each is dear; a long run takes as many as its profile states."""
    usual = settings.default.max_examples
    return settings(max_examples=min(number, usual) if usual <= EVERY_DAY else usual)


def dense_filter(op, kernel, x):
    """g(op) x from the symmetric dense matrix, by numpy alone."""
    n = op.graph.n_nodes
    matrix = op.to_scipy().toarray()
    core = op.scale[:, None] * matrix / op.scale[None, :]
    values, vectors = np.linalg.eigh((core + core.T) / 2)
    z = vectors @ (kernel(np.clip(values, *op.bounds))[:, None] * (vectors.T @ (op.scale[:, None] * x.reshape(n, -1))))
    return z / op.scale[:, None]


def error_of(op, got, want, x):
    """Largest error of a column relative to the norm of its signal, in the operator's own norm."""
    s = op.scale[:, None]
    size = np.linalg.norm(s * x.reshape(len(x), -1), axis=0)
    return np.max(np.linalg.norm(s * (got - want), axis=0) / np.where(size > 0, size, 1.0), initial=0.0)


def oracle_noise(op, kernel):
    """What the oracle itself cannot know: the change of the kernel within the rounding of an eigenvalue.

    An eigenvalue is rounded as the numbers are that it is the difference of: beside heavy loops 1 - 0.9999.
    """
    low, high = op.bounds
    n = max(op.graph.n_nodes, 8)
    at = np.linspace(low, high, 20001) if high > low else np.array([low])
    values = kernel(at)
    steepest = np.abs(np.diff(values)).max(initial=0.0) / max((high - low) / 20000, 1e-300)
    blur = 4e-16 * n * max(abs(low), abs(high), size_of(op.diag))
    root = np.sqrt(blur) if kernel.name == "<lambda>" else 0.0  # the user's square root has no steepest slope
    return 8 * blur * steepest + root + 4e-15 * n * np.abs(values).max()


@pytest.mark.parametrize("method", ["exact", "chebyshev", "lanczos"])
def test_the_bound_counts_what_cancels_beside_heavy_loops(method):
    # Random walks keep a constant, and so does each kernel that is 1 at frequency 0: no oracle with errors of its own.
    graph = Graph.from_edges([(0, 0), (0, 1), (1, 1)], [1e2, 1e-2, 1e3])
    bank = FilterBank(operator(graph, "rw", channel="high"), FAMILIES["heat_lmax"](), tol=1e-6, method=method)
    x = np.ones((2, 1))
    assert error_of(bank.op, bank.analyze(x)[..., 0], x, x) <= bank.plan(x).error_bound


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("method", ["exact", "chebyshev", "lanczos"])
@at_most(10)
@given(op=highs, recipe=signals(columns=st.sampled_from([None, 2])))
def test_the_error_never_exceeds_the_bound(name, method, op, recipe):
    x = recipe(op.graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GspWarning)
        bank = FilterBank(op, FAMILIES[name](), tol=1e-9 if name in SMOOTH else 1e-2, method=method)
        c = bank.analyze(x)
        plan = bank.plan(x)
    assert c.shape == (*x.shape, len(bank))
    for m, kernel in enumerate(bank.kernels):
        want = dense_filter(op, kernel, x)
        got = c[..., m].reshape(want.shape)
        assert error_of(op, got, want, x) <= plan.error_bound + oracle_noise(op, kernel)


@pytest.mark.parametrize("name", ["heat", "ppr", "mexican_hat", "held", "user"])
@at_most(10)
@given(op=highs, recipe=signals(columns=st.sampled_from([None, 2])), single=st.booleans())
def test_the_achieved_error_is_that_of_the_signal(name, op, recipe, single):
    x = recipe(op.graph).astype(np.float32 if single else np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GspWarning)
        bank = FilterBank(op, FAMILIES[name](), tol=1e-3)
        c = bank.analyze(x)
        found, bound = bank.error(x, c), bank.plan(x).error_bound
    true = max(
        error_of(op, c[..., m].reshape(len(x), -1), dense_filter(op, kernel, x.astype(np.float64)), x)
        for m, kernel in enumerate(bank.kernels)
    )
    noise = max(oracle_noise(op, kernel) for kernel in bank.kernels)
    # Storing coefficients in single precision rounds once more.
    rounding = noise + 4 * np.finfo(x.dtype).eps
    assert true <= found.error + rounding
    assert found.error <= 2 * max(bound, true) + rounding


@pytest.mark.parametrize("method", ["exact", "chebyshev", "lanczos", "cg"])
@at_most(20)
@given(op=highs, recipe=signals(columns=2, dtype=np.float32), rotate=st.booleans())
@example(
    op=operator(Graph.from_edges([(0, 0), (1, 2)], [100.0, 1e-3]), "comb", channel="high"),
    recipe=SignalRecipe("constant", 0, 2, False, np.float32),
    rotate=False,
)  # a heavy loop beside an axis of 0.002: few digits are left, and the plan states it
def test_bounds_hold_in_single_precision_and_for_complex_signals(method, op, recipe, rotate):
    x = recipe(op.graph)
    x = x * np.complex64(0.6 + 0.8j) if rotate else x
    low, high = op.bounds
    # A rational kernel without a pole, as wide as the axis.
    width = max(abs(low), abs(high), 1.0)
    bank = FilterBank(op, filters.rational([1.0, 0.5 / width], [1.0, 0.0, 1.0 / width**2]), method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GspWarning)
        c, plan = bank.analyze(x), bank.plan(x)
    assert c.dtype == x.dtype
    want = dense_filter(op, bank.kernels[0], x)
    # Storing the result and the scaled signal rounds once more each.
    noise = oracle_noise(op, bank.kernels[0]) + 4 * np.finfo(np.float32).eps
    assert error_of(op, c[..., 0], want, x) <= plan.error_bound + noise


@at_most(40)
@given(op=highs, recipe=signals(columns=st.sampled_from([None, 2])))
def test_conjugate_gradients_keep_their_bound(op, recipe):
    x = recipe(op.graph)
    bank = FilterBank(op, FAMILIES["ppr"](), tol=1e-9, method="cg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GspWarning)  # heavy edges make the system too ill-conditioned for tol
        c, bound = bank.analyze(x), bank.plan(x).error_bound
    for m, kernel in enumerate(bank.kernels):
        want = dense_filter(op, kernel, x)
        assert error_of(op, c[..., m].reshape(want.shape), want, x) <= bound + oracle_noise(op, kernel)


@at_most(40)
@given(
    op=highs,
    recipe=signals(columns=2),
    name=st.sampled_from([*filters.TIGHT, "mexican_hat"]),
    method=st.sampled_from(["exact", "chebyshev"]),
)
def test_synthesis_is_the_adjoint(op, recipe, name, method):
    """<analyze(x), c> = <x, synthesize(c)> in the inner product of the operator."""
    bank = FilterBank(op, FAMILIES[name](), tol=0.1, method=method, order=None if method == "exact" else 40)
    x = recipe(op.graph)
    c = np.random.default_rng(0).standard_normal((*x.shape, len(bank)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GspWarning)
        analysed, synthesised = bank.analyze(x), bank.synthesize(c)
    square = op.scale**2
    one = np.einsum("i,ifm,ifm->", square, analysed, c)
    other = np.einsum("i,if,if->", square, x, synthesised)
    size = np.sqrt(np.einsum("i,if->", square, x**2) * np.einsum("i,ifm->", square, c**2))
    assert abs(one - other) <= 1e-9 * size


@given(op=highs, recipe=signals(columns=st.sampled_from([None, 2])), name=st.sampled_from(filters.TIGHT))
def test_tight_banks_keep_the_energy_and_restore_the_signal(op, recipe, name):
    x = recipe(op.graph)
    bank = FilterBank(op, FAMILIES[name](), method="exact", tol=1.0)
    c = bank.analyze(x)
    square = op.scale**2
    energy, kept = (np.tensordot(square, part**2, 1).sum() for part in (x, c))
    assert abs(kept - energy) <= 1e-10 * energy
    restored = bank.synthesize(c)
    assert restored.shape == x.shape
    assert error_of(op, restored.reshape(len(x), -1), x.reshape(len(x), -1), x) <= 1e-10


@at_most(40)
@given(op=highs, recipe=signals(), name=st.sampled_from(["mexican_hat", "heat", "abspline"]))
def test_reconstruction_undoes_analysis(op, recipe, name):
    """With the complement every frequency passes, so exact and iterative reconstruction both give the signal back."""
    x = recipe(op.graph)
    bank = FilterBank(op, FAMILIES[name](), tol=1e-7, method="exact")
    whole = bank + bank.complement(bound=2.0)
    assert whole.is_tight
    least = bank.frame_bounds(np.linspace(*bank.response.interval, 50))[0]
    assume(least > 1e-6)
    restored = bank.reconstruct(bank.analyze(x))
    assert error_of(op, restored[:, None], x[:, None], x) <= 1e-8 / least


@given(graph=graphs(), recipe=signals(columns=2), family=families(), gamma=gammas(), levels=st.integers(1, 4))
@example(Graph.from_edges([(0, 1), (0, 2), (0, 3)], [177.827941] * 3), SignalRecipe("constant", 0, 2), "comb", 1.0, 3)
def test_cascades_restore_the_signal(graph, recipe, family, gamma, levels):
    from gsp_fb.variants import VARIANTS

    x = recipe(graph)
    gamma = gamma if VARIANTS[family].has_gamma else None
    bank = FilterBank.two_channel(graph, family, gamma=gamma, levels=levels)
    bands = bank.analyze(x)
    dense = bank.low.to_scipy().toarray()
    norm = max(1.0, np.abs(dense).sum(axis=1).max())
    want, rounding = x, 0.0
    for high in reversed(bands[1:]):
        # I - L of heavy edges enlarges the rounding of the levels before it, even if it keeps the signal.
        rounding = norm * (rounding + 1e-13 * len(x) * np.abs(want).max())
        assert np.allclose(high, want - dense @ want, rtol=0, atol=rounding)
        want = dense @ want
    largest = max(np.abs(band).max() for band in bands)
    assert np.abs(bank.synthesize(*bands) - x).max() <= 1e-14 * (levels + 1) * largest


@at_most(80)
@given(graph=graphs(max_nodes=9), recipe=signals(columns=2), mask=st.integers(0, 2**9 - 1))
def test_sampled_banks_invert_exactly_when_the_theorem_says_so(graph, recipe, mask):
    keep = np.array([bool(mask >> i & 1) for i in range(graph.n_nodes)])
    bank = FilterBank.two_channel(graph, "lazy_rw")
    dense = bank.low.to_scipy().toarray()
    rows = np.where(keep[:, None], dense, np.eye(len(dense)) - dense)
    scale = bank.low.scale
    smallest = np.linalg.svd(scale[:, None] * rows / scale, compute_uv=False)[-1]
    x = recipe(graph)
    try:
        chosen = bank.sampling(keep)
    except ParameterError:
        assert smallest < 1e-9
        return
    assert smallest > 0
    c = bank.analyze_sampled(x, chosen)
    assert np.allclose(c, rows @ x)
    restored = bank.synthesize_sampled(c, chosen)
    assert np.abs(restored - x).max() <= 1e-12 * chosen.condition * np.abs(x).max() + 1e-300
