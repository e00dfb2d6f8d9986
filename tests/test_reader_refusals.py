"""Files that a reader can open and still must not take: each is refused by name, with what is wrong in it."""

import io
import pickle
import zipfile
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from gsp_fb import Graph, open_graph, operator, outofcore, s_value
from gsp_fb.datasets.divisions import check_relations
from gsp_fb.datasets.readers.arrays import CollectionArrays, NodeArrays, RelationArrays, checked_csr
from gsp_fb.datasets.readers.geomgcn import _check_fit, _edges, _one_hot
from gsp_fb.datasets.readers.pickled import PickledArray, PickledCsr, PickledDtype, _array
from gsp_fb.errors import FormatError, GraphError, GspWarning, ParameterError, SignalError
from gsp_fb.files import read_graph, write_graph
from gsp_fb.files._nodes import restore_labels
from gsp_fb.outofcore._edges import open_edges

COO = {"format": np.array("coo"), "data": np.ones(2), "row": np.array([0, 1]), "col": np.array([1, 0])}


def archive(path, **members):
    with zipfile.ZipFile(path, "w") as file:
        for name, array in members.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            file.writestr(name, buffer.getvalue())
    return path


def named(arrays):
    return {f"{name}.npy": array for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"shape": np.array([2, 2, 2])}, r"the matrix has shape \(2, 2, 2\); an adjacency matrix has two axes"),
        ({"shape": np.array([2, -2])}, r"the matrix has shape \(2, -2\); an adjacency matrix has two axes"),
        ({"row": np.array([0])}, "2 entries with 1 rows and 2 columns"),
        ({"row": np.array([0, 5])}, r"index 5 is outside a matrix of shape \(2, 2\)"),
        ({"col": np.array([0, -1])}, r"index -1 is outside a matrix of shape \(2, 2\)"),
        ({"format": np.array("dia")}, "unknown format 'dia'; choose one of"),
    ],
)
def test_npz_of_scipy(changed, message, tmp_path):
    path = archive(tmp_path / "a.npz", **named(COO | {"shape": np.array([2, 2])} | changed))
    with pytest.raises(FormatError, match=rf"a\.npz: .*{message}"):
        read_graph(path)


def test_npz_with_an_array_twice(tmp_path):
    path = archive(tmp_path / "a.npz", **named(COO), row=COO["row"])
    with pytest.raises(FormatError, match=r"a\.npz: an array occurs twice in the archive"):
        read_graph(path)


def test_names_that_should_be_numbers_in_order():
    assert restore_labels(["0", "1"], "none") is None
    with pytest.raises(FormatError, match="the nodes are not numbered in order"):
        restore_labels(["1", "0"], "none")


def edges_of(path):
    return list(open_edges(path, memory=10**6).blocks)


def table(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [0], "to": [1]}, "columns source and target are needed; found source, to"),
        ({"source": [0, None], "target": [1, 2]}, "column 'source' has empty cells"),
        ({"source": [0.5], "target": [1.5]}, "columns source and target must be node numbers"),
    ],
)
def test_parquet_that_is_no_edge_list_of_any_size(columns, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        edges_of(table(tmp_path / "a.parquet", **columns))


@pytest.mark.parametrize("array", [np.zeros(4, int), np.zeros((2, 3), int), np.zeros((2, 2)), np.zeros((3, 2), int).T])
def test_npy_that_is_no_edge_list(array, tmp_path):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(FormatError, match=r"a\.npy: .* integers of shape \(n_edges, 2\) are needed"):
        edges_of(tmp_path / "a.npy")


def test_edge_lists_of_unknown_suffix_or_with_names(tmp_path):
    with pytest.raises(FormatError, match=r"a\.gml: edge lists of any size end in .*, text also in \.gz"):
        edges_of(tmp_path / "a.gml")
    write_graph(Graph.from_edges([(0, 1)], nodes=("a", "b")), tmp_path / "a.csv")
    with pytest.raises(FormatError, match=r"a\.csv: nodes have names; stored graphs number them 0\.\.n-1"):
        edges_of(tmp_path / "a.csv")


@pytest.fixture
def stored(tmp_path):
    outofcore.write_folder(Graph.from_edges([(0, 1), (1, 2)]), tmp_path / "a.npyd")
    return operator(open_graph(tmp_path / "a.npyd"), "sym", channel="high")


def test_stored_signals_that_have_no_answer(stored, tmp_path):
    with pytest.raises(SignalError, match="signal is zero everywhere; S = E_S / E is undefined"):
        s_value(stored, np.zeros(3))
    with pytest.warns(GspWarning, match="signal column 1 is zero everywhere; its S-value is nan"):
        found = s_value(stored, np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), per_column=True)
    assert found[0] == pytest.approx(1.0)
    assert np.isnan(found[1])


def test_sparse_signals_on_stored_graphs_stay_sparse_and_in_memory(stored, tmp_path):
    x = sparse.csr_array(np.array([[1.0], [0.0], [2.0]]))
    found = stored.multiply(x)
    assert sparse.issparse(found)
    assert np.allclose(found.toarray(), stored.multiply(x.toarray()))
    with pytest.raises(ParameterError, match=r"a sparse signal has a sparse result, which .* cannot hold; leave out="):
        stored.multiply(x, out=tmp_path / "y.npy")


