"""Graphs on the device: moved there and back, or built from what is there."""

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError, SignalError
from tests.support import device


def test_the_device_refuses_numpy_and_scipy(small):
    with pytest.raises(RuntimeError):
        np.asarray(small.up(small.x))
    with pytest.raises(RuntimeError, match="implicit copy"):
        np.asarray(small.there.adjacency)
    with pytest.raises(RuntimeError, match="met ndarray"):
        small.there.adjacency @ small.x


def test_a_graph_goes_there_and_back_unchanged(small):
    assert small.there.device == device.DEVICE
    assert small.there.to(device.DEVICE) is small.there
    back = small.there.to("cpu")
    assert back.device == "cpu"
    assert back.sha256 == small.there.sha256 == small.here.sha256
    assert repr(back) == repr(small.there) == repr(small.here)


@pytest.mark.parametrize("name", ["degrees", "loop_weights", "component_labels", "rows", "adjacency"])
def test_what_a_graph_knows_is_on_the_device(small, same, name):
    same(getattr(small.there, name), getattr(small.here, name))


@pytest.mark.parametrize("name", ["n_nodes", "n_edges", "n_loops", "n_components", "n_isolated", "is_weighted"])
def test_counts_are_plain_numbers(small, name):
    assert getattr(small.there, name) == getattr(small.here, name)


def test_edges_are_listed_on_the_device(small, same):
    for theirs, ours in zip(small.there.edges(), small.here.edges(), strict=True):
        same(theirs, ours)


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_graph_built_from_a_matrix_on_the_device_is_there(small, kind):
    A = small.here.adjacency
    graph = gf.Graph.from_adjacency(device.from_host(A if kind == "sparse" else A.toarray()))
    assert graph.device == device.DEVICE
    assert graph.sha256 == small.here.sha256


def test_a_matrix_on_the_device_is_checked_like_any_other():
    with pytest.raises(GraphError, match="not symmetric"):
        gf.Graph.from_adjacency(device.from_host(sparse.csr_array([[0.0, 1.0], [0.0, 0.0]])))


def test_a_graph_built_from_edges_on_the_device_is_there():
    graph = gf.Graph.from_edges(device.from_host([[0, 1], [1, 2]]), device.from_host([2.0, 3.0]))
    assert graph.device == device.DEVICE
    assert device.to_host(graph.degrees).tolist() == [2.0, 5.0, 3.0]


def test_arcs_are_reversed_on_the_device(same):
    arcs = gf.Graph.from_edges([(0, 1), (1, 2), (0, 2)], [1.0, 2.0, 3.0], directed=True)
    same(arcs.to(device.DEVICE).transposed.adjacency, arcs.transposed.adjacency)


def test_signals_elsewhere_are_refused_by_name(small):
    op = gf.operator(small.there, "sym", "high")
    with pytest.raises(SignalError, match=r"signal is on 'cpu' but the graph on 'double'"):
        op @ small.x
    with pytest.raises(SignalError, match=r"signal is on 'double' but the graph on 'cpu'"):
        gf.s_value(gf.operator(small.here, "sym", "high"), small.up(small.x))


def test_what_only_the_host_can_do_names_the_way_there(small):
    with pytest.raises(GraphError, match=r"\.to\('cpu'\)"):
        small.there.reordered()
    with pytest.raises(GraphError, match=r"to\('cpu'\)"):
        gf.operator(small.there, "sym").to_scipy()


def test_unknown_devices_are_refused(small):
    with pytest.raises(ParameterError, match="choose one of cpu, cuda"):
        small.here.to("gpu")
