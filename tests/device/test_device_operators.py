"""Operators, bounds and energies of every family, computed on the device alone."""

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.variants import VARIANTS
from tests.support import device

SPARSE = sparse.random_array((6, 4), density=0.4, format="csr", rng=np.random.default_rng(1))


def both(pair, family, channel="high", **options):
    return (gf.operator(graph, family, channel, **options) for graph in (pair.here, pair.there))


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("channel", ["low", "high"])
@pytest.mark.parametrize("isolated", ["self", "zero"])
def test_products_vectors_and_bounds(small, same, family, channel, isolated):
    ours, theirs = both(small, family, channel, isolated=isolated)
    for x in (small.x, small.x[:, 0], small.x + 1j, small.x.astype(np.float32)):
        y = theirs @ small.up(x)
        assert y.dtype == small.up(x).dtype
        same(y, ours @ x, rtol=1e-6 if x.dtype == np.float32 else 1e-12)
        same(theirs.T @ small.up(x), ours.T @ x, rtol=1e-6 if x.dtype == np.float32 else 1e-12)
    for name in ("left", "right", "diag", "scale", "diagonal"):
        same(getattr(theirs, name), getattr(ours, name))
    assert theirs.bounds == pytest.approx(ours.bounds)
    same(theirs.to_sparse(), ours.to_scipy())
    same(theirs.symmetrized.apply(small.up(small.x)), ours.symmetrized @ small.x)
    same(theirs.linear_operator() @ small.up(small.x[:, 0]), ours @ small.x[:, 0])


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_sparse_signals_stay_sparse_and_there(small, same, family, kind):
    ours, theirs = both(small, family)
    x = SPARSE.astype(kind)
    tolerance = {"rtol": 1e-6, "atol": 1e-6} if kind == np.float32 else {}
    same(theirs @ small.up(x), ours @ x, **tolerance)
    assert gf.s_value(theirs, small.up(x)) == pytest.approx(gf.s_value(ours, x))
    assert gf.signal_energy(small.up(x)) == pytest.approx(gf.signal_energy(x))


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("change", [lambda x: x, lambda x: x[:, 0], lambda x: x + 1j, lambda x: 1e200 * x])
def test_energies_and_s_values(small, same, family, change):
    ours, theirs = both(small, family)
    x = change(small.x)
    assert gf.s_value(theirs, small.up(x)) == pytest.approx(gf.s_value(ours, x))
    same(gf.s_value(theirs, small.up(x), per_column=True), gf.s_value(ours, x, per_column=True))
    if abs(x).max() < 1e100:
        for energy in (gf.dirichlet_energy, gf.nonsmooth_energy):
            assert energy(theirs, small.up(x)) == pytest.approx(energy(ours, x))
            same(energy(theirs, small.up(x), per_column=True), energy(ours, x, per_column=True))
        assert gf.signal_energy(small.up(x)) == pytest.approx(gf.signal_energy(x))


def test_directed_graphs(same):
    arcs = gf.Graph.from_edges([(0, 1), (1, 2), (0, 2)], [1.0, 2.0, 3.0], directed=True)
    x = np.arange(3.0)
    for family in ("sym", "rw"):
        ours, theirs = (gf.operator(graph, family, "high") for graph in (arcs, arcs.to(device.DEVICE)))
        same(theirs @ device.from_host(x), ours @ x)
        same(theirs.T @ device.from_host(x), ours.T @ x)


def test_isolated_nodes_are_refused_by_number(small):
    with pytest.raises(gf.errors.GraphError, match="node 5 is isolated"):
        gf.operator(small.there, "sym", isolated="error")
