"""Laws of signed and magnetic graphs: every family, with degrees of absolute values, against formulas written here."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gsp_fb as gf
from gsp_fb.errors import GraphError
from gsp_fb.testing import families, gammas, graphs, magnetic_graphs, operators, signals, signed_graphs
from gsp_fb.variants import VARIANTS
from tests.support.closeness import assert_close, size_of

ANY = signed_graphs() | magnetic_graphs()
ENDS = ("low", "high")


def dense(graph, family, channel, gamma=1.0):
    """The definition: A~ = A + gamma diag(s), d~ = d + gamma s, d = sum of absolute values; isolated nodes keep."""
    A = graph.adjacency.toarray()
    d = np.abs(A).sum(axis=1)
    identity = np.eye(len(A))
    if family == "comb":
        high = np.diag(d) - A
        return high if channel == "high" else identity - high
    s = {"": np.zeros_like(d), "renorm_": np.ones_like(d), "lazy_": d}[family.removesuffix("sym").removesuffix("rw")]
    looped, total = A + gamma * np.diag(s), d + gamma * s
    alone = total == 0
    looped[alone, alone], total[alone] = 1.0, 1.0
    root = 1.0 / np.sqrt(total)
    low = root[:, None] * looped * root if family.endswith("sym") else looped / total[:, None]
    return low if channel == "low" else identity - low


def dense_of(op):
    return dense(op.graph, op.family, op.channel, op.gamma)


def condition(op):
    return op.scale.max() / op.scale.min()


OPERATORS = operators(ANY, isolated="self")
HIGH = operators(ANY, channel="high", isolated="self")


@given(OPERATORS, signals(columns=st.none() | st.integers(0, 3), complex=True))
def test_an_operator_is_its_definition(op, signal):
    x, matrix = signal(op.graph), dense_of(op)
    assert_close(op @ x, matrix @ x, scale=(1 + size_of(matrix)) * size_of(x))
    assert_close(op.to_scipy(), matrix, scale=1 + size_of(matrix))
    assert_close(op.H.to_scipy(), matrix.conj().T, scale=1 + size_of(matrix))
    assert_close(op.T.to_scipy(), matrix.T, scale=1 + size_of(matrix))


@given(OPERATORS)
def test_the_symmetrized_operator_is_hermitian(op):
    core = op.symmetrized.to_scipy().toarray()
    assert_close(core, core.conj().T, scale=1 + size_of(core))


@given(OPERATORS)
def test_every_eigenvalue_lies_in_the_bounds(op):
    values = np.linalg.eigvalsh(op.symmetrized.to_scipy().toarray())
    low, high = op.bounds
    slack = 1e-12 * (1 + max(abs(low), abs(high)))
    assert values.min() >= low - slack
    assert values.max() <= high + slack


def test_the_bounds_are_attained():
    edge = gf.Graph.from_edges([(0, 1)], [-1.0], signed=True)
    arc = gf.Graph.from_edges([(0, 1)], directed=True).magnetic(0.25)
    for graph in (edge, arc):
        for family, top in (("comb", 2.0 * graph.degrees[0]), ("sym", 2.0), ("rw", 2.0), ("renorm_sym", None)):
            op = gf.operator(graph, family, channel="high")
            values = gf.spectrum(op).frequencies
            assert np.allclose(values, op.bounds)
            assert top is None or np.isclose(op.bounds[1], top)
    loop = gf.Graph.from_edges([(0, 0)], [-3.0], signed=True)
    assert gf.operator(loop, "comb", channel="high").bounds == (0.0, 6.0)
    assert np.allclose(gf.operator(loop, "sym", channel="high").bounds, 2.0, rtol=1e-15)


@given(OPERATORS)
def test_frequencies_and_modes_are_those_of_the_definition(op):
    modes, matrix = gf.spectrum(op), dense_of(op)
    scale = (1 + size_of(matrix)) * condition(op)
    assert_close(modes.frequencies, np.sort(np.linalg.eigvals(matrix).real), scale=scale * condition(op))
    assert_close(matrix @ modes.basis, modes.basis * modes.frequencies, scale=scale * size_of(modes.basis))
    basis = modes.symmetrized_basis
    assert_close(basis.conj().T @ basis, np.eye(op.graph.n_nodes))


@given(OPERATORS, signals(columns=st.none() | st.integers(0, 2)))
def test_the_transform_is_inverted_and_keeps_the_energy(op, signal):
    x, modes = signal(op.graph), gf.spectrum(op)
    c = modes.gft(x)
    assert_close(modes.igft(c), x, scale=condition(op) * size_of(x))
    energy = float(np.sum(op.scale**2 * np.abs(x.T) ** 2))
    assert_close(np.sum(np.abs(c) ** 2), energy, scale=energy, n=op.graph.n_nodes)
    assert_close(modes.gft(op @ x), (modes.frequencies * c.T).T, scale=(1 + size_of(op.bounds)) * (1 + size_of(c)))


@given(HIGH, signals(columns=2))
def test_s_lies_in_the_bounds_and_is_the_mean_of_the_profile(op, signal):
    x = signal(op.graph) + 1e-3
    value, (low, high) = gf.s_value(op, x), op.bounds
    assert low - 1e-9 * (1 + abs(low)) <= value <= high + 1e-9 * (1 + high)
    profile = gf.energy_profile(op, x)
    assert np.isclose(profile.moments[1] / profile.moments[0], value, atol=1e-9 * (1 + high))
    weighted = op.scale[:, None] * x
    core = op.symmetrized.to_scipy().toarray()
    form = float(np.sum(weighted.conj() * (core @ weighted)).real)
    energy = float(np.sum(np.abs(weighted) ** 2))
    assert np.isclose(gf.dirichlet_energy(op, x), form, atol=1e-9 * (1 + high) * energy)
    assert np.isclose(gf.nonsmooth_energy(op, x), energy - form, atol=1e-9 * (1 + high) * energy)


@given(HIGH, signals(columns=2))
def test_banks_filter_by_frequency_and_reconstruct(op, signal):
    x = signal(op.graph)
    bank = gf.FilterBank(op, gf.filters.regular())
    values, vectors = np.linalg.eigh(op.symmetrized.to_scipy().toarray())
    scale = 1e-7 * (1 + size_of(x)) * condition(op) ** 2
    for m, kernel in enumerate(bank.kernels):
        core = (vectors * kernel(np.clip(values, *op.bounds))) @ vectors.conj().T
        expected = (core @ (op.scale[:, None] * x)) / op.scale[:, None]
        assert np.abs(bank.analyze(x)[..., m] - expected).max(initial=0.0) <= scale
    assert np.abs(bank.synthesize(bank.analyze(x)) - x).max(initial=0.0) <= scale


@given(operators(ANY, channel="high", isolated="self", family=families(norm=("sym", "rw"))), signals())
def test_chebyshev_lanczos_and_cg_agree_with_the_modes(op, signal):
    x = signal(op.graph)
    for kernel, methods in ((gf.filters.heat(1.0), ("chebyshev", "lanczos")), (gf.filters.ppr(0.3), ("cg",))):
        exact = gf.FilterBank(op, kernel, method="exact").analyze(x)
        for method in methods:
            other = gf.FilterBank(op, kernel, method=method).analyze(x)
            assert np.abs(other - exact).max(initial=0.0) <= 1e-6 * (1 + size_of(x)) * condition(op)


@given(ANY, families(norm=("sym", "rw")), signals(columns=2))
def test_two_channels_reconstruct(graph, family, signal):
    x = signal(graph)
    bank = gf.FilterBank.two_channel(graph, family, levels=2)
    bands = bank.analyze(x)
    assert_close(bank.synthesize(*bands), x, scale=1 + size_of(x))
    assert_close(bands[0], np.linalg.matrix_power(dense(graph, family, "low"), 2) @ x, scale=1 + size_of(x))


@given(signed_graphs(balanced=True, min_nodes=2), families(), gammas())
def test_balanced_signed_graphs_are_similar_to_unsigned_ones(graph, family, gamma):
    gamma = gamma if VARIANTS[family].has_gamma else None
    unsigned = gf.Graph.from_adjacency(abs(graph.adjacency))
    ours, theirs = (gf.spectrum(gf.operator(g, family, "high", gamma)).frequencies for g in (graph, unsigned))
    assert_close(ours, theirs, scale=1 + size_of(theirs))


@given(graphs(directed=True), families())
def test_no_turn_is_the_symmetrised_graph(graph, family):
    still, mean = graph.magnetic(0.0), gf.Graph.from_adjacency(graph.adjacency, symmetrize="mean")
    assert still.sha256 == mean.sha256
    assert not still.is_complex
    assert_close(gf.operator(still, family).to_scipy(), gf.operator(mean, family).to_scipy())


@given(graphs(directed=True), st.sampled_from([0.1, 0.25, 1 / 3, 0.5, -0.25, 1.25]))
def test_magnetic_adjacency_is_its_formula(graph, q):
    A = graph.adjacency.toarray()
    B = (A != 0).astype(float)
    expected = (A + A.T) / 2 * np.exp(2j * np.pi * q * (B - B.T))
    magnetic = graph.magnetic(q)
    assert_close(magnetic.adjacency.toarray(), expected, scale=1 + size_of(A))
    assert_close(magnetic.degrees, np.abs(expected).sum(axis=1), scale=1 + size_of(A), n=len(A))
    assert not magnetic.directed
    assert magnetic.transposed.sha256 == graph.transposed.magnetic(q).sha256
    assert magnetic.magnetic(0.0).sha256 == magnetic.sha256 if not magnetic.is_complex else True


@pytest.mark.parametrize("q", [0.0, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("n_nodes", [5, 12, 300])
def test_the_directed_ring_has_its_closed_form_spectrum(n_nodes, q):
    """A[i, i+1] = exp(2 pi i q)/2: eigenvalues cos(2 pi (k/n + q)), on Fourier modes, degrees 1."""
    ring = gf.Graph.from_edges([(i, (i + 1) % n_nodes) for i in range(n_nodes)], directed=True).magnetic(q)
    expected = np.sort(1.0 - np.cos(2 * np.pi * (np.arange(n_nodes) / n_nodes + q)))
    for family in ("comb", "sym", "rw"):
        op = gf.operator(ring, family, channel="high")
        assert np.allclose(gf.spectrum(op).frequencies, expected, atol=1e-9)
        for which in ENDS:
            part = gf.spectrum(op, 4, which)
            assert np.allclose(part.frequencies, expected[:4] if which == "low" else expected[-4:], atol=1e-9)
    renorm = gf.spectrum(gf.operator(ring, "renorm_sym", channel="high")).frequencies
    assert np.allclose(renorm, expected / 2, atol=1e-9)


def magnetic_torus(size, q):
    """The product of two directed rings: every frequency is a sum of two, most of them repeated."""
    at = np.arange(size * size)
    right, down = size * (at // size) + (at + 1) % size, (at + size) % (size * size)
    arcs = np.concatenate([np.stack([at, right], axis=1), np.stack([at, down], axis=1)])
    graph = gf.Graph.from_edges(arcs, directed=True).magnetic(q)
    one = 1.0 - np.cos(2 * np.pi * (np.arange(size) / size + q))
    return graph, np.sort((one[:, None] + one).ravel())


def signed_torus(size):
    """A torus with both wrap-around columns negated: frequencies of antiperiodic rings, all repeated."""
    at = np.arange(size * size)
    right, down = size * (at // size) + (at + 1) % size, (at + size) % (size * size)
    weights = np.concatenate([np.where((at + 1) % size == 0, -1.0, 1.0), np.where(at + size >= size * size, -1.0, 1.0)])
    arcs = np.concatenate([np.stack([at, right], axis=1), np.stack([at, down], axis=1)])
    one = 2.0 - 2.0 * np.cos(2 * np.pi * (np.arange(size) + 0.5) / size)
    return gf.Graph.from_edges(arcs, weights, signed=True), np.sort((one[:, None] + one).ravel())


@pytest.mark.parametrize("certify", [None, False])
@pytest.mark.parametrize("which", ENDS)
@pytest.mark.parametrize("made", [magnetic_torus(28, 0.25), magnetic_torus(30, 0.1), signed_torus(28)])
def test_every_copy_is_found_on_signed_and_magnetic_tori(made, which, certify):
    graph, expected = made
    op = gf.operator(graph, "comb", channel="high")
    for k in (1, 3, 10):
        modes = gf.spectrum(op, k, which, certify=certify)
        assert np.allclose(modes.frequencies, expected[:k] if which == "low" else expected[-k:], atol=1e-8)
        basis = modes.symmetrized_basis
        assert np.allclose(basis.conj().T @ basis, np.eye(k), atol=1e-9)
        assert np.abs(op @ basis - basis * modes.frequencies).max() <= 1e-7
        assert modes.proof == "residual" if certify is False else modes.proof == "inertia"


def test_a_balanced_component_is_found_without_its_null_vectors_being_known():
    graph, _ = signed_torus(24)
    grid = gf.datasets.grid(20, 20)
    sides = np.random.default_rng(0).choice([-1.0, 1.0], grid.n_nodes)
    balanced = sides[:, None] * grid.adjacency.toarray() * sides
    size = graph.n_nodes
    whole = np.zeros((size + 2 * len(sides),) * 2)
    whole[:size, :size] = graph.adjacency.toarray()
    for at in (size, size + len(sides)):
        whole[at : at + len(sides), at : at + len(sides)] = balanced
    both = gf.Graph.from_adjacency(whole, signed=True)
    op = gf.operator(both, "sym", channel="high")
    modes = gf.spectrum(op, 5)
    assert np.allclose(modes.frequencies, np.linalg.eigvalsh(op.to_scipy().toarray())[:5], atol=1e-9)
    assert modes.proof == "inertia"
    assert np.isclose(gf.eigengap(op).ratio, 1.0)


@pytest.mark.parametrize("graph", [magnetic_torus(28, 0.1)[0], signed_torus(28)[0]], ids=["magnetic", "signed"])
@pytest.mark.parametrize("family", VARIANTS)
def test_measures_of_larger_graphs_need_no_modes(graph, family):
    op = gf.operator(graph, family, channel="high")
    values, vectors = np.linalg.eigh(op.symmetrized.to_scipy().toarray())
    x = np.random.default_rng(0).standard_normal(graph.n_nodes)
    gap = gf.eigengap(op)
    assert np.isclose(gap.lambda_1, 1 - values[0], atol=1e-9)
    assert np.isclose(gap.lambda_2, 1 - values[1], atol=1e-9)
    assert np.isclose(gf.lambda_max(op), values[-1], rtol=1e-5)
    profile = gf.energy_profile(op, x, bins=4)
    energies = np.abs(vectors.conj().T @ (op.scale * x)) ** 2
    below = np.array([energies[values < edge].sum() for edge in profile.edges[1:-1]])
    assert np.all(profile.lower[1:-1] <= below + 1e-6)
    assert np.all(profile.upper[1:-1] >= below - 1e-6)
    density = gf.spectral_density(op, bins=4, rng=0)
    share = np.histogram(values, bins=np.asarray(density.edges))[0] / len(values)
    assert np.allclose(density.fraction, share, atol=0.15)
    y = gf.filters.tikhonov(op, x, 2.0)
    core = (vectors / (1 + 2.0 * values)) @ (vectors.conj().T @ (op.scale * x))
    assert np.allclose(y, core / op.scale, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128])
def test_precision_of_results_is_that_of_the_signal(kind):
    graph = magnetic_torus(5, 0.1)[0]
    x = np.ones((25, 2), dtype=kind)
    wide = np.complex64 if np.dtype(kind).itemsize <= 4 or kind == np.complex64 else np.complex128
    op = gf.operator(graph, "sym", channel="high")
    modes = gf.spectrum(op)
    assert (op @ x).dtype == modes.gft(x).dtype == modes.igft(modes.gft(x)).dtype == wide
    assert gf.FilterBank(op, gf.filters.heat(1.0)).analyze(x).dtype == wide
    assert modes.igft(np.ones(25, dtype=kind)).dtype == wide


@given(ANY)
def test_signed_graphs_survive_the_trip(graph):
    again = pickle.loads(pickle.dumps(graph))
    assert again.sha256 == graph.sha256
    assert again.is_signed == graph.is_signed
    everything = graph.subgraph(np.arange(graph.n_nodes))
    assert everything.sha256 == graph.sha256
    moved = graph.reordered("rcm")
    back = moved.graph.subgraph(moved.inverse)
    assert back.sha256 == graph.sha256
    assert graph.reordered("community").graph.n_edges == graph.n_edges


@given(graph=ANY)
def test_signed_graphs_are_stored_in_npz_and_folders_and_refused_elsewhere(tmp_path_factory, graph):
    folder = tmp_path_factory.mktemp("signed")
    gf.write_graph(graph, folder / "g.npz")
    again = gf.read_graph(folder / "g.npz")
    assert again.sha256 == graph.sha256
    assert again.is_complex == graph.is_complex
    if graph.is_signed:
        for suffix in ("csv", "mtx", "graphml", "gml"):
            with pytest.raises(GraphError, match=r"weights.*npz"):
                gf.write_graph(graph, folder / f"g.{suffix}")
    gf.outofcore.write_folder(graph, folder / "g.npyd")
    kept = gf.open_graph(folder / "g.npyd")
    assert (kept.sha256, kept.is_signed, kept.is_complex) == (graph.sha256, graph.is_signed, graph.is_complex)


@given(ANY, gammas())
def test_verify_names_the_condition_of_every_claim(graph, gamma):
    rows = gf.verify(graph, gamma)
    for row in rows:
        assert row.holds is not False or not row.applicable, (row.claim, row.residual)
    assert "weights &gt;= 0" in rows._repr_html_()


@pytest.mark.parametrize(
    ("claim", "edges", "weights"),
    [
        ("stochastic", [(0, 1)], [-1.0]),
        ("node_level_high", [(0, 1)], [-1.0]),
        ("lazy_stationary", [(0, 1)], [-1.0]),
        ("lazy_top_mode", [(0, 1)], [-1.0]),
        ("renorm_top_mode", [(0, 1)], [-1.0]),
        ("top_eigenvalues", [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, -1.0]),
        ("laplacian_below_2", [(0, 1), (1, 2), (0, 2)], [-1.0, -1.0, -1.0]),
        ("affinity_above_-1", [(0, 1), (1, 2), (0, 2)], [-1.0, -1.0, -1.0]),
    ],
)
def test_claims_fail_where_their_condition_does(claim, edges, weights):
    row = next(row for row in gf.verify(gf.Graph.from_edges(edges, weights, signed=True)) if row.claim == claim)
    assert not row.applicable
    assert row.holds is False


def test_theorem_1_needs_weights_of_one_sign():
    """lambda_2 / lambda_1 of the lazy walk falls below that of the renormalised one on a signed graph."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        signs = np.triu(rng.choice([-1.0, 0.0, 1.0], (5, 5)), 1)
        graph = gf.Graph.from_adjacency(signs + signs.T, signed=True)
        row = next(row for row in gf.verify(graph) if row.claim == "theorem_1")
        if row.holds is False and graph.degrees.min() >= 1:
            assert not row.applicable
            return
    raise AssertionError("no counter-example among the draws")


