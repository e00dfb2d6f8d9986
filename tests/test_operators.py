"""Operators by example: what the laws do not say."""

import pickle
import tracemalloc

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError
from gsp_fb.variants import VARIANTS

PATH = gf.Graph.from_edges([(0, 1), (1, 2)])
ARCS = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 1)], directed=True)


def test_repr_names_family_channel_and_gamma():
    assert repr(gf.operator(PATH, "lazy_rw", "high", gamma=2.0)) == "Operator(lazy_rw, high, gamma=2, n_nodes=3)"
    assert repr(gf.operator(PATH, "sym")) == "Operator(sym, low, n_nodes=3)"


@pytest.mark.parametrize("family", VARIANTS)
def test_switching_variant_allocates_vectors_only(family):
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_edges(rng.integers(0, 500, (40_000, 2)), n_nodes=500, duplicates="first")
    gf.operator(graph, family)  # degrees are computed once, with the graph
    tracemalloc.start()
    op = gf.operator(graph, family, channel="high")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert graph.indices.size > 20 * 500
    assert peak < 20 * 8 * graph.n_nodes < graph.indices.nbytes
    assert op.graph is graph


@pytest.mark.parametrize("family", VARIANTS)
def test_directed_operators_use_out_degrees_on_both_sides(family):
    A = ARCS.adjacency.toarray()
    d = A.sum(axis=1)
    gamma = 1.0 if VARIANTS[family].has_gamma else 0.0
    loops = {"none": np.zeros(3), "unit": np.ones(3), "degree": d}[VARIANTS[family].loops]
    total = d + gamma * loops
    walk = (A + gamma * np.diag(loops)) / total[:, None]
    wanted = {
        "none": np.eye(3) - np.diag(d) + A,
        "rw": walk,
        "sym": np.diag(total**0.5) @ walk @ np.diag(total**-0.5),
    }[VARIANTS[family].norm]
    op = gf.operator(ARCS, family)
    x = np.arange(6.0).reshape(3, 2)
    assert np.allclose(op @ x, wanted @ x)
    assert np.allclose(op.T @ x, wanted.T @ x)


def test_directed_spectrum_and_bounds_name_the_remedy():
    op = gf.operator(ARCS, "rw", channel="high")
    for refused in (lambda: gf.spectrum(op), lambda: op.bounds, lambda: gf.eigengap(op)):
        with pytest.raises(GraphError, match="symmetrize="):
            refused()


def test_pickled_operator_is_equal_and_read_only():
    op = pickle.loads(pickle.dumps(gf.operator(PATH, "renorm_rw", "high", gamma=0.5)))
    x = np.array([1.0, 2.0, 4.0])
    assert np.array_equal(op @ x, gf.operator(PATH, "renorm_rw", "high", gamma=0.5) @ x)
    with pytest.raises(ValueError, match="read-only"):
        op.left[0] = 2.0


def test_linear_operator_serves_scipy():
    op = gf.operator(PATH, "rw").linear_operator()
    x = np.array([1.0, 2.0, 4.0])
    assert np.allclose(op.matvec(x), gf.operator(PATH, "rw") @ x)
    assert np.allclose(op.rmatvec(x), gf.operator(PATH, "rw").T @ x)
    assert np.allclose(op.rmatmat(np.eye(3)), gf.operator(PATH, "rw").to_scipy().toarray().T)
    assert np.allclose(op.matmat(np.eye(3)), gf.operator(PATH, "rw").to_scipy().toarray())
