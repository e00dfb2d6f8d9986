import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.fft import idctn

from gsp_fb import Graph, operator
from gsp_fb._lanczos import cumulative_bounds, gauss_rule, lanczos
from gsp_fb.datasets import grid
from gsp_fb.energy.density import lambda_max, spectral_density
from gsp_fb.energy.profile import Measure, energy_profile
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.variants import VARIANTS

RNG = np.random.default_rng(4)


def torus(a, b):
    """A product of two rings, and its frequencies in closed form."""
    i, j = (part.ravel() for part in np.meshgrid(np.arange(a), np.arange(b), indexing="ij"))
    node = i * b + j
    edges = np.concatenate([np.stack([node, (i + 1) % a * b + j], 1), np.stack([node, i * b + (j + 1) % b], 1)])
    rings = [np.cos(2 * np.pi * np.arange(size) / size) for size in (a, b)]
    return Graph.from_edges(edges), 1 - (rings[0][:, None] + rings[1][None, :]) / 2


def spectral_energy(x):
    return np.abs(np.fft.fft2(x)) ** 2 / x.size


BIG, FREQUENCIES = torus(251, 263)
SIGNALS = {
    "delta": np.eye(1, 251 * 263).reshape(251, 263),
    "smooth": np.fft.ifft2(np.exp(-3 * FREQUENCIES) * np.fft.fft2(RNG.standard_normal((251, 263)))).real,
    "rough": np.fft.ifft2(FREQUENCIES * np.fft.fft2(RNG.standard_normal((251, 263)))).real,
}


@pytest.fixture
def rng():
    """The same numbers for a test whatever ran before it."""
    return np.random.default_rng(4)


@pytest.mark.parametrize("name", SIGNALS)
def test_eleven_bands_after_eighty_products(name):
    x = SIGNALS[name]
    profile = energy_profile(operator(BIG, "sym", channel="high"), x.ravel(), bins=11, matvecs=80)
    weights = spectral_energy(x)
    want = np.histogram(FREQUENCIES, profile.edges, weights=weights)[0]
    assert profile.matvecs == 80
    assert np.abs(profile.energy - want).sum() / profile.total <= 0.005
    below = np.concatenate([[0.0], np.cumsum(want)])
    assert np.all(profile.lower <= below + 1e-9 * profile.total)
    assert np.all(profile.upper >= below - 1e-9 * profile.total)
    assert_allclose(profile.fraction.sum(), 1, rtol=1e-12)
    moments = [np.sum(weights * FREQUENCIES**k) for k in range(3)]
    assert_allclose(profile.moments, moments, rtol=1e-11)


GRID_SHAPES = {
    "white": np.ones_like,
    "smooth": lambda frequency: 1 / (1 + 5 * frequency),
    "rough": lambda frequency: frequency,
}


@pytest.mark.parametrize("name", GRID_SHAPES)
def test_eleven_bands_on_a_grid_of_316_by_316(name):
    side = 2 - 2 * np.cos(np.pi * np.arange(316) / 316)
    frequency = side[:, None] + side
    coefficients = GRID_SHAPES[name](frequency) * np.random.default_rng(1).standard_normal((316, 316))
    x = idctn(coefficients, norm="ortho").ravel()
    profile = energy_profile(operator(grid(316, 316), "comb", channel="high"), x, bins=11, matvecs=80)
    exact = np.histogram(frequency, profile.edges, weights=coefficients**2)[0] / np.sum(coefficients**2)
    assert np.abs(profile.fraction - exact).sum() <= 0.005


@pytest.mark.parametrize("products", [5, 20, 60])
def test_bounds_hold_and_close_in(products, rng):
    graph, frequencies = torus(31, 43)
    x = rng.standard_normal((31, 43))
    profile = energy_profile(operator(graph, "sym", channel="high"), x.ravel(), bins=20, matvecs=products)
    want = np.histogram(frequencies, profile.edges, weights=spectral_energy(x))[0]
    below = np.concatenate([[0.0], np.cumsum(want)])
    assert np.all(profile.lower <= below + 1e-9 * profile.total)
    assert np.all(below - 1e-9 * profile.total <= profile.upper)
    assert np.max(profile.upper - profile.lower) / profile.total <= 4.0 / products