def array_of(dtype, shape=(2,), text="f8", order="<"):
    """Return the stand-in of an array as a pickle would fill it."""
    kind = PickledDtype(text) if dtype else "no dtype"
    if dtype:
        kind.__setstate__((3, order))
    found = PickledArray()
    found.__setstate__((1, shape, kind, False, bytes(16)))
    return found


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: array_of(False).array(), r"an array of shape \(2,\), which no Planetoid file holds"),
        (lambda: array_of(True, shape="2").array(), "an array of shape '2', which no Planetoid file holds"),
        (lambda: array_of(True, text="O").array(), "an array of dtype 'O', which no Planetoid file holds"),
        (lambda: array_of(True, order="?").array(), "an array of dtype 'f8', which no Planetoid file holds"),
        (lambda: _array(PickledCsr, (0,), "b"), "the pickle makes an array of another class"),
    ],
)
def test_pickled_arrays_that_no_planetoid_file_holds(made, message):
    with pytest.raises(FormatError, match=message):
        made()


def test_planetoid_files_that_do_not_fit_each_other(tmp_path):
    wide, narrow, test = np.zeros((2, 4)), np.zeros((1, 3)), np.array([2])
    with pytest.raises(FormatError, match="allx has 4 features, tx 3"):
        _check_fit(test, wide, narrow, 3)
    for nodes, rows in ((np.array([2, 3]), narrow), (np.array([1]), narrow), (np.array([5]), narrow)):
        with pytest.raises(FormatError, match=f"{len(nodes)} test nodes from {nodes.min()} do not fit"):
            _check_fit(nodes, wide, rows, 3)
    (tmp_path / "ind.cora.y").write_bytes(pickle.dumps(np.zeros(3), protocol=2))
    with pytest.raises(FormatError, match=r"ind\.cora\.y: labels of shape \(3,\), expected one 0/1 column per class"):
        _one_hot(tmp_path / "ind.cora.y")


def test_a_list_of_neighbours_that_is_repeated_by_reference(tmp_path):
    neighbours = list(range(200))
    path = tmp_path / "ind.cora.graph"
    path.write_bytes(pickle.dumps(dict.fromkeys(range(200), neighbours), protocol=2))
    with pytest.raises(FormatError, match=r"ind\.cora\.graph: 40000 neighbours in \d+ bytes"):
        _edges(path)


X = sparse.csr_array(np.eye(3, dtype=np.float32))
NODES = {"edges": np.array([[0, 1], [1, 2]]), "x": X, "y": np.zeros(3, int)}
COLLECTION = {
    "graph_indptr": np.array([0, 2, 3]),
    "edges": np.array([[0, 1], [1, 0]]),
    "node_label": np.zeros(3, int),
    "y": np.zeros(2, int),
    "fold": np.zeros(2, int),
}
RELATIONS = {"pairs": np.array([[0], [1]]), "space": np.uint8([0]), "relation": np.uint8([0])}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NodeArrays(**NODES | {"edges": np.array([0, 1])}), r"edges have shape \(2,\), expected two rows"),
        (lambda: NodeArrays(**NODES | {"edges": np.array([[0], [3]])}), r"edges 0\.\.3 are not all in 0\.\.2"),
        (lambda: NodeArrays(**NODES | {"y": np.zeros(2, int)}), "y has 2 entries for 3 nodes"),
        (lambda: NodeArrays(**NODES, masks=np.zeros((3, 3), bool)), r"masks of shape \(3, 3\) do not fit three parts"),
        (lambda: NodeArrays(**NODES, unlabelled=np.array([3])), r"unlabelled nodes 3\.\.3 are not all in 0\.\.2"),
        (lambda: CollectionArrays(**COLLECTION | {"graph_indptr": np.array([0, 2])}), "graph_indptr must rise from 0"),
        (lambda: CollectionArrays(**COLLECTION | {"graph_indptr": np.array([], int)}), "graph_indptr must rise from 0"),
        (lambda: CollectionArrays(**COLLECTION | {"y": np.zeros(1, int)}), "y has 1 entries for 2 graphs"),
        (lambda: CollectionArrays(**COLLECTION | {"edges": np.array([[0], [2]])}), "an edge joins two graphs"),
        (lambda: RelationArrays(**RELATIONS | {"relation": np.uint8([4])}), r"relations 4\.\.4 are not all in 0\.\.3"),
        (lambda: RelationArrays(**RELATIONS | {"space": np.uint8([0, 1])}), "space has 2 entries for 1 pairs"),
        (lambda: checked_csr(np.ones(1), np.array([0]), np.array([0, 1]), (1,)), r"a feature matrix has shape \(1,\)"),
        (lambda: checked_csr(np.ones(1), np.array([5]), np.array([0, 1]), (1, 2)), "column index 5"),
    ],
)
def test_arrays_of_a_data_set_that_do_not_fit_each_other(make, message):
    with pytest.raises((FormatError, GraphError), match=message):
        make()


def test_relations_that_are_none():
    for given in (
        RELATIONS | {"pairs": np.array([0, 1])},
        RELATIONS | {"space": np.uint8([0, 0])},
        RELATIONS | {"relation": np.uint8([9])},
        RELATIONS | {"space": np.uint8([9])},
    ):
        with pytest.raises(ParameterError, match=r"relations need pairs|space must be <"):
            check_relations(SimpleNamespace(**given))
