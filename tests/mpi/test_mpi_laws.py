"""A graph over several ranks gives what the graph in one process gives, however its rows are shared out."""

import itertools

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import ConvergenceError, FormatError, GraphError, ParameterError, SignalError
from gsp_fb.filters import heat, mexican_hat
from gsp_fb.variants import CHANNELS, VARIANTS

pytest.importorskip("petsc4py", reason="petsc4py is missing: `make test-mpi` installs it and runs these laws")
pytest.importorskip("slepc4py", reason="slepc4py is missing: `make test-mpi` installs it and runs these laws")

from gsp_fb import distributed  # after the skips

EPS = float(np.finfo(float).eps)
GAMMAS = (0.3, 1.0, 20.0)


def gammas(family):
    return GAMMAS if VARIANTS[family].has_gamma else (None,)


def pairs(spread, graph, *, channels=CHANNELS, isolated=("self", "zero"), cuts=None):
    """Every operator on the ranks beside the one in memory."""
    there = spread(graph, cuts)
    for family, channel, policy in itertools.product(VARIANTS, channels, isolated):
        for gamma in gammas(family):
            yield (
                distributed.operator(there, family, channel, gamma, policy),
                gf.operator(graph, family, channel, gamma, policy),
            )


def whole(op, rows):
    return op.graph.layout.gather(rows)


def signal(graph, *shape, kind=np.float64):
    rng = np.random.default_rng(graph.n_nodes)
    x = rng.standard_normal((graph.n_nodes, *shape))
    return (x + 1j * rng.standard_normal(x.shape) if np.issubdtype(kind, np.complexfloating) else x).astype(kind)


def size(op):
    return 1.0 + float(abs(op.to_scipy()).sum(axis=1).max()) if op.graph.n_nodes else 1.0


def assert_near(actual, expected, scale):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=float(scale))


def random_cuts(comm, n_nodes, seed):
    inner = np.sort(np.random.default_rng(seed).integers(0, n_nodes + 1, comm.size - 1))
    return [0, *inner.tolist(), n_nodes]


def test_facts(spread, graph):
    there = spread(graph)
    for fact in ("n_nodes", "n_edges", "n_loops", "n_isolated", "n_components", "directed", "is_weighted"):
        assert getattr(there, fact) == getattr(graph, fact), fact
    assert_near(there.layout.gather(there.degrees), graph.degrees, 64 * EPS * graph.degrees.max())
    np.testing.assert_array_equal(there.layout.gather(there.loop_weights), graph.loop_weights)
    labels = there.layout.gather(there.component_labels)
    for group in range(graph.n_components):
        members = np.flatnonzero(graph.component_labels == group)
        assert set(labels[members]) == {members.min()}


def test_every_rank_holds_its_own_rows(spread, graph, comm):
    there = spread(graph)
    assert there.layout.cuts[0] == 0
    assert there.layout.cuts[-1] == graph.n_nodes
    assert sum(comm.allgather(there.n_local)) == graph.n_nodes
    others = {int(j) for j in there.entries()[0]} - set(range(there.first, there.last))
    assert there.n_ghosts == len(others)


def test_products_of_every_operator(spread, graph):
    x = signal(graph, 3)
    for there, here in pairs(spread, graph):
        actual = whole(there, distributed.multiply(there, distributed.local_rows(there.graph, x)))
        assert_near(actual, here @ x, 64 * EPS * size(here) * abs(x).max())


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128, np.int64])
@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_products_of_every_kind_of_signal(spread, graph, kind, shape):
    x = signal(graph, *shape, kind=kind)
    there, here = next(pairs(spread, graph, channels=("high",)))
    actual = whole(there, distributed.multiply(there, distributed.local_rows(there.graph, x)))
    assert actual.dtype == (here @ x).dtype
    accuracy = 64 * float(np.finfo(actual.dtype).eps)
    assert_near(actual, here @ x, accuracy * size(here) * (1 + abs(x).max()))


def test_bounds_of_every_operator(spread, undirected):
    for there, here in pairs(spread, undirected):
        assert_near(there.bounds, here.bounds, 64 * EPS * size(here))


