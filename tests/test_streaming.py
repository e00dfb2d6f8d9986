"""Streaming energies: equal to a recomputation after any sequence of updates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.testing import graphs, operators, signals, signed_graphs
from gsp_fb.variants import VARIANTS

NODE, WEIGHT = st.integers(0, 11), st.floats(0.01, 5) | st.just(0.0)
VALUES, EDGES = st.tuples(st.just("value"), NODE, st.floats(-5, 5)), st.tuples(st.just("edge"), NODE, NODE, WEIGHT)
UPDATES = st.lists(VALUES | EDGES, max_size=15)


@given(operators(graphs() | signed_graphs(), channel="high", isolated="self"), signals(), UPDATES, st.booleans())
def test_a_stream_equals_recomputation_after_any_updates(op, signal, updates, negate):
    stream, n_nodes = gf.StreamingEnergy(op, signal(op.graph)), op.graph.n_nodes
    for kind, node, *rest in updates:
        if kind == "value":
            stream.set_value(node % n_nodes, rest[0])
        else:
            sign = -1.0 if negate and op.graph.is_signed else 1.0
            stream.set_edge(node % n_nodes, rest[0] % n_nodes, sign * rest[1])
    again = gf.operator(stream.graph, op.family, "high", op.gamma or None)
    # Terms that cancel are as large as the degrees were.
    size = 1e-9 * (1 + again.bounds[1] + op.bounds[1]) * (1 + stream.graph.degrees.max() + op.graph.degrees.max())
    size *= 1 + float(np.sum(stream.x**2)) + float(np.sum(signal(op.graph) ** 2))
    assert np.isclose(stream.dirichlet_energy, gf.dirichlet_energy(again, stream.x), rtol=1e-9, atol=size)
    assert np.isclose(stream.signal_energy, gf.signal_energy(stream.x, again), rtol=1e-9, atol=size)


@pytest.mark.parametrize("family", VARIANTS)
def test_an_update_touches_the_neighbours_alone(family, monkeypatch):
    """On a ring of any size a new value reads three nodes, a new edge six."""
    op = gf.operator(gf.datasets.ring(500), family, channel="high")
    stream = gf.StreamingEnergy(op, np.arange(500.0))
    reads = []
    usual = gf.StreamingEnergy._u
    monkeypatch.setattr(gf.StreamingEnergy, "_u", lambda self, node: (reads.append(node), usual(self, node))[1])
    stream.set_value(7, 1.0)
    assert set(reads) == {6, 7, 8}
    reads.clear()
    stream.set_edge(7, 100, 2.0)
    assert set(reads) == {6, 7, 8, 99, 100, 101}


def test_two_thousand_updates_do_not_drift():
    rng = np.random.default_rng(0)
    stream = gf.StreamingEnergy(gf.operator(gf.datasets.grid(8, 8), "sym", channel="high"), rng.standard_normal(64))
    for _ in range(1_000):
        stream.set_value(int(rng.integers(64)), float(10.0 ** rng.uniform(-2, 2)))
        stream.set_edge(int(rng.integers(64)), int(rng.integers(64)), float(rng.random()))
    for node in range(64):
        stream.set_value(node, float(np.sin(node)))
    again = gf.operator(stream.graph, "sym", channel="high")
    assert np.isclose(stream.s_value, gf.s_value(again, stream.x), rtol=1e-9)


def test_refusals():
    op = gf.operator(gf.datasets.ring(5), "sym", channel="high")
    stream = gf.StreamingEnergy(op, np.zeros(5))
    assert math.isnan(stream.s_value)
    with pytest.raises(GraphError, match="signed"):
        stream.set_edge(0, 1, -1.0)
    with pytest.raises(ParameterError, match="node 9"):
        stream.set_value(9, 1.0)
    with pytest.raises(ParameterError, match="complement"):
        gf.StreamingEnergy(op.complement(), np.zeros(5))
    arcs = gf.Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(GraphError, match="undirected"):
        gf.StreamingEnergy(gf.operator(arcs, "comb", channel="high"), np.zeros(2))


def test_numbers_whose_products_overflow_are_refused_and_change_nothing():
    op = gf.operator(gf.datasets.ring(5), "sym", channel="high")
    stream = gf.StreamingEnergy(op, np.arange(5.0))
    before = stream.dirichlet_energy, stream.signal_energy
    with pytest.raises(ParameterError, match="value is 1e\\+200 in magnitude"):
        stream.set_value(0, -1e200)
    with pytest.raises(ParameterError, match="weight is 1e\\+160"):
        stream.set_edge(0, 1, 1e160)
    assert (stream.dirichlet_energy, stream.signal_energy) == before
    with pytest.raises(SignalError, match="rescale"):
        gf.StreamingEnergy(op, [0.0, 1e100, 0.0, 0.0, 0.0])
    heavy = gf.Graph.from_edges([(0, 1)], [1e200])
    with pytest.raises(GraphError, match="rescale"):
        gf.StreamingEnergy(gf.operator(heavy, "sym", channel="high"), [1.0, 2.0])


def test_s_of_a_signal_whose_squares_vanish():
    op = gf.operator(gf.Graph.from_edges([(0, 1), (1, 2)]), "rw", channel="high")
    stream = gf.StreamingEnergy(op, [1e-200, 2e-200, 0.0])
    stream.set_value(2, 5e-200)
    assert np.isclose(stream.s_value, gf.s_value(op, [1.0, 2.0, 5.0]), rtol=1e-12)


@pytest.mark.parametrize("weight", [1e-150, 1e149])
@pytest.mark.parametrize("family", VARIANTS)
def test_weights_at_the_ends_of_the_range(family, weight):
    op = gf.operator(gf.Graph.from_edges([(0, 1), (1, 2)], [weight, weight / 2 + 1e-150]), family, channel="high")
    x = [1.0, -2.0, 3.0]
    stream = gf.StreamingEnergy(op, x)
    assert np.isclose(
        stream.s_value, gf.s_value(op, x), rtol=1e-12, atol=1e-15 * max(op.bounds[1], op.family != "comb")
    )


def test_a_stream_refuses_complex_signals_and_graphs_and_keeps_names():
    named = gf.Graph.from_edges([(0, 1)], nodes=("Oslo", "Rome"))
    op = gf.operator(named, "comb", channel="high")
    with pytest.raises(SignalError, match="one real signal"):
        gf.StreamingEnergy(op, np.array([1j, 2.0]))
    with pytest.raises(ParameterError, match="operator is needed"):
        gf.StreamingEnergy(named, [1.0, 2.0])
    assert gf.StreamingEnergy(op, [1.0, 2.0]).graph.nodes.names == ("Oslo", "Rome")
    stream = gf.StreamingEnergy(op, [1.0, 2.0], signed=True)
    stream.set_edge(0, 1, -1.0)
    assert stream.dirichlet_energy == 9.0