SIGNED = gf.Graph.from_edges([(0, 1), (1, 2)], [1.0, -2.0], signed=True)
MAGNETIC = gf.Graph.from_edges([(0, 1), (1, 2)], directed=True).magnetic()


def test_names_and_facts():
    assert repr(SIGNED) == "Graph(n_nodes=3, n_edges=2, undirected, weighted, signed)"
    assert repr(MAGNETIC) == "Graph(n_nodes=3, n_edges=2, undirected, weighted, complex)"
    assert SIGNED.degrees.tolist() == [1.0, 3.0, 2.0]
    assert MAGNETIC.degrees.tolist() == [0.5, 1.0, 0.5]
    assert MAGNETIC.n_components == 1
    assert "signed" in SIGNED._repr_html_()
    assert SIGNED.sha256 != gf.Graph.from_adjacency(abs(SIGNED.adjacency)).sha256
    assert (gf.operator(MAGNETIC, "rw").linear_operator() @ np.ones(3)).dtype == np.complex128


REFUSED = {
    "an effective resistance": lambda g: gf.resistance(g, [(0, 1)]),
    "Kron reduction": lambda g: gf.reduction.kron(g, [0, 1]),
    "a gradient": lambda g: gf.gradient(gf.operator(g, "comb", channel="high"), [1.0, 2.0, 3.0]),
    "a spatial autocorrelation": lambda g: gf.morans_i(g, [1.0, 2.0, 4.0]),
    "critical sampling": lambda g: gf.FilterBank.two_channel(g).sampling(),
}