def test_energies_of_every_family(spread, graph):
    x = signal(graph, 3)
    for there, here in pairs(spread, graph, channels=("high",)):
        own = distributed.local_rows(there.graph, x)
        scale = 64 * EPS * graph.n_nodes * size(here) * np.sum(x**2)
        for name in ("dirichlet_energy", "nonsmooth_energy", "s_value"):
            for per_column in (False, True):
                actual = getattr(distributed, name)(there, own, per_column=per_column)
                assert_near(actual, getattr(gf, name)(here, x, per_column=per_column), scale)
        assert_near(distributed.signal_energy(there.graph, own), gf.signal_energy(x), scale)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_s_values_of_signals_whose_squares_overflow_or_vanish(spread, factor, random_graph):
    graph = random_graph(40, 120, 1)
    op, x = distributed.operator(spread(graph), "sym", "high"), signal(graph, 2)
    own = distributed.local_rows(op.graph, x)
    assert distributed.s_value(op, factor * own) == pytest.approx(distributed.s_value(op, own), rel=1e-12)


def test_one_hot_and_row_normalized(spread, graph):
    there, y = spread(graph), np.arange(graph.n_nodes) % 4 - 1
    x = abs(signal(graph, 3))
    actual = there.layout.gather(distributed.one_hot(there, distributed.local_rows(there, y)))
    np.testing.assert_array_equal(actual, gf.one_hot(y).toarray())
    rows = there.layout.gather(distributed.row_normalized(there, distributed.local_rows(there, x)))
    np.testing.assert_array_equal(rows, gf.row_normalized(x))


@pytest.mark.parametrize("seed", range(4))
def test_the_share_of_a_rank_does_not_matter(spread, undirected, comm, seed):
    n_nodes = undirected.n_nodes
    cuts = [0] * comm.size + [n_nodes] if seed == 0 else random_cuts(comm, n_nodes, seed)
    x = signal(undirected, 2)
    for there, here in pairs(spread, undirected, isolated=("self",), cuts=cuts):
        own = distributed.local_rows(there.graph, x)
        scale = 64 * EPS * n_nodes * size(here)
        assert_near(whole(there, distributed.multiply(there, own)), here @ x, scale * abs(x).max())
        assert_near(there.bounds, here.bounds, scale)
        if there.channel == "high":
            assert_near(distributed.s_value(there, own), gf.s_value(here, x), scale)
    assert there.graph.n_components == undirected.n_components


