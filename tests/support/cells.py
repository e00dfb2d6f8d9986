"""Results of cells that no training stands behind, and a data set that trains in a moment."""

from types import SimpleNamespace

import numpy as np

from gsp_fb import Graph
from gsp_fb.datasets import random_splits


def fake_cell(cell, test):
    sizes = [[48, 32, 20]] * len(test)
    return {
        "test": list(test),
        "data": {"sizes": sizes},
        "mean": float(np.mean(test)),
        "std": 0.0,
        "val_mean": 0.0,
        "s_values": [0.5] * len(test),
        "alphas": [[[0.4, 0.6]]] * len(test),
    }


def synthetic(name, **options):
    """A stand-in for every data set: a ring in three classes, with three splits."""
    y = np.repeat(np.arange(3), 20)
    graph = Graph.from_edges([(k, (k + 1) % 60) for k in range(60)])
    x = np.eye(3)[y] + np.random.default_rng(0).random((60, 3))
    return SimpleNamespace(name=name, graph=graph, x=x, y=y, splits=random_splits(y, 3, rng=0))
