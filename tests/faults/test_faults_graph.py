"""Rows 1-16, 21-38 of the catalogue: what a bad adjacency or edge list gives its user."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb import _build
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.variants import VARIANTS

TRIANGLE = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=float)
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


def same(graph, adjacency):
    assert np.array_equal(graph.adjacency.toarray(), adjacency)


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros(4), np.zeros((2, 2, 2))], ids=["2x3", "1-D", "3-D"])
def test_fault_001_not_square(bad):
    with pytest.raises(GraphError, match=str(bad.shape).replace("(", r"\(").replace(")", r"\)")):
        gf.Graph.from_adjacency(bad)


def test_fault_002_asymmetric():
    with pytest.raises(GraphError, match=r"\(0, 1\) is 2.0 but \(1, 0\) is 5.0.*symmetrize=.*directed=True"):
        gf.Graph.from_adjacency([[0, 2], [5, 0]])


def test_fault_003_asymmetric_by_rounding():
    third = 1 / 3
    graph = gf.Graph.from_adjacency([[0, third], [third * (1 + 5e-13), 0]])
    A = graph.adjacency.toarray()
    assert A[0, 1] == A[1, 0] == pytest.approx(third, rel=1e-12)


def test_fault_004_nan_weight():
    with pytest.raises(GraphError, match=r"edge \(3, 7\) has weight nan"):
        gf.Graph.from_edges([(0, 1), (3, 7)], [1.0, np.nan])
    with pytest.raises(GraphError, match=r"edge \(0, 1\) has weight nan"):
        gf.Graph.from_adjacency([[0, np.nan], [np.nan, 0]])


@pytest.mark.parametrize("weight", [np.inf, -np.inf])
def test_fault_005_infinite_weight(weight):
    with pytest.raises(GraphError, match=r"edge \(0, 1\) has weight -?inf"):
        gf.Graph.from_edges([(0, 1)], [weight])
    with pytest.raises(GraphError, match=r"edge \(0, 1\)"):
        gf.Graph.from_adjacency(sparse.coo_array(([weight, weight], ([0, 1], [1, 0])), shape=(2, 2)))


def test_fault_006_negative_weight():
    with pytest.raises(GraphError, match=r"edge \(2, 1\) has weight -0.5"):
        gf.Graph.from_edges([(0, 1), (2, 1)], [1.0, -0.5])


def test_fault_007_explicit_zeros_are_dropped_from_our_copy():
    A = sparse.csr_array(([1.0, 0.0, 1.0, 0.0], ([0, 0, 1, 2], [1, 2, 0, 0])), shape=(3, 3))
    graph = gf.Graph.from_adjacency(A)
    assert graph.indices.size == 2
    assert A.nnz == 4


def test_fault_008_duplicates():
    A = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    same(gf.Graph.from_adjacency(A), [[0, 3], [3, 0]])
    pairs, weights = [(0, 1), (1, 0), (0, 1), (1, 2)], [1.0, 2.0, 4.0, 8.0]
    with pytest.raises(GraphError, match="2 of 4 listed edges repeat"):
        gf.Graph.from_edges(pairs, weights)
    same(gf.Graph.from_edges(pairs, weights, duplicates="first"), [[0, 1, 0], [1, 0, 8], [0, 8, 0]])
    same(gf.Graph.from_edges(pairs, weights, duplicates="sum"), [[0, 7, 0], [7, 0, 8], [0, 8, 0]])


def test_fault_009_both_directions_with_max():
    graph = gf.Graph.from_edges([(0, 1), (1, 0)], [2.0, 3.0], symmetrize="max")
    assert graph.n_edges == 1
    same(graph, [[0, 3], [3, 0]])


def test_fault_010_self_loops():
    graph = gf.Graph.from_edges([(0, 1), (1, 1)])
    assert graph.degrees.tolist() == [1.0, 2.0]
    assert "n_loops=1" in repr(graph)
    assert gf.Graph.from_edges([(0, 1), (1, 1)], loops="drop").n_loops == 0


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_011_isolated_nodes(family):
    graph = gf.Graph.from_edges([(0, 1)], n_nodes=3)
    assert gf.operator(graph, family).to_scipy().toarray()[2].tolist() == [0.0, 0.0, 1.0]
    assert gf.operator(graph, family, channel="high").to_scipy().toarray()[2].tolist() == [0.0, 0.0, 0.0]
    if VARIANTS[family].norm != "none" and VARIANTS[family].loops != "unit":
        assert gf.operator(graph, family, "high", isolated="zero").diagonal[2] == 1.0
        with pytest.raises(GraphError, match="node 2 is isolated"):
            gf.operator(graph, family, isolated="error")


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_012_zero_nodes(family):
    graph = gf.Graph.from_adjacency(np.zeros((0, 0)))
    op = gf.operator(graph, family, channel="high")
    assert (op @ np.zeros((0, 3))).shape == (0, 3)
    assert len(gf.spectrum(op)) == 0
    assert graph.n_components == 0
    with pytest.raises(SignalError, match="zero everywhere"):
        gf.s_value(op, np.zeros(0))


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_013_one_node(family):
    graph = gf.Graph.from_adjacency([[0]])
    op = gf.operator(graph, family, channel="high")
    assert gf.spectrum(op, k=1).frequencies.tolist() == [0.0]
    assert (op @ [5.0]).tolist() == [0.0]


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_014_no_edges(family):
    graph = gf.Graph.from_edges([], n_nodes=4)
    assert graph.n_isolated == 4
    assert np.array_equal(gf.operator(graph, family) @ np.arange(4.0), np.arange(4.0))


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_015_disconnected(family):
    graph = gf.Graph.from_edges([(0, 1), (2, 3), (3, 4)])
    assert graph.n_components == 2
    gap = gf.eigengap(gf.operator(graph, family))
    assert (gap.ratio, gap.error) == (1.0, 0.0)


def test_fault_016_bipartite():
    square = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    assert gf.operator(square, "sym").bounds == (-1.0, 1.0)
    assert gf.operator(square, "sym", channel="high").bounds == (0.0, 2.0)
    assert gf.spectrum(gf.operator(square, "sym", channel="high")).frequencies[-1] == pytest.approx(2.0)
    row = {result.claim: result for result in gf.verify(square)}
    assert any("bipartite" in result.condition and not result.applicable for result in row.values())


@pytest.mark.parametrize("edge", [(0, 5), (-1, 0)])
def test_fault_021_index_out_of_range(edge):
    with pytest.raises(GraphError, match=r"edge 1 is \(-?\d, \d\); node ids must lie in 0..2"):
        gf.Graph.from_edges([(0, 1), edge], n_nodes=3)


def test_fault_022_fractional_ids():
    with pytest.raises(GraphError, match=r"\(0.0, 1.5\)"):
        gf.Graph.from_edges([(0, 1.5)])
    assert gf.Graph.from_edges([(0.0, 1.0)]).n_nodes == 2


def test_fault_023_empty_edge_list():
    with pytest.raises(ParameterError, match="n_nodes needed"):
        gf.Graph.from_edges([])
    assert gf.Graph.from_edges([], n_nodes=2).n_nodes == 2


CRAFTED = """
import numpy as np, gsp_fb as gf
from scipy import sparse
A = sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 1, 2])), shape=(2, 2))
A.indices[0] = 2**30
try:
    gf.Graph.from_adjacency(A)
