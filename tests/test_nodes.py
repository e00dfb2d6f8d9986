"""The node table: alignment by name, coordinates by stated rules, rows that follow the nodes."""

import pickle

import numpy as np
import pandas as pd
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError, SignalError

CITIES = ("Rome", "Oslo", "Bern")


@pytest.fixture
def road():
    return gf.Graph.from_edges([(0, 1), (1, 2)], [2.0, 3.0], nodes=CITIES)


def test_a_series_is_aligned_by_name_in_every_order(road):
    high = gf.operator(road, "sym", channel="high")
    x = np.array([1.0, -2.0, 5.0])
    series = pd.Series(x, index=list(CITIES)).sample(frac=1.0, random_state=1)
    np.testing.assert_array_equal(high @ series, high @ x)
    assert gf.s_value(high, series) == gf.s_value(high, x)
    assert gf.s_value(high, series.to_frame()) == gf.s_value(high, x[:, None])
    np.testing.assert_array_equal(gf.FilterBank(high, gf.filters.heat(1.0)).analyze(series).shape, (3, 1))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (["Rome", "Oslo", "Paris"], "1 nodes have no row .*'Bern'.* and 1 rows are of no node .*'Paris'"),
        (["Rome", "Oslo", "Oslo"], "repeats 'Oslo'"),
        (
            ["Rome", "Oslo", "Bern", "Paris"],
            "1 rows are of no node .*'Paris'.*; drop these rows: a node without an edge",
        ),
        (range(3), "default 0..n-1 but the nodes have names"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(road, index, message):
    with pytest.raises(SignalError, match=message):
        gf.operator(road, "sym") @ pd.Series(np.ones(len(index)), index=index)


def test_numbers_are_names_where_nodes_have_none():
    path = gf.Graph.from_edges([(0, 1), (1, 2)])
    np.testing.assert_array_equal(path.check_signal(pd.Series([3.0, 1.0, 2.0], index=[2, 0, 1])), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(path.check_signal(pd.Series([3.0, 1.0, 2.0])), [3.0, 1.0, 2.0])
    with pytest.raises(SignalError, match="have no names, only numbers"):
        path.check_signal(pd.Series(np.ones(3), index=list("abc")))


def test_with_nodes_aligns_by_column_or_index(road):
    table = pd.DataFrame({"city": ["Bern", "Rome", "Oslo"], "lon": [7.4, 12.5, 10.7], "lat": [46.9, 41.9, 59.9]})
    for given in (road.with_nodes(table, on="city"), road.with_nodes(table.set_index("city"))):
        np.testing.assert_array_equal(given.coordinates, [[12.5, 41.9], [10.7, 59.9], [7.4, 46.9]])
        assert list(given.nodes) == ["lon", "lat"]
    with pytest.raises(GraphError, match="give on="):
        road.with_nodes(table)
    with pytest.raises(GraphError, match="'Oslo'"):
        road.with_nodes(table.iloc[:2], on="city")
    with pytest.raises(GraphError, match="no column 'town'"):
        road.with_nodes(table, on="town")


def test_columns_keep_their_kind_and_empty_cells(road):
    table = road.with_nodes({"kind": ["a", None, "b"], "size": [1, 2, 3], "speed": [1.0, np.nan, 2.0]}).nodes
    assert (table["kind"].tolist(), table.numeric) == (["a", None, "b"], ("size", "speed"))
    with pytest.raises(GraphError, match="no column 'colour'"):
        table["colour"]
    with pytest.raises(ValueError, match="read-only"):
        table["size"][0] = 5


def test_rows_follow_the_nodes(road):
    graph = road.with_nodes({"x": [0.0, 1.0, 2.0], "y": [5.0, 6.0, 7.0]})
    part = graph.subgraph(["Bern", "Oslo"])
    assert (part.nodes.names, part.nodes["x"].tolist(), part.n_edges) == (("Bern", "Oslo"), [2.0, 1.0], 1)
    assert part.weights.tolist() == [3.0, 3.0]
    order = graph.reordered("rcm")
    np.testing.assert_array_equal(order.graph.coordinates, graph.coordinates[order.order])
    copy = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(copy.nodes["y"], graph.nodes["y"])


def test_subgraph_refusals(road):
    for nodes, message in (([0, 0], "listed twice"), ([7], "7 is not in 0..2"), (["Paris"], "'Paris'")):
        with pytest.raises(GraphError, match=message):
            road.subgraph(nodes)


def test_largest_component_keeps_names():
    graph = gf.Graph.from_edges([(0, 1), (2, 3), (3, 4)], nodes=list("abcde"))
    assert graph.largest_component().nodes.names == ("c", "d", "e")


def test_names_are_unique():
    with pytest.raises(GraphError, match="names repeat: 'a'"):
        gf.Graph.from_edges([(0, 1)], nodes=("a", "a"))