@pytest.mark.parametrize("seed", range(6))
def test_components_of_long_paths_in_random_order(spread, comm, seed):
    """Nothing that a rank sees alone tells it which of its pieces belong together."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(200)
    broken = set(rng.choice(199, 3, replace=False).tolist())
    graph = gf.Graph.from_edges([(order[i], order[i + 1]) for i in range(199) if i not in broken])
    assert spread(graph, random_cuts(comm, 200, seed)).n_components == graph.n_components == 4


KERNELS = [heat(2.0), *mexican_hat(3)]


def test_chebyshev_banks_of_every_family(spread, undirected):
    x = signal(undirected, 2)
    for there, here in pairs(spread, undirected, channels=("high",)):
        own = distributed.local_rows(there.graph, x)
        bank, expected = (gf.FilterBank(op, KERNELS, method="chebyshev") for op in (there, here))
        scale = 1e4 * EPS * abs(x).max() * float(here.scale.max() / here.scale.min())
        assert_near(whole(there, distributed.analyze(bank, own)), expected.analyze(x), scale)
        plan, serial = distributed.plan(bank, own), expected.plan(x)
        assert (plan.method, plan.order) == (serial.method, serial.order)
        assert plan.error_bound == pytest.approx(serial.error_bound, rel=1e-6)


def test_a_bank_chooses_as_in_one_process(spread, undirected):
    x = signal(undirected)
    there, here = (distributed.operator(spread(undirected), "sym", "high"), gf.operator(undirected, "sym", "high"))
    own = distributed.local_rows(there.graph, x)
    bank, expected = gf.FilterBank(there, KERNELS), gf.FilterBank(here, KERNELS)
    assert distributed.plan(bank, own).method == expected.plan(x).method
    assert_near(whole(there, distributed.analyze(bank, own)), expected.analyze(x), 1e4 * EPS)
    with pytest.raises(ParameterError, match="runs in one process"):
        distributed.analyze(gf.FilterBank(there, KERNELS, method="lanczos"), own)


@pytest.mark.parametrize("n_nodes", [30, 1200])
def test_profiles(spread, random_graph, n_nodes):
    graph = random_graph(n_nodes, 4 * n_nodes, 5, weighted=False)
    x = signal(graph, 2)
    for family in ("comb", "renorm_rw"):
        there, here = distributed.operator(spread(graph), family, "high"), gf.operator(graph, family, "high")
        actual = distributed.energy_profile(there, distributed.local_rows(there.graph, x), matvecs=60)
        expected = gf.energy_profile(here, x, matvecs=60)
        assert actual.matvecs == expected.matvecs
        for name in ("edges", "energy", "lower", "upper", "moments"):
            values = getattr(expected, name)
            # Lanczos's rules move with the last digits of the products; what they bound does not.
            assert_near(getattr(actual, name), values, 1e-6 * abs(values).max())
        assert actual.total == pytest.approx(expected.total, rel=1e-13)


def check_modes(there, here, k, which):
    found, values = distributed.spectrum(there, k, which), np.linalg.eigvalsh(here.symmetrized.to_scipy().toarray())
    reach = max(map(abs, here.bounds))
    smallest = (which == "low") == (here.channel == "high")
    assert_near(found.frequencies, values[:k] if smallest else values[-k:], 1e-11 * reach)
    vectors = whole(there, found.symmetrized_basis)
    assert_near(vectors.T @ vectors, np.eye(k), 1e-9)
    residual = here.symmetrized @ vectors - vectors * found.frequencies
    assert np.linalg.norm(residual, axis=0).max() < 1e-7 * reach
    return found


@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("channel", CHANNELS)
def test_partial_spectra(spread, which, channel, random_graph):
    graph = random_graph(700, 2500, 3)
    for family in VARIANTS:
        there, here = distributed.operator(spread(graph), family, channel), gf.operator(graph, family, channel)
        check_modes(there, here, 5, which)


@pytest.mark.parametrize("isolated", ["self", "zero"])
def test_null_vectors_of_components_come_first(spread, isolated):
    edges = [(i, i + 1) for i in range(599) if i not in (99, 299)]
    graph = gf.Graph.from_edges([*edges, (0, 50), (200, 250)], n_nodes=602)
    there = distributed.operator(spread(graph), "sym", "high", isolated=isolated)
    here = gf.operator(graph, "sym", "high", isolated=isolated)
    n_null = 5 if isolated == "self" else 3
    for k in (2, n_null, n_null + 3):
        found = check_modes(there, here, k, "low")
        assert np.count_nonzero(found.frequencies < 1e-12) == min(k, n_null)


def test_small_graphs_and_many_modes_are_decomposed_whole(spread, undirected):
    for there, here in pairs(spread, undirected, isolated=("self",)):
        found, expected = distributed.spectrum(there), gf.spectrum(here)
        assert found.method == "dense"
        assert_near(found.frequencies, expected.frequencies, 64 * EPS * undirected.n_nodes * size(here))
        x = signal(undirected, 2)
        c = distributed.gft(found, distributed.local_rows(there.graph, x))
        spread_of_scale = float(here.scale.max() / here.scale.min())
        assert_near(whole(there, distributed.igft(found, c)), x, 1e4 * EPS * spread_of_scale * abs(x).max())


def test_modes_do_not_depend_on_the_share_of_a_rank(spread, comm, random_graph):
    graph = random_graph(700, 2500, 4)
    found = [
        distributed.spectrum(distributed.operator(spread(graph, cuts), "sym", "high"), 4)
        for cuts in (None, random_cuts(comm, 700, 1))
    ]
    first, second = (whole(modes.operator, modes.symmetrized_basis) for modes in found)
    assert_near(found[0].frequencies, found[1].frequencies, 1e-11)
    assert_near(first, second, 1e-5)


def test_eigengaps_of_every_family(spread, undirected):
    if undirected.n_nodes < 2:
        with pytest.raises(ParameterError, match="at least 2 nodes"):
            distributed.eigengap(distributed.operator(spread(undirected), "sym"))
        return
    for there, here in pairs(spread, undirected, isolated=("self",)):
        actual, expected = distributed.eigengap(there), gf.eigengap(here)
        assert actual.ratio == pytest.approx(expected.ratio, abs=1e-10)
        assert actual.method == expected.method


def test_eigengaps_by_slepc(spread, random_graph):
    for one in (random_graph(900, 4000, 6, weighted=False, connected=True), gf.datasets.grid(30, 31)):
        for family in VARIANTS:
            there, here = distributed.operator(spread(one), family), gf.operator(one, family)
            actual, values = distributed.eigengap(there), np.linalg.eigvalsh(here.symmetrized.to_scipy().toarray())
            assert actual.proof == "residual"
            assert abs(actual.ratio - values[-2]) <= 1e-11
            assert abs(actual.ratio - values[-2]) <= actual.error + 64 * EPS * size(here)


def test_the_tiny_gap_of_a_large_grid(spread):
    """A gap of 1e-4 among 1e5 nodes, which products alone do not resolve: shift-invert with multigrid does."""
    graph = gf.datasets.grid(316, 316)
    gap = distributed.eigengap(distributed.operator(spread(graph), "comb", "high"))
    assert gap.method == "shift-invert"
    assert abs((1.0 - gap.ratio) - (2 - 2 * np.cos(np.pi / 316))) < 1e-12


def test_several_components_have_no_gap(spread):
    graph = gf.Graph.from_edges([(i, i + 1) for i in range(700) if i != 300])
    gap = distributed.eigengap(distributed.operator(spread(graph), "lazy_rw"))
    assert (gap.ratio, gap.error, gap.proof) == (1.0, 0.0, "components")


def test_an_unresolved_gap_is_an_error_that_holds_what_was_found(spread):
    from gsp_fb.distributed._slepc import rough_pairs

    op = distributed.operator(spread(gf.datasets.grid(60, 60)), "sym", "high")
    with pytest.raises(ConvergenceError, match="of 20 eigenpairs") as stuck:
        rough_pairs(op, 20, 1e-14, 1)
    assert len(stuck.value.eigenvalues) < 20


@pytest.mark.parametrize("kind", [np.float32, np.complex128])
def test_files_written_by_all_ranks(spread, graph, shared, comm, kind):
    there, x = spread(graph), signal(graph, 2, 3, kind=kind)
    path = f"{shared}/out.npy"
    distributed.save(there, distributed.local_rows(there, x), path)
    np.testing.assert_array_equal(np.load(path), x)
    np.testing.assert_array_equal(there.layout.gather(distributed.local_rows(there, path)), x)
    comm.barrier()
    if comm.rank == 0:
        np.save(path, np.asfortranarray(x))
    comm.barrier()
    np.testing.assert_array_equal(there.layout.gather(distributed.local_rows(there, path)), x)
    comm.barrier()


def test_what_one_rank_refuses_all_ranks_refuse(spread, shared, comm):
    graph = gf.datasets.grid(9, 7)
    there = spread(graph)
    op = distributed.operator(there, "sym", "high")
    x = signal(graph)
    x[-1] = np.nan
    with pytest.raises(SignalError, match="must be finite"):
        distributed.s_value(op, distributed.local_rows(there, x))
    with pytest.raises(SignalError, match="signal has 5 rows but the graph has 63 nodes"):
        distributed.local_rows(there, x[:5])
    with pytest.raises(SignalError, match="zero everywhere"):
        distributed.s_value(op, np.zeros(there.n_local))
    with pytest.raises(ParameterError, match="high channel"):
        distributed.s_value(distributed.operator(there, "sym"), np.ones(there.n_local))
    with pytest.raises(ParameterError, match="cuts must rise"):
        distributed.open_graph(there.files.indptr.path.parent, cuts=[0, 99])
    with pytest.raises(OSError, match="no such directory"):
        distributed.save(there, np.ones(there.n_local), f"{shared}/nowhere/x.npy")
    lonely = gf.Graph.from_edges([(0, 1)], n_nodes=4)
    with pytest.raises(GraphError, match="node 2 is isolated"):
        distributed.operator(spread(lonely), "sym", isolated="error")
    assert distributed.operator(spread(lonely), "renorm_sym", isolated="error").isolated == "error"


DAMAGE = (
    ("indices.npy", -1, 99_999, "is no node"),
    ("indices.npy", 0, -1, "is no node"),
    ("weights.npy", -2, np.nan, "not finite"),
    ("weights.npy", 0, -1.0, "not finite"),
    ("indptr.npy", -2, 10**6, "do not rise"),
    ("indptr.npy", 0, 1, "do not rise"),
    ("indptr.npy", -1, 3, "do not rise"),
)


@pytest.mark.parametrize("damage", range(len(DAMAGE)))
def test_a_damaged_folder_is_refused_by_all_ranks(shared, comm, random_graph, damage):
    from gsp_fb.outofcore import write_folder

    path, (file, at, value, message) = f"{shared}/damage-{damage}.npyd", DAMAGE[damage]
    if comm.rank == 0:
        write_folder(random_graph(40, 120, 1), path)
        array = np.load(f"{path}/{file}")
        array[at] = value
        np.save(f"{path}/{file}", array)
    comm.barrier()
    with pytest.raises(FormatError, match=message):
        distributed.open_graph(path)
    comm.barrier()


def test_an_operator_of_another_graph_is_refused():
    here = gf.operator(gf.datasets.ring(5), "sym", "high")
    with pytest.raises(GraphError, match="is not on a distributed graph"):
        distributed.s_value(here, np.ones(5))


def test_directed_graphs_have_no_spectrum(spread, random_graph):
    there = distributed.operator(spread(random_graph(600, 900, 2, directed=True)), "sym", "high")
    with pytest.raises(GraphError, match="directed"):
        distributed.spectrum(there, 3)