@pytest.mark.parametrize("family", VARIANTS)
def test_small_graphs_are_exact_and_columns_add_up(family, rng):
    A = np.triu(rng.random((40, 40)) < 0.15, 1)
    op = operator(Graph.from_adjacency((A | A.T).astype(float)), family, channel="high")
    x = rng.standard_normal((40, 3))
    z = op.scale[:, None] * x
    core = op.symmetrized.to_scipy().toarray()
    values, vectors = np.linalg.eigh(core)
    weights = np.sum((vectors.T @ z) ** 2, axis=1)
    edges = np.array([0.0, 0.17, 0.39, 0.61, 1.0]) * op.bounds[1]
    profile = energy_profile(op, x, bins=edges)
    assert_allclose(profile.energy, np.histogram(np.clip(values, 0, None), edges, weights=weights)[0], atol=1e-9)
    assert profile.matvecs == 0
    assert_allclose(profile.lower, profile.upper)
    assert_allclose(profile.moments[1], np.trace(z.T @ core @ z), rtol=1e-11)
    parts = [energy_profile(op, x[:, j], bins=edges).energy for j in range(3)]
    assert_allclose(np.sum(parts, axis=0), profile.energy, rtol=1e-10)


def test_a_signal_of_few_modes_is_exact_with_few_products():
    graph, _ = torus(40, 40)
    wave = np.cos(2 * np.pi * 3 * np.arange(40) / 40)[:, None] * np.ones((1, 40))
    profile = energy_profile(operator(graph, "sym", channel="high"), (1 + wave).ravel(), bins=[0.0, 1e-6, 0.5, 2.0])
    assert profile.matvecs <= 4
    assert_allclose(profile.fraction, [2 / 3, 1 / 3, 0], atol=1e-9)
    assert_allclose(profile.lower, profile.upper, atol=1e-6)


@pytest.mark.parametrize(("shape", "atom"), [((12, 13), 0.1), ((61, 53), 0.03)])
def test_quantiles_are_frequencies_with_that_share_below(shape, atom, rng):
    graph, frequencies = torus(*shape)
    x = rng.standard_normal(shape)
    shares = np.array([0.1, 0.5, 0.9])
    profile = energy_profile(operator(graph, "sym", channel="high"), x.ravel(), quantiles=shares)
    weights = spectral_energy(x)
    for share, edge in zip(shares, profile.edges[1:-1], strict=True):
        assert abs(weights[frequencies < edge].sum() / weights.sum() - share) < atom
    assert_allclose(np.cumsum(profile.fraction)[:3], shares, atol=atom)


def test_profile_of_sparse_complex_and_single_signals():
    from scipy import sparse

    op = operator(BIG, "lazy_rw", channel="high")
    x = sparse.random_array((BIG.n_nodes, 2), density=1e-3, rng=0, format="csr")
    dense = energy_profile(op, x.toarray(), bins=5, matvecs=20)
    assert_allclose(energy_profile(op, x, bins=5, matvecs=20).energy, dense.energy, rtol=1e-9)
    rotated = energy_profile(op, (0.6 + 0.8j) * x.toarray(), bins=5, matvecs=20)
    assert_allclose(rotated.energy, dense.energy, rtol=1e-8)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"bins": [1.0, 0.0]}, ParameterError, "ascending edges"),
        ({"bins": 0}, ParameterError, "bins must be an integer >= 1"),
        ({"bins": 3, "quantiles": [0.5]}, ParameterError, "not both"),
        ({"quantiles": [0.0, 0.5]}, ParameterError, "strictly between 0 and 1"),
        ({"matvecs": 0}, ParameterError, "matvecs"),
    ],
)
def test_bad_options(options, error, message):
    op = operator(torus(4, 5)[0], "sym", channel="high")
    with pytest.raises(error, match=message):
        energy_profile(op, np.ones(20), **options)


def test_signals_without_energy_and_directed_graphs_are_refused():
    op = operator(torus(4, 5)[0], "sym", channel="high")
    with pytest.raises(SignalError, match="zero everywhere"):
        energy_profile(op, np.zeros(20))
    with pytest.raises(GraphError, match="symmetrize="):
        energy_profile(operator(Graph.from_edges([(0, 1)], directed=True), "sym", channel="high"), np.ones(2))


def test_gauss_rule_is_exact_to_twice_its_degree(rng):
    A = rng.standard_normal((50, 50))
    S = (A + A.T) / 20
    x = rng.standard_normal(50)
    space = lanczos(lambda v: S @ v, x, 8)
    nodes, weights = gauss_rule(space)
    for power in range(16):
        want = x @ np.linalg.matrix_power(S, power) @ x / (x @ x)
        assert_allclose(weights @ nodes**power, want, atol=1e-10)
    values, vectors = np.linalg.eigh(S)
    measure = (vectors.T @ x) ** 2 / (x @ x)
    for at in np.linspace(values[0], values[-1], 23):
        low, high = cumulative_bounds(space, at)
        assert low - 1e-10 <= measure[values < at].sum()
        assert measure[values <= at].sum() <= high + 1e-10


def test_lanczos_closes_on_invariant_spaces():
    space = lanczos(lambda v: np.array([1.0, 2.0, 2.0, 3.0]) * v, np.array([1.0, 1.0, 1.0, 0.0]), 4)
    assert space.n_steps == 2
    assert space.is_exact
    assert_allclose(gauss_rule(space)[0], [1, 2])
    assert_allclose(gauss_rule(space)[1], [1 / 3, 2 / 3])


