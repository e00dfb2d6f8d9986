"""A graph on disk gives what the graph in memory gives, under limits that leave room for a few rows and one column."""

import os
import tempfile

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import gsp_fb as gf
from gsp_fb import outofcore
from gsp_fb.errors import FormatError, GraphError, ParameterError
from gsp_fb.filters import heat, mexican_hat
from gsp_fb.storage import Budget
from gsp_fb.testing import families, gammas, graphs, magnetic_graphs, signals, signed_graphs
from gsp_fb.variants import VARIANTS
from tests.support.closeness import assert_close, size_of

UNDIRECTED = graphs() | signed_graphs() | magnetic_graphs()
ANY_GRAPH = UNDIRECTED | graphs(directed=True)
ANY_WIDTH = st.none() | st.integers(1, 4)
KERNELS = [heat(2.0), *mexican_hat(3)]


# How a graph is written, and by which engine it is multiplied; lists of edges are SciPy's alone.
KINDS = {"folder-scipy": "npyd", "folder-numba": "npyd", "edges-scipy": "parquet"}


@pytest.fixture(scope="module", params=KINDS, autouse=True)
def kind(request):
    before = os.environ.get("GSP_FB_ENGINE")
    os.environ["GSP_FB_ENGINE"] = request.param.partition("-")[2]
    yield KINDS[request.param]
    os.environ.pop("GSP_FB_ENGINE")
    if before is not None:
        os.environ["GSP_FB_ENGINE"] = before


