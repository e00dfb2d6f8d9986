"""Graphs and signals on a device that NumPy cannot read, beside their copies on the host."""

from types import SimpleNamespace

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.backend import device_of
from tests.support import device

SMALL = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (4, 4)], [1.0, 2.0, 0.5, 3.0, 1.5, 2.0], n_nodes=6)


def many_nodes(n_nodes=600):
    """Return a connected graph too large for the direct solvers, with chords that give it a healthy gap."""
    rng = np.random.default_rng(3)
    ring = np.stack([np.arange(n_nodes), (np.arange(n_nodes) + 1) % n_nodes], axis=1)
    chords = rng.integers(0, n_nodes, (4 * n_nodes, 2))
    return gf.Graph.from_edges(np.concatenate([ring, chords]), symmetrize="max", duplicates="first", loops="drop")


def _pair(graph):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((graph.n_nodes, 3))
    return SimpleNamespace(
        here=graph, there=graph.to(device.DEVICE), x=x, y=rng.integers(-1, 3, graph.n_nodes), up=device.from_host
    )


@pytest.fixture(scope="session")
def small():
    return _pair(SMALL)


@pytest.fixture(scope="session")
def large():
    return _pair(many_nodes())


@pytest.fixture
def same():
    """Return an assertion: the result is still on the device, and equal to the one of the host."""

    def check(theirs, ours, **tolerances):
        assert device_of(theirs) == device.DEVICE
        theirs, ours = (x.toarray() if hasattr(x, "toarray") else x for x in (device.to_host(theirs), ours))
        np.testing.assert_allclose(theirs, ours, **{"rtol": 1e-9, "atol": 1e-11} | tolerances)

    return check
