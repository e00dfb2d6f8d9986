"""The node table: alignment by name, coordinates by stated rules, nothing by position."""

import pickle

import numpy as np
import pandas as pd
import pytest

from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.nodes import NodeTable

NAMES = ("Bern", "Chur", "Genf")


def test_columns_are_copies_that_cannot_be_written():
    speed = np.array([1.0, 2.0, 3.0])
    table = NodeTable(3, NAMES, {"speed": speed})
    speed[0] = 9
    assert table["speed"][0] == 1
    with pytest.raises(ValueError, match="read-only"):
        table["speed"][0] = 2
    with pytest.raises(ParameterError, match=r"'sped'.*speed"):
        table["sped"]


@pytest.mark.parametrize(
    ("columns", "dimension"),
    [
        ({"x": [1, 2, 3], "y": [0, 0, 1]}, 2),
        ({"x": [1, 2, 3], "y": [0, 0, 1], "z": [1, 1, 1]}, 3),
        ({"lon": [1.0, 2, 3], "lat": [0, 0, 1]}, 2),
        ({"pos": np.zeros((3, 3))}, 3),
        ({"x": ["a", "b", "c"], "y": [0, 0, 1]}, None),
        ({"x": [1, 2, 3]}, None),
    ],
)
def test_coordinates_by_the_stated_rules(columns, dimension):
    found = NodeTable(3, None, columns).coordinates
    assert (None if found is None else found.shape[1]) == dimension


def test_longitude_comes_before_latitude():
    table = NodeTable(2, None, {"lat": [50.0, 51.0], "lon": [7.0, 8.0]})
    np.testing.assert_array_equal(table.coordinates, [[7.0, 50.0], [8.0, 51.0]])


def test_a_table_is_joined_by_name_in_any_order():
    table = NodeTable(3, NAMES, {"old": [1, 2, 3]})
    frame = pd.DataFrame({"speed": [30.0, 10.0, 20.0]}, index=["Genf", "Bern", "Chur"])
    np.testing.assert_array_equal(table.joined(frame)["speed"], [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(table.joined(frame.reset_index(names="city"), on="city")["speed"], [10.0, 20.0, 30.0])
    np.testing.assert_array_equal(table.joined(frame)["old"], [1, 2, 3])


def test_missing_and_unknown_names_are_listed():
    table = NodeTable(3, NAMES)
    with pytest.raises(GraphError, match=r"unknown: 'Basel'; missing: 'Chur'"):
        table.joined({"city": ["Bern", "Basel", "Genf"], "v": [1, 2, 3]}, on="city")
    with pytest.raises(GraphError, match="twice: 'Bern'"):
        table.joined({"city": ["Bern", "Bern", "Genf"], "v": [1, 2, 3]}, on="city")
    many = NodeTable(20, [f"n{i}" for i in range(20)])
    with pytest.raises(GraphError, match="and 15 more"):
        many.joined({"id": [], "v": []}, on="id")


def test_rows_without_names_are_refused_where_nodes_have_them():
    with pytest.raises(GraphError, match="on="):
        NodeTable(3, NAMES).joined({"v": [1, 2, 3]})
    np.testing.assert_array_equal(NodeTable(3).joined({"v": [1, 2, 3]})["v"], [1, 2, 3])
    with pytest.raises(GraphError, match="2 rows"):
        NodeTable(3).joined({"v": [1, 2]})


def test_fault_124_a_series_is_aligned_by_its_index():
    table = NodeTable(3, NAMES)
    series = pd.Series([3.0, 1.0, 2.0], index=["Genf", "Bern", "Chur"])
    np.testing.assert_array_equal(table.aligned(series), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(table.aligned(series.to_frame("v")), [[1.0], [2.0], [3.0]])
    with pytest.raises(SignalError, match="missing: 'Chur'"):
        table.aligned(series.drop("Chur"))
    with pytest.raises(SignalError, match="unknown: 0, 1, 2"):
        table.aligned(pd.Series([1.0, 2.0, 3.0]))
    x = np.arange(3.0)
    assert table.aligned(x) is x


def test_a_shuffled_integer_index_is_the_node_number():
    series = pd.Series([1.0, 2.0, 0.0], index=[1, 2, 0])
    np.testing.assert_array_equal(NodeTable(3).aligned(series), [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(NodeTable(3).aligned(pd.Series([5.0, 6.0, 7.0])), [5.0, 6.0, 7.0])
    with pytest.raises(SignalError, match="unknown: 3"):
        NodeTable(3).aligned(pd.Series([1.0, 2.0, 0.0], index=[1, 2, 3]))


def test_take_pickle_and_polars_like_tables():
    table = NodeTable(3, NAMES, {"v": [1, 2, 3], "x": [0, 1, 2], "y": [0, 0, 0]})
    part = pickle.loads(pickle.dumps(table)).take([2, 0])
    assert part.names == ("Genf", "Bern")
    np.testing.assert_array_equal(part.coordinates, [[2, 0], [0, 0]])
    assert table.numeric == ("v", "x", "y")

    class Polars:
        columns = ("city", "w")

        def to_dict(self, as_series):
            return {"city": ["Chur", "Genf", "Bern"], "w": [2, 3, 1]}

    np.testing.assert_array_equal(table.joined(Polars(), on="city")["w"], [1, 2, 3])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"names": ("a", "b")}, "2 labels for 3 nodes"),
        ({"names": ("a", "b", "a")}, "twice: 'a'"),
        ({"columns": {"v": [1, 2]}}, r"'v' has shape \(2,\)"),
        ({"coordinates": np.zeros((3, 4))}, r"\(3, 2\) or \(3, 3\)"),
        ({"coordinates": [["a", "b"]] * 3}, "must be numbers"),
    ],
)
def test_what_does_not_fit_is_refused(fields, message):
    with pytest.raises(GraphError, match=message):
        NodeTable(3, **fields)


def test_other_things_are_no_tables():
    with pytest.raises(ParameterError, match="DataFrame or a mapping"):
        NodeTable(1).joined([1])
    with pytest.raises(ParameterError, match="'id'"):
        NodeTable(1).joined({"v": [1]}, on="id")