@pytest.mark.parametrize("graph", [SIGNED, MAGNETIC], ids=["signed", "magnetic"])
@pytest.mark.parametrize("what", REFUSED)
def test_functions_of_weights_above_zero_refuse_by_name(what, graph):
    with pytest.raises(GraphError, match=what):
        REFUSED[what](graph)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gf.Graph.from_edges([(0, 1)], [-1.0]), r"edge \(0, 1\) has weight -1.0.*signed=True"),
        (lambda: gf.Graph.from_adjacency([[0, -1], [-1, 0]]), "signed=True"),
        (lambda: gf.Graph.from_adjacency([[0, 1j], [-1j, 0]]), "signed=True"),
        (lambda: gf.Graph.from_adjacency([[0, 1j], [1j, 0]], signed=True), r"not Hermitian.*conjugate of \(i, j\)"),
        (lambda: gf.Graph.from_adjacency([[0, 1j], [-1j, 0]], signed=True, directed=True), "undirected"),
        (lambda: gf.Graph.from_adjacency([[0, 1j], [-1j, 0]], signed=True, symmetrize="max"), "Hermitian"),
        (lambda: gf.Graph.from_edges([(0, 1)], [np.nan], signed=True), "finite"),
        (lambda: gf.Graph.from_edges([(0, 1)], [1j], signed=True), "from_adjacency"),
        (lambda: gf.to_networkx(MAGNETIC), "complex"),
        (lambda: gf.to_pyg(MAGNETIC), "complex"),
        (lambda: gf.to_pygsp(MAGNETIC), "complex"),
        (lambda: gf.filters.denoise(gf.operator(MAGNETIC, "comb", "high"), [1, 2, 3]), "denoising needs real weights"),
        (MAGNETIC.magnetic, "already"),
        (lambda: gf.expected_s_value(gf.operator(MAGNETIC, "sym", "high"), [1, 2, 3]), "real weights"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(GraphError, match=message):
        call()


def test_max_keeps_the_weight_of_larger_magnitude():
    arcs = np.array([[0, -3.0, 2.0], [1.0, 0, -2.0], [0, 2.0, 0]])
    found = gf.Graph.from_adjacency(arcs, symmetrize="max", signed=True).adjacency.toarray()
    assert found.tolist() == [[0, -3.0, 2.0], [-3.0, 0, 2.0], [2.0, 2.0, 0]]