def test_results_tell_what_they_are():
    op = operator(torus(4, 5)[0], "sym", channel="high")
    assert repr(energy_profile(op, np.ones(20), bins=3)) == "EnergyProfile(3 bands, total=20, matvecs=0)"
    assert repr(spectral_density(op, bins=3)) == "SpectralDensity(3 bands, matvecs=0)"


RING = operator(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]), "sym", channel="high")  # frequencies 0, 1, 1, 2


def test_an_atom_on_an_edge_belongs_to_the_band_above_it():
    profile = energy_profile(RING, [1.0, 0.0, -1.0, 0.0], bins=[0.0, 1.0, 2.0])
    assert_allclose(profile.energy, [0.0, 2.0], atol=1e-14)
    assert profile.edges.dtype == energy_profile(RING, [1.0, 0, 0, 0], bins=[0, 1, 2]).edges.dtype == np.float64


def test_the_axis_holds_all_of_the_energy_and_no_more():
    measure = Measure(np.array([0.5, 1.5]), np.array([1.0, 2.0]), 0.1)
    cumulative = measure.cumulative(np.array([-1.0, 0.0, 1.0, 1.55, 2.0, 3.0]), (0.0, 2.0), 7.0)
    assert cumulative.tolist() == [[0.0, 0.0, 1.0, 1.0, 7.0, 7.0]] * 2


def test_default_bands_and_bands_of_an_axis_of_one_point():
    assert_allclose(energy_profile(RING, [1.0, 0, 0, 0]).edges, np.linspace(0, 2, 11))
    lonely = operator(Graph.from_edges([], n_nodes=2), "sym", channel="high")
    assert lonely.bounds == (0.0, 0.0)
    profile = energy_profile(lonely, [1.0, 2.0], bins=2)
    assert profile.edges.tolist() == [0.0, 0.5, 1.0]


def test_quantiles_are_the_frequencies_below_which_the_shares_lie():
    path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    profile = energy_profile(path, [1.0, 0.0, 0.0], quantiles=[3 / 8, 7 / 12])  # 1/3 at 0, 1/2 at 1, 1/6 at 3
    assert_allclose(profile.edges, [0.0, 0.5, 1.0, path.bounds[1]], atol=1e-12)
    assert not profile.energy.flags.writeable


def test_bands_that_have_two_axes_are_refused():
    with pytest.raises(ParameterError, match="ascending edges"):
        energy_profile(RING, [1.0, 0, 0, 0], bins=[[0.0, 1.0], [2.0, 3.0]])


MANY = operator(torus(30, 31)[0], "sym", channel="high")


def test_up_to_512_nodes_all_modes_are_computed():
    ring = operator(Graph.from_edges([(i, (i + 1) % 512) for i in range(512)]), "sym", channel="high")
    assert spectral_density(ring, bins=2).matvecs == 0
    assert energy_profile(ring, np.eye(1, 512)[0], bins=2).matvecs == 0
    assert lambda_max(ring) == 2.0


def test_a_signal_of_zeros_beside_another_costs_no_products():
    x = np.random.default_rng(0).standard_normal((930, 2)) * [1.0, 0.0]
    both, one = energy_profile(MANY, x, matvecs=7), energy_profile(MANY, x[:, 0], matvecs=7)
    assert both.matvecs == one.matvecs == 7
    assert_allclose(both.energy, one.energy)


def test_the_share_below_a_single_quantile_and_the_last_of_three():
    path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    assert_allclose(energy_profile(path, [1.0, 0.0, 0.0], quantiles=[7 / 12]).edges[1], 1.0, atol=1e-12)
    with pytest.raises(ParameterError, match="strictly between 0 and 1"):
        energy_profile(path, [1.0, 0.0, 0.0], quantiles=[0.2, 0.5, 1.0])


def test_a_faint_signal_has_the_profile_of_a_loud_one():
    x = np.random.default_rng(1).standard_normal(930)
    faint, loud = (energy_profile(MANY, size * x, matvecs=7) for size in (1e-3, 1.0))
    assert faint.matvecs == loud.matvecs == 7
    assert_allclose(faint.fraction, loud.fraction, rtol=1e-9, atol=1e-12)


# No bound of a formula is near the largest eigenvalue here, so the random start shows in the result.


def test_columns_that_are_zero_add_nothing_however_many_there_are():
    op = operator(grid(30, 30), "sym", channel="high")
    x = np.random.default_rng(0).standard_normal((900, 1))
    alone = energy_profile(op, x, matvecs=40)
    padded = energy_profile(op, np.hstack([np.zeros((900, 16)), x]), matvecs=40)
    np.testing.assert_allclose(padded.energy, alone.energy, rtol=1e-9, atol=1e-9 * alone.total)
