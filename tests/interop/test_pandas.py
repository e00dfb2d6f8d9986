"""pandas: frames of edges by number and by name, both ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsp_fb import Graph
from gsp_fb.convert import from_pandas, to_pandas
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.testing import graphs


def back(df: pd.DataFrame, **options: object) -> Graph:
    return from_pandas(df, weight="weight" if "weight" in df else None, **options)


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_there_and_back_is_the_same_graph(directed: bool, data: st.DataObject) -> None:
    graph = data.draw(graphs(min_nodes=0, directed=directed))
    again = back(to_pandas(graph), n_nodes=graph.n_nodes, directed=directed)
    assert (again.directed, again.labels, again.is_weighted) == (directed, None, graph.is_weighted)
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())


@given(graphs(min_nodes=1), st.data())
def test_named_edges_survive_in_any_order_of_nodes(graph: Graph, data: st.DataObject) -> None:
    names = data.draw(st.lists(st.text(max_size=3), min_size=graph.n_nodes, max_size=graph.n_nodes, unique=True))
    named = Graph.from_adjacency(graph.adjacency, nodes=tuple(names))
    df = to_pandas(named)
    again = back(df)
    assert again.labels == tuple(dict.fromkeys(df[["source", "target"]].to_numpy().ravel().tolist()))
    order = [names.index(name) for name in again.labels]
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(order, order)])


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(0.125, 8.0)), min_size=1))
def test_sums_are_those_of_groupby(edges: list) -> None:
    df = pd.DataFrame(edges, columns=["u", "v", "w"])
    graph = from_pandas(df, source="u", target="v", weight="w", directed=True, duplicates="sum")
    for (u, v), total in df.groupby(["u", "v"])["w"].sum().items():
        assert graph.adjacency[u, v] == pytest.approx(total, rel=1e-12)
    assert graph.n_edges == len(df.drop_duplicates(["u", "v"]))


@pytest.mark.parametrize("dtype", ["int64", "Int64", "uint8", "int64[pyarrow]"])
def test_integer_columns_are_node_numbers(dtype: str) -> None:
    df = pd.DataFrame({"source": [0, 1], "target": [1, 4]}).astype(dtype)
    graph = from_pandas(df)
    assert (graph.n_nodes, graph.labels) == (5, None)


@pytest.mark.parametrize("dtype", ["object", "str", "category", "string[pyarrow]"])
def test_text_columns_are_names_in_order_of_appearance(dtype: str) -> None:
    df = pd.DataFrame({"source": ["7", "3"], "target": ["3", "9"]}).astype(dtype)
    assert from_pandas(df).labels == ("7", "3", "9")


def test_other_names_stay_what_they_are() -> None:
    days = pd.to_datetime(["2020-01-01", "2020-01-02"])
    assert from_pandas(pd.DataFrame({"source": days[:1], "target": days[1:]})).labels == tuple(days)
    assert from_pandas(pd.DataFrame({"source": [1], "target": ["a"]})).labels == (1, "a")


def test_a_frame_without_rows_does_not_say_how_many_nodes_there_are() -> None:
    df = pd.DataFrame({"source": [], "target": []}, dtype=int)
    assert from_pandas(df, n_nodes=3).n_isolated == 3
    with pytest.raises(ParameterError, match="n_nodes needed"):
        from_pandas(df)


def test_the_frame_stays_as_it_is_and_its_index_does_not_matter() -> None:
    df = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [1.0, 2.0]}, index=[9, 9])
    before = df.copy()
    assert from_pandas(df, weight="weight").degrees.tolist() == [1.0, 3.0, 2.0]
    pd.testing.assert_frame_equal(df, before)


@pytest.mark.parametrize(
    ("columns", "options", "error", "message"),
    [
        ({"a": [0], "target": [1]}, {}, ParameterError, "no column 'source'; the frame has a, target"),
        ({"source": ["a", None], "target": ["b", "c"]}, {}, GraphError, "column 'source' is empty in row 1"),
        ({"source": [0], "target": [1], "w": ["x"]}, {"weight": "w"}, GraphError, "weights must be numbers"),
        ({"source": [0], "target": [1], "w": [-1.0]}, {"weight": "w"}, GraphError, r"edge \(0, 1\) has weight -1"),
        ({"source": ["a"], "target": ["b"]}, {"n_nodes": 5}, ParameterError, "n_nodes=5 is for numbered nodes"),
        ({"source": [0, 0], "target": [1, 1]}, {}, GraphError, "duplicates='first'"),
    ],
)
def test_frames_that_are_no_graph(columns: dict, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        from_pandas(pd.DataFrame(columns), **options)
