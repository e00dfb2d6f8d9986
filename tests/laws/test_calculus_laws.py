"""Gradient, divergence and total variation: L = div grad for every family, adjointness, energies."""

import numpy as np
import pytest
from hypothesis import given

import gsp_fb as gf
from gsp_fb.calculus import divergence, gradient, incidence, total_variation
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.testing import families, gammas, graphs, signals
from gsp_fb.variants import VARIANTS
from tests.support.closeness import assert_close, size_of


def high(graph, family, gamma):
    return gf.operator(graph, family, "high", gamma=gamma if VARIANTS[family].has_gamma else None)


def extent(op, x):
    return (1 + abs(op.to_scipy()).sum()) * (1 + size_of(x))


@given(graphs(), families(), gammas(), signals())
def test_the_divergence_of_the_gradient_is_the_operator(graph, family, gamma, signal):
    op, x = high(graph, family, gamma), signal(graph)
    assert_close(divergence(op, gradient(op, x)), op @ x, scale=extent(op, x))


@given(graphs(), families(), gammas(), signals())
def test_incidence_is_the_gradient_and_factors_symmetric_operators(graph, family, gamma, signal):
    op, x = high(graph, family, gamma), signal(graph)
    B = incidence(op)
    assert B.shape == (graph.n_edges, graph.n_nodes)
    assert_close(B @ x, gradient(op, x), scale=extent(op, x))
    if VARIANTS[family].norm != "rw":
        assert_close((B.T @ B).toarray(), op.to_scipy().toarray(), scale=1 + abs(op.to_scipy()).sum())


@given(graphs(), families(), gammas(), signals())
def test_divergence_is_the_adjoint_in_the_operators_inner_product(graph, family, gamma, signal):
    op, x = high(graph, family, gamma), np.atleast_2d(signal(graph).T).T[:, :1].ravel()
    flow = np.cos(np.arange(graph.n_edges))
    inside = np.vdot(op.scale**2 * x, divergence(op, flow))
    assert_close(
        inside, np.vdot(gradient(op, x), flow), scale=extent(op, x) * (1 + np.sum(op.scale**2)) * (1 + graph.n_edges)
    )


@given(graphs(), gammas(), signals())
def test_with_p_2_it_is_the_dirichlet_energy(graph, gamma, signal):
    for family in ("comb", "sym", "renorm_sym", "lazy_sym"):
        op, x = high(graph, family, gamma), signal(graph)
        assert_close(total_variation(op, x, p=2), gf.dirichlet_energy(op, x), scale=extent(op, x) * (1 + size_of(x)))


def test_total_variation_against_the_sum_over_edges():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 2)], weights=[4.0, 1.0, 9.0, 5.0])
    op = gf.operator(graph, "comb", "high")
    x = np.array([[1.0, 0.0], [3.0, 1.0], [0.0, 0.0]])
    slopes = np.array([[4.0, 2.0], [-3.0, 0.0], [-3.0, -1.0], [0.0, 0.0]])  # in the order of graph.edges()
    source, target, _ = graph.edges()
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2), (2, 2)]
    np.testing.assert_allclose(gradient(op, x), slopes)
    np.testing.assert_allclose(total_variation(op, x, per_column=True), [10.0, 3.0])
    assert total_variation(op, x) == 13.0
    nodes = [np.hypot(4, 3), np.hypot(4, 3), np.hypot(3, 3)]
    np.testing.assert_allclose(total_variation(op, x[:, 0], kind="isotropic"), sum(nodes))


def test_single_precision_and_complex_signals_keep_their_kind():
    op = gf.operator(gf.datasets.ring(5), "sym", "high")
    assert gradient(op, np.ones(5, np.float32)).dtype == np.float32
    x = np.exp(1j * np.arange(5.0))
    np.testing.assert_allclose(divergence(op, gradient(op, x)), op @ x)
    assert total_variation(op, x) > 0


@pytest.mark.parametrize("n", [0, 1, 4])
def test_without_edges_there_is_no_variation(n):
    graph = gf.Graph.from_adjacency(np.zeros((n, n)))
    op = gf.operator(graph, "sym", "high")
    assert gradient(op, np.ones(n)).shape == (0,)
    assert total_variation(op, np.ones(n)) == 0.0
    assert not divergence(op, np.zeros(0)).any()


def test_refusals():
    edge = gf.Graph.from_edges([(0, 1)], n_nodes=3)
    with pytest.raises(ParameterError, match="complement"):
        gradient(gf.operator(edge, "sym"), [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="isolated='self'"):
        gradient(gf.operator(edge, "sym", "high", isolated="zero"), [1.0, 2.0, 3.0])
    with pytest.raises(GraphError, match="symmetrize="):
        gradient(gf.operator(gf.Graph.from_edges([(0, 1)], directed=True), "rw", "high"), [1.0, 2.0])
    with pytest.raises(SignalError, match="1 edges"):
        divergence(gf.operator(edge, "comb", "high"), [1.0, 2.0])
    with pytest.raises(ParameterError, match="an operator is needed"):
        gradient(edge, [1.0, 2.0, 3.0])
    op = gf.operator(edge, "comb", "high")
    with pytest.raises(ParameterError, match="p must be 1 or 2"):
        total_variation(op, [1.0, 2.0, 3.0], p=3)
    with pytest.raises(ParameterError, match="p=1"):
        total_variation(op, [1.0, 2.0, 3.0], p=2, kind="isotropic")