except gf.errors.GraphError as refused:
    print(refused)
"""


def test_fault_024_csr_with_indices_out_of_range():
    run = subprocess.run([sys.executable, "-c", CRAFTED], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "column index 1073741824" in run.stdout


@pytest.mark.parametrize(
    ("indptr", "message"),
    [([0, 2, 1, 2], "decreases at row 1"), ([0, 1, 2], "must have 4 entries"), ([0, 1, 1, 9], "ends at 9")],
)
def test_fault_025_csr_with_bad_row_pointers(indptr, message):
    A = sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 1, 2, 2])), shape=(3, 3))
    A.indptr = np.array(indptr)
    with pytest.raises(GraphError, match=message):
        gf.Graph.from_adjacency(A)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_fault_026_every_sparse_class(form, kind):
    A = getattr(sparse, f"{form}_{kind}")(TRIANGLE)
    same(gf.Graph.from_adjacency(A), TRIANGLE)


def test_fault_027_unsorted_indices():
    A = sparse.csr_array(
        (np.array([2.0, 1, 3, 1, 3, 2]), np.array([2, 1, 2, 0, 1, 0]), np.array([0, 2, 4, 6])), shape=(3, 3)
    )
    same(gf.Graph.from_adjacency(A), TRIANGLE)
    assert A.indices.tolist() == [2, 1, 2, 0, 1, 0]


def test_fault_028_index_dtype(monkeypatch):
    A = sparse.csr_array(TRIANGLE)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    assert gf.Graph.from_adjacency(A).indices.dtype == np.int32
    monkeypatch.setattr(_build, "INT32_LIMIT", 4)
    wide = gf.Graph.from_adjacency(A)
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
    assert np.allclose(gf.operator(wide, "rw") @ np.ones(3), 1.0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.int64])
def test_fault_029_integer_dtypes(dtype):
    A = np.array([[0, 1], [1, 0]], dtype=dtype)
    graph = gf.Graph.from_adjacency(A)
    assert graph.degrees.dtype == np.float64
    big = gf.Graph.from_adjacency(np.array([[0, 2**53], [2**53, 0]]))
    assert big.degrees.tolist() == [2.0**53, 2.0**53]
    many = gf.Graph.from_adjacency(np.ones((300, 300), dtype=np.uint8))
    assert many.degrees[0] == 300.0


@pytest.mark.parametrize("dtype", [object, str, "datetime64[D]"])
def test_fault_030_not_numbers(dtype):
    with pytest.raises(GraphError, match="dtype"):
        gf.Graph.from_adjacency(np.array([[0, 1], [1, 0]]).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_fault_031_other_float_widths(dtype):
    graph = gf.Graph.from_adjacency(np.array([[0, 0.5], [0.5, 0]], dtype=dtype))
    assert graph.weights.dtype == np.float64
    assert graph.weights.tolist() == [0.5, 0.5]


def test_fault_032_complex_adjacency():
    with pytest.raises(GraphError, match="complex"):
        gf.Graph.from_adjacency(np.array([[0, 1j], [-1j, 0]]))


def test_fault_033_degree_overflow():
    with pytest.raises(GraphError, match="degree of node 0 overflows"):
        gf.Graph.from_edges([(0, 1), (0, 2)], [1e308, 1e308])


@pytest.mark.parametrize("family", VARIANTS)
def test_fault_034_subnormal_degree(family):
    with pytest.raises(GraphError, match="degree of node 0 is 1e-320"):
        gf.Graph.from_edges([(0, 1)], [1e-320])
    tiny = gf.Graph.from_edges([(0, 1)], [1e-307])
    assert np.isfinite(gf.operator(tiny, family).to_scipy().toarray()).all()


@pytest.mark.parametrize("family", [f for f, row in VARIANTS.items() if row.norm != "none"])
def test_fault_035_mixed_scales(family):
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], [1e-12, 1e12, 1.0, 1e-6])
    low, high = gf.operator(graph, family), gf.operator(graph, family, channel="high")
    x = np.array([1.0, -2.0, 3.0, 0.5])
    assert np.allclose(low @ x + high @ x, x, atol=64 * 4 * np.finfo(float).eps * np.abs(x).max())
    modes = gf.spectrum(high)
    assert np.allclose(modes.igft(modes.gft(x)), x, rtol=1e-9)
    assert modes.frequencies[0] == pytest.approx(0.0, abs=1e-12)


def test_fault_036_unusual_arrays(tmp_path):
    frozen = TRIANGLE.copy()
    frozen.setflags(write=False)
    on_disk = np.memmap(tmp_path / "a.bin", dtype=float, mode="w+", shape=(3, 3))
    on_disk[:] = TRIANGLE
    strided = np.zeros((6, 6))
    strided[::2, ::2] = TRIANGLE
    whole = np.ma.masked_array(TRIANGLE, mask=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # numpy's own word on np.matrix
        matrix = np.asmatrix(TRIANGLE)
    for A in (
        frozen,
        np.asfortranarray(TRIANGLE),
        strided[::2, ::2],
        on_disk,
        whole,
        matrix,
        TRIANGLE.tolist(),
    ):
        same(gf.Graph.from_adjacency(A), TRIANGLE)
    with pytest.raises(GraphError, match="masked"):
        gf.Graph.from_adjacency(np.ma.masked_greater(TRIANGLE, 2))


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_array])
def test_fault_037_caller_changes_his_array(make):
    A = make(TRIANGLE)
    graph = gf.Graph.from_adjacency(A)
    (A.data if sparse.issparse(A) else A)[:] = 7.0
    same(graph, TRIANGLE)


def test_fault_038_write_to_the_graph():
    graph = gf.Graph.from_adjacency(TRIANGLE)
    for array in (graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr, graph.degrees, graph.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
