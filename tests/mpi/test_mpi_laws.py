"""The laws of storages on MPI ranks, and what only ranks have: shares of rows, searches over ranks, shared files."""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import FormatError, ParameterError, SignalError
from gsp_fb.variants import CHANNELS, VARIANTS

pytest.importorskip("petsc4py", reason="petsc4py is missing: `make test-mpi` installs it and runs these laws")

from gsp_fb import distributed  # after the skips
from tests.laws import storage_laws
from tests.laws.storage_laws import *  # noqa: F403  # the laws themselves
from tests.laws.storage_laws import EPS, assert_near, make_random, operators, signal, size, whole
from tests.outofcore import test_every_function as every


@pytest.fixture
def searched(monkeypatch):
    """Small graphs are searched over ranks as large ones are, instead of being loaded by each."""
    monkeypatch.setattr("gsp_fb.distributed.spectra.REPLICATED_NODES", 512)


def random_cuts(comm, n_nodes, seed):
    inner = np.sort(np.random.default_rng(seed).integers(0, n_nodes + 1, comm.size - 1))
    return [0, *inner.tolist(), n_nodes]


def test_every_rank_holds_its_own_rows(distribute, graph, comm):
    there = distribute(graph)
    cuts = there.storage.layout.cuts
    assert (cuts[0], cuts[-1]) == (0, graph.n_nodes)
    assert sum(comm.allgather(len(there.local_rows))) == graph.n_nodes
    assert len(there.degrees) == len(there.local_rows)


@pytest.mark.parametrize("seed", range(4))
def test_the_share_of_a_rank_does_not_matter(distribute, undirected, comm, seed):
    n_nodes = undirected.n_nodes
    cuts = [0] * comm.size + [n_nodes] if seed == 0 else random_cuts(comm, n_nodes, seed)
    x = signal(undirected, 2)
    there = distribute(undirected, cuts)
    for op, here in operators(there, undirected, isolated=("self",)):
        own = there.local(x)
        scale = 64 * EPS * n_nodes * size(here)
        assert_near(whole(there, op @ own), here @ x, scale * abs(x).max())
        assert_near(op.bounds, here.bounds, scale)
        if op.channel == "high":
            assert_near(gf.s_value(op, own), gf.s_value(here, x), scale)
    np.testing.assert_array_equal(whole(there, there.component_labels), undirected.component_labels)