def least_limit(n_nodes, copies):
    """The smallest limit under which one column passes."""
    limit = 1
    while True:
        try:
            Budget(limit, n_nodes).columns(copies)
        except ParameterError:
            limit += max(1, limit // 20)
        else:
            return limit


@pytest.fixture(scope="module")
def folder(kind):
    """Return a place for graphs of a kind, named after it."""
    # Hundreds of folders are written, each to the disk for sure: better to a disk of memory.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None, suffix=kind) as path:
        yield path


def stored(graph, folder, *, copies=7):
    # Lists of edges hold weights >= 0; the limit leaves room for complex signals where the weights are.
    assume(not (graph.is_signed and folder.endswith("parquet")))
    copies *= 1 + graph.is_complex
    path = os.path.join(tempfile.mkdtemp(dir=folder), "graph.")
    if folder.endswith("parquet"):
        path += "parquet"
        gf.write_graph(graph, path)
    else:
        path += "npyd"
        outofcore.write_folder(graph, path)
    return gf.open_graph(path, memory=least_limit(graph.n_nodes, copies))


def pair(graph, folder, family, gamma, *, isolated="self", channel="high", **options):
    gamma = gamma if VARIANTS[family].has_gamma else None
    kept = stored(graph, folder, **options)
    return tuple(gf.operator(one, family, channel, gamma, isolated) for one in (kept, graph))


@given(ANY_GRAPH)
def test_facts_are_those_of_the_graph_in_memory(folder, graph):
    kept = stored(graph, folder)
    for fact in ("n_nodes", "n_edges", "n_loops", "n_isolated", "n_components", "directed", "is_weighted", "is_signed"):
        assert getattr(kept, fact) == getattr(graph, fact), fact
    if folder.endswith("npyd"):
        assert kept.sha256 == graph.sha256
    assert_close(kept.degrees, graph.degrees, scale=size_of(graph.degrees))
    np.testing.assert_array_equal(kept.loop_weights, graph.loop_weights)
    assert kept.load().sha256 == graph.sha256


@given(ANY_GRAPH)
def test_blocks_are_the_rows_of_the_adjacency(folder, graph):
    kept = stored(graph, folder)
    parts = [block.adjacency for block in kept.storage.blocks("rows")]
    is_rows = folder.endswith("npyd")
    whole = sparse.vstack(parts) if is_rows else sum(parts, sparse.csr_array(graph.adjacency.shape))
    np.testing.assert_array_equal(whole.toarray(), graph.adjacency.toarray())
    assert len(parts) > 1 or len(graph.indices) < 40


@given(ANY_GRAPH, families(), gammas(), signals(columns=ANY_WIDTH) | signals(complex=True))
def test_products_of_every_family(folder, graph, family, gamma, signal):
    isolated = "self" if gamma > 1 else "zero"
    # Room for the result in memory, and for complex numbers.
    kept, op = pair(graph, folder, family, gamma, isolated=isolated, channel="low", copies=2 * 7 + 4)
    x = signal(graph)
    for name in ("left", "right", "diag", "scale"):
        assert_close(getattr(kept, name), getattr(op, name), scale=size_of(getattr(op, name)))
    scale = (1 + size_of(op.to_scipy())) * size_of(x)
    assert_close(kept.multiply(x), op @ x, scale=scale)
    assert_close(kept @ sparse.csr_array(x.reshape(len(x), -1)), (op @ x).reshape(len(x), -1), scale=scale)


@given(UNDIRECTED, families(), gammas())
def test_bounds_of_every_family(folder, graph, family, gamma):
    kept, op = pair(graph, folder, family, gamma)
    assert_close(kept.bounds, op.bounds, scale=1 + size_of(op.bounds), n=graph.n_nodes)


@given(ANY_GRAPH, families(), gammas(), signals(columns=ANY_WIDTH))
def test_energies_of_every_family(folder, graph, family, gamma, signal):
    kept, op = pair(graph, folder, family, gamma)
    x = signal(graph)
    x[0] = 1.0  # no column is zero everywhere
    scale = (1 + size_of(op.to_scipy())) * np.linalg.norm(x) ** 2 * graph.n_nodes * (1 + size_of(op.scale)) ** 2
    for name in ("dirichlet_energy", "nonsmooth_energy", "s_value"):
        for per_column in (False, True):
            actual = getattr(gf, name)(kept, x, per_column=per_column)
            assert_close(actual, getattr(gf, name)(op, x, per_column=per_column), scale=scale)
    assert_close(gf.signal_energy(x, kept), gf.signal_energy(x, op), scale=scale)


@settings(max_examples=25)
@given(UNDIRECTED, families(), gammas(), signals(columns=ANY_WIDTH))
def test_chebyshev_banks_of_every_family(folder, graph, family, gamma, signal):
    kept, op = pair(graph, folder, family, gamma, copies=9 + 2 * len(KERNELS))
    x = signal(graph)
    bank, expected = (gf.FilterBank(one, KERNELS, method="chebyshev") for one in (kept, op))
    out = os.path.join(tempfile.mkdtemp(dir=folder), "c.npy")
    actual = bank.analyze(x, out=out)
    assert actual.shape == (*x.shape, len(KERNELS))
    scale = 1e3 * size_of(x) * size_of(op.scale) / float(np.min(op.scale, initial=1.0))
    assert_close(np.asarray(actual), expected.analyze(x), scale=scale)


@given(ANY_GRAPH, st.lists(st.integers(-1, 3), min_size=12, max_size=12))
def test_homophily(folder, graph, labels):
    kept, y = stored(graph, folder), labels[: graph.n_nodes]
    for name in ("node_homophily", "edge_homophily", "class_homophily", "adjusted_homophily", "label_informativeness"):
        np.testing.assert_allclose(getattr(gf, name)(kept, y), getattr(gf, name)(graph, y), rtol=1e-9, atol=1e-12)


BAD = {
    "0,1\n0,1\n": (FormatError, r"edge \(0, 1\) is out of order, listed again"),
    "1,2\n0,1\n": (FormatError, "gsp-fb convert"),
    "2,1\n": (FormatError, "larger end first"),
    "0,1,0\n": (FormatError, "weighs nothing"),
    "0,1,nan\n": (GraphError, "weight nan"),
    "0,1,-2\n": (GraphError, r"build_folder\(..., signed=True\) makes a folder that keeps negative weights"),
    "0,2000000000\n": (ParameterError, "too little for node 2000000000"),
    "": (FormatError, "no edges"),
    "-1,1\n": (GraphError, r"edge 0 is \(-1, 1\)"),
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_lists_that_are_not_in_order_are_refused(tmp_path, text):
    (tmp_path / "e.csv").write_text(text)
    error, message = BAD[text]
    with pytest.raises(error, match=message):
        gf.open_graph(tmp_path / "e.csv")


def test_a_list_that_does_not_say_what_it_is(tmp_path):
    np.save(tmp_path / "arcs.npy", np.array([[0, 1], [1, 0], [1, 2]]))
    arcs = gf.open_graph(tmp_path / "arcs.npy", directed=True)
    assert (arcs.directed, arcs.n_edges, arcs.degrees.tolist()) == (True, 3, [1, 2, 0])
    with pytest.raises(GraphError, match="gsp-fb convert"):
        _ = arcs.sha256
