"""The mathematics follows the namespace of its arrays: it runs on arrays that refuse every NumPy function."""

from types import SimpleNamespace

import array_api_strict as strict
import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.operators import operator
from gsp_fb.spectrum import Spectrum, _fix_signs
from gsp_fb.variants import VARIANTS

DEVICE = strict.Device("device1")
GRAPH = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (4, 4)], [1.0, 2.0, 0.5, 3.0, 1.5, 2.0], n_nodes=6)
X = np.random.default_rng(0).standard_normal((6, 3))


def there(x):
    """Return an array on a device that NumPy cannot read."""
    return strict.asarray(x, device=DEVICE)


def here(x):
    return np.asarray(strict.asarray(x, device=strict.Device("CPU_DEVICE")))


class DeviceMatrix:
    """A dense stand-in for a sparse matrix on the device: all that the core asks of it is a product."""

    def __init__(self, matrix):
        self.matrix = matrix

    def __matmul__(self, x):
        return self.matrix @ x


def device_graph(graph):
    """Return what operators and energies need of a graph, every array of it on the device."""
    return SimpleNamespace(
        n_nodes=graph.n_nodes,
        directed=False,
        indptr=there(graph.indptr),
        indices=there(graph.indices),
        weights=there(graph.weights),
        degrees=there(graph.degrees),
        loop_weights=there(graph.loop_weights),
        adjacency=DeviceMatrix(there(graph.adjacency.toarray())),
    )


def test_the_device_really_refuses_numpy():
    with pytest.raises(RuntimeError):
        np.asarray(there(X))


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("channel", ["low", "high"])
@pytest.mark.parametrize("isolated", ["self", "zero"])
def test_products_bounds_and_vectors_stay_on_the_device(family, channel, isolated):
    ours = operator(GRAPH, family, channel, isolated=isolated)
    device = operator(device_graph(GRAPH), family, channel, isolated=isolated)
    for x in (X, X[:, 0], X + 1j, X.astype(np.float32)):
        y = device @ there(x)
        assert y.device == DEVICE
        assert y.dtype == there(x).dtype
        assert np.allclose(here(y), ours @ x, atol=1e-6 if x.dtype == np.float32 else 1e-13)
    for name in ("left", "right", "diag", "scale", "diagonal"):
        assert np.allclose(here(getattr(device, name)), getattr(ours, name))
    assert device.bounds == pytest.approx(ours.bounds)
    assert np.allclose(here(device.core.apply(there(X))), ours.core @ X)


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("x", [X, X[:, 0], X + 1j, 1e200 * X], ids=["block", "single", "complex", "huge"])
def test_energies_and_s_values_are_computed_on_the_device(family, x):
    ours, device = (operator(graph, family, "high") for graph in (GRAPH, device_graph(GRAPH)))
    assert gf.s_value(device, there(x)) == pytest.approx(gf.s_value(ours, x))
    if abs(x).max() < 1e100:
        assert gf.signal_energy(there(x)) == pytest.approx(gf.signal_energy(x))
        assert gf.dirichlet_energy(device, there(x)) == pytest.approx(gf.dirichlet_energy(ours, x))
        assert gf.nonsmooth_energy(device, there(x)) == pytest.approx(gf.nonsmooth_energy(ours, x))
        columns = gf.dirichlet_energy(device, there(x), per_column=True)
        assert columns.device == DEVICE
        assert np.allclose(here(columns), gf.dirichlet_energy(ours, x, per_column=True))


@pytest.mark.parametrize("family", ["sym", "rw"])
def test_transforms_stay_on_the_device(family):
    ours = gf.spectrum(operator(GRAPH, family, "high"))
    device = Spectrum(
        operator(device_graph(GRAPH), family, "high"), there(ours.frequencies), there(ours.core_basis), "dense"
    )
    c = device.gft(there(X))
    assert np.allclose(here(c), ours.gft(X))
    assert np.allclose(here(device.igft(c)), X)
    assert np.allclose(here(device.basis), ours.basis)
    assert np.allclose(here(_fix_signs(there(-np.asarray(ours.core_basis)))), ours.core_basis)


def test_spread_of_rows_and_columns_is_computed_on_the_device():
    assert gf.row_diff(there(X)) == pytest.approx(gf.row_diff(X))
    assert gf.col_diff(there(X)) == pytest.approx(gf.col_diff(X))
    assert gf.row_diff(1j * X) == pytest.approx(gf.row_diff(X))


def test_row_normalized_stays_on_the_device():
    x = np.abs(X)
    assert np.allclose(here(gf.row_normalized(there(x))), gf.row_normalized(x))