@pytest.mark.parametrize("seed", range(6))
def test_components_of_long_paths_in_random_order(distribute, comm, seed):
    """No rank alone knows which of its pieces belong together."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(200)
    broken = set(rng.choice(199, 3, replace=False).tolist())
    graph = gf.Graph.from_edges([(order[i], order[i + 1]) for i in range(199) if i not in broken])
    assert distribute(graph, random_cuts(comm, 200, seed)).n_components == graph.n_components == 4


def check_modes(there, here, k, which):
    found, values = gf.spectrum(there, k, which), np.linalg.eigvalsh(here.symmetrized.to_scipy().toarray())
    reach = max(map(abs, here.bounds))
    smallest = (which == "low") == (here.channel == "high")
    assert_near(found.frequencies, values[:k] if smallest else values[-k:], 1e-11 * reach)
    vectors = whole(there.graph, found.symmetrized_basis)
    assert_near(vectors.conj().T @ vectors, np.eye(k), 1e-9)
    residual = here.symmetrized @ vectors - vectors * found.frequencies
    assert np.linalg.norm(residual, axis=0).max() < 1e-7 * reach
    return found


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("channel", CHANNELS)
def test_partial_spectra(distribute, which, channel):
    graph = make_random(700, 2500, 3)
    for family in VARIANTS:
        there, here = gf.operator(distribute(graph), family, channel), gf.operator(graph, family, channel)
        check_modes(there, here, 5, which)


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("q", [None, 0.2])
def test_partial_spectra_and_eigengaps_of_signed_and_magnetic_graphs(distribute, which, q):
    directed = q is not None
    graph = make_random(700, 2500, 3, directed=directed, weighted=False, signed=not directed)
    graph = graph.magnetic(q) if directed else graph
    for family in ("comb", "sym", "renorm_rw"):
        there, here = gf.operator(distribute(graph), family, "high"), gf.operator(graph, family, "high")
        check_modes(there, here, 5, which)
    assert abs(gf.eigengap(there).ratio - gf.eigengap(here).ratio) <= 1e-9


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("isolated", ["self", "zero"])
def test_null_vectors_of_components_come_first(distribute, isolated):
    edges = [(i, i + 1) for i in range(599) if i not in (99, 299)]
    graph = gf.Graph.from_edges([*edges, (0, 50), (200, 250)], n_nodes=602)
    there = gf.operator(distribute(graph), "sym", "high", isolated=isolated)
    here = gf.operator(graph, "sym", "high", isolated=isolated)
    n_null = 5 if isolated == "self" else 3
    for k in (2, n_null, n_null + 3):
        found = check_modes(there, here, k, "low")
        assert np.count_nonzero(found.frequencies < 1e-12) == min(k, n_null)


@pytest.mark.usefixtures("searched")
def test_modes_do_not_depend_on_the_share_of_a_rank(distribute, comm):
    graph = make_random(700, 2500, 4)
    found = [
        gf.spectrum(gf.operator(distribute(graph, cuts), "sym", "high"), 4)
        for cuts in (None, random_cuts(comm, 700, 1))
    ]
    first, second = (whole(modes.operator.graph, modes.symmetrized_basis) for modes in found)
    assert_near(found[0].frequencies, found[1].frequencies, 1e-11)
    assert_near(first, second, 1e-5)


@pytest.mark.usefixtures("searched")
def test_eigengaps_by_searches(distribute):
    for one in (make_random(900, 4000, 6, weighted=False, connected=True), gf.datasets.grid(30, 31)):
        for family in VARIANTS:
            there, here = gf.operator(distribute(one), family), gf.operator(one, family)
            actual, values = gf.eigengap(there), np.linalg.eigvalsh(here.symmetrized.to_scipy().toarray())
            assert actual.proof == "residual"
            assert abs(actual.ratio - values[-2]) <= 1e-11
            assert abs(actual.ratio - values[-2]) <= actual.error + 64 * EPS * size(here)


def test_the_tiny_gap_of_a_large_grid(distribute):
    """A gap of 1e-4 among 1e5 nodes."""
    graph = gf.datasets.grid(316, 316)
    gap = gf.eigengap(gf.operator(distribute(graph), "comb", "high"))
    assert abs((1.0 - gap.ratio) - (2 - 2 * np.cos(np.pi / 316))) < 1e-12


def test_the_tiny_gap_of_a_long_path(distribute):
    """A gap of 1e-7, which polynomials of moderate degree do not resolve: the inverse by multigrid does."""
    graph = gf.Graph.from_edges(np.stack([np.arange(7999), np.arange(1, 8000)], axis=1))
    found = gf.spectrum(gf.operator(distribute(graph), "comb", "high"), 3)
    assert found.method == "shift-invert"
    assert_near(found.frequencies, 2 - 2 * np.cos(np.pi * np.arange(3) / 8000), 1e-12)


@pytest.mark.usefixtures("searched")
def test_several_components_have_no_gap(distribute):
    graph = gf.Graph.from_edges([(i, i + 1) for i in range(700) if i != 300])
    gap = gf.eigengap(gf.operator(distribute(graph), "lazy_rw"))
    assert (gap.ratio, gap.error, gap.proof) == (1.0, 0.0, "components")


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize("which", ["low", "high"])
def test_fault_145_copies_of_repeated_eigenvalues(distribute, which):
    """A torus: every frequency but the ends four or eight times."""
    nodes = [(i, j) for i in range(30) for j in range(30)]
    graph = gf.Graph.from_edges(
        [(30 * i + j, 30 * ((i + a) % 30) + (j + b) % 30) for i, j in nodes for a, b in ((0, 1), (1, 0))]
    )
    ring = 2 - 2 * np.cos(2 * np.pi * np.arange(30) / 30)
    values = np.sort((ring[:, None] + ring[None, :]).ravel())
    for k in (2, 5, 10, 23):
        found = gf.spectrum(gf.operator(distribute(graph), "comb", "high"), k, which)
        assert_near(found.frequencies, values[:k] if which == "low" else values[-k:], 1e-9)


@pytest.mark.parametrize("which", ["low", "high"])
def test_fault_145_weights_of_three_hundred_decades(distribute, which):
    """The values of one process, whatever the number of ranks."""
    rng = np.random.default_rng(0)
    edges = np.stack([np.arange(699), np.arange(1, 700)], axis=1)
    graph = gf.Graph.from_edges(edges, 10.0 ** rng.uniform(-150, 150, 699))
    for family in ("comb", "sym", "lazy_rw"):
        there, here = gf.operator(distribute(graph), family, "high"), gf.operator(graph, family, "high")
        found, expected = gf.spectrum(there, 6, which), gf.spectrum(here, 6, which)
        np.testing.assert_array_equal(found.frequencies, expected.frequencies)


def test_two_channel_banks(distribute, undirected):
    x = signal(undirected, 2)
    there = distribute(undirected)
    bank, expected = (gf.filters.two_channel(one, "lazy_rw", levels=2) for one in (there, undirected))
    bands = bank.analyze(there.local(x))
    for band, want in zip(bands, expected.analyze(x), strict=True):
        assert_near(whole(there, band), want, 64 * EPS * undirected.n_nodes * abs(x).max())
    assert_near(whole(there, bank.synthesize(*bands)), x, 64 * EPS * undirected.n_nodes * abs(x).max())


def test_fault_150_ranks_that_open_different_folders(shared, comm):
    from gsp_fb.outofcore import write_folder

    paths = [f"{shared}/one.npyd", f"{shared}/two.npyd"]
    if comm.rank == 0:
        for path, seed in zip(paths, (1, 2), strict=True):
            write_folder(gf.Graph.from_edges(np.random.default_rng(seed).permutation(40).reshape(20, 2)), path)
    comm.barrier()
    if comm.size == 1:
        return
    with pytest.raises(FormatError, match=r"rank 0 has .*one.npyd and rank 1 has .*two.npyd"):
        gf.open_graph(paths[comm.rank % 2], comm=comm)


@pytest.mark.parametrize("kind", [np.float32, np.complex128])
def test_files_written_by_all_ranks(distribute, graph, shared, comm, kind):
    there, x = distribute(graph), signal(graph, 2, 3, kind=kind)
    path = f"{shared}/out.npy"
    there.storage.save(distributed.local_rows(there, x), path)
    np.testing.assert_array_equal(np.load(path), x)
    np.testing.assert_array_equal(whole(there, distributed.local_rows(there, path)), x)
    comm.barrier()
    if comm.rank == 0:
        np.save(path, np.asfortranarray(x))
    comm.barrier()
    np.testing.assert_array_equal(whole(there, distributed.local_rows(there, path)), x)
    comm.barrier()


def test_products_and_banks_from_file_to_file(distribute, shared, comm):
    graph = gf.datasets.grid(9, 7)
    there, x = distribute(graph), signal(graph, 2)
    if comm.rank == 0:
        np.save(f"{shared}/x.npy", x)
    comm.barrier()
    op, here = (gf.operator(one, "sym", "high") for one in (there, graph))
    op.multiply(f"{shared}/x.npy", out=f"{shared}/y.npy")
    assert_near(np.load(f"{shared}/y.npy"), here @ x, 1e-14)
    banks = [gf.FilterBank(one, storage_laws.KERNELS, method="chebyshev") for one in (op, here)]
    banks[0].analyze(f"{shared}/x.npy", out=f"{shared}/c.npy")
    assert_near(np.load(f"{shared}/c.npy"), banks[1].analyze(x), 1e-11)
    comm.barrier()


def test_what_one_rank_refuses_all_ranks_refuse(distribute, shared, comm):
    graph = gf.datasets.grid(9, 7)
    there, x = distribute(graph), signal(graph)
    with pytest.raises(SignalError, match="signal has 5 rows but the graph has 63 nodes"):
        distributed.local_rows(there, x[:5])
    with pytest.raises(ParameterError, match="cuts must rise"):
        gf.open_graph(there.storage.source.name, comm=comm, cuts=[0, 99])
    with pytest.raises(ParameterError, match="memory, directed and progress"):
        gf.open_graph(there.storage.source.name, memory="1MB", comm=comm)
    with pytest.raises(OSError, match="no such directory"):
        there.storage.save(np.ones(len(there.local_rows)), f"{shared}/nowhere/x.npy")


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
def test_a_damaged_folder_is_refused_by_all_ranks(shared, comm, damage):
    from gsp_fb.outofcore import write_folder

    path, (file, at, value, message) = f"{shared}/damage-{damage}.npyd", DAMAGE[damage]
    if comm.rank == 0:
        write_folder(make_random(40, 120, 1), path)
        array = np.load(f"{path}/{file}")
        array[at] = value
        np.save(f"{path}/{file}", array)
    comm.barrier()
    with pytest.raises(FormatError, match=message):
        gf.open_graph(path, comm=comm)
    comm.barrier()


def test_a_file_of_edges_is_refused(shared, comm):
    if comm.rank == 0:
        gf.write_graph(gf.datasets.ring(5), f"{shared}/ring.csv")
    comm.barrier()
    with pytest.raises(FormatError, match="gsp-fb convert"):
        gf.open_graph(f"{shared}/ring.csv", comm=comm)


def local(graph, given):
    """Return the arguments of a function with the local rows of arrays over the nodes."""
    if isinstance(given, dict):
        return {name: local(graph, value) for name, value in given.items()}
    return graph.local(given) if isinstance(given, np.ndarray) and given.shape[:1] == (graph.n_nodes,) else given


def assert_same(there, found, expected):
    """Compare numbers and arrays; what has one row a node is distributed, what has one a frequency is not."""
    if isinstance(expected, np.ndarray) and found.shape != expected.shape:
        found = whole(there, found)
    if isinstance(expected, float | np.ndarray):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_every_public_function_works_on_ranks_or_names_the_remedy(distribute):
    graph = every.random_graph()
    there = distribute(graph)
    for function, first in (parameter.values for parameter in every.public()):
        options = every.arguments(function)
        if options is None or function.__module__.startswith("gsp_fb.plot") or function.__name__ == "joint_igft":
            continue
        on_ranks, here = (one if first in every.GRAPHS else gf.operator(one, "sym", "high") for one in (there, graph))
        found = []
        every.attempt(lambda: found.append(function(on_ranks, **local(there, options))), on_missing=None)  # noqa: B023
        if found:
            assert_same(there, found[0], function(here, **options))


def test_joint_transforms_have_a_row_of_coefficients_for_every_mode(distribute):
    graph = gf.datasets.grid(5, 6)
    there, x = distribute(graph), signal(graph, 3)
    op = gf.operator(there, "sym", "high")
    c = gf.joint_gft(op, there.local(x))
    assert_near(c, gf.joint_gft(gf.operator(graph, "sym", "high"), x), 1e-12)
    assert_near(whole(there, gf.joint_igft(op, c)), x, 1e-12)


def test_every_member_of_a_graph_works_on_ranks_or_names_the_remedy(distribute):
    there = distribute(every.random_graph())
    x = there.local(every.X)
    bank = gf.FilterBank(gf.operator(there, "sym", channel="high"), gf.filters.heat(1.0))
    for call in (
        there.largest_component,
        lambda: there.subgraph([0, 1]),
        lambda: gf.datasets.Dataset.from_arrays(there, x[:, None], there.local(every.Y)),
        lambda: bank.error(x, bank.analyze(x)),
        lambda: bank.synthesize(bank.analyze(x)),
        lambda: bank.reconstruct(bank.analyze(x)),
        lambda: bank.localize(3),
        lambda: gf.StreamingEnergy(bank.op, x),
        lambda: gf.cartesian_product(there, every.random_graph()),
        lambda: gf.write_graph(there, "never written.npz"),
    ):
        every.attempt(call)
