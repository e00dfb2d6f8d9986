"""Rows of other papers beside the figures that their authors print, under the splits that they use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gsp_fb.datasets import Split

from .rows import Row

__all__ = ["adaptive_rows", "balanced_splits", "polynomial_rows", "webkb_rows"]

_POLYNOMIAL = {"GPRGNN": "gprgnn", "BernNet": "bernnet", "ChebNetII": "chebnetii", "JacobiConv": "jacobiconv"}


def balanced_splits(y: Any, n_splits: int = 10, rng: int = 0) -> tuple[Split, ...]:
    """Return the splits of the papers on polynomial filters: equally many training nodes of every class.

    Every class gives up to ``0.6 n / n_classes`` nodes to training, so that a small one gives all it has and test nodes
    come from the large ones; 20 % of the nodes are validation and the rest is test. Scores do not compare with those
    on stratified splits.

    Parameters
    ----------
    y : array of int, shape (n_nodes,)
        Classes; nodes with a negative label are left out.
    n_splits : int
    rng : int

    Examples
    --------
    >>> balanced_splits(np.repeat([0, 1], [16, 4]), 1)
    (Split(train=10, val=4, test=6),)
    """
    y, generator = np.asarray(y), np.random.default_rng(rng)
    classes, n = np.unique(y[y >= 0]), int(np.sum(y >= 0))
    each, n_val = round(0.6 * n / len(classes)), round(0.2 * n)
    found = []
    for _ in range(n_splits):
        orders = [generator.permutation(np.flatnonzero(y == label)) for label in classes]
        rest = generator.permutation(np.concatenate([order[each:] for order in orders]))
        parts = (np.concatenate([order[:each] for order in orders]), rest[:n_val], rest[n_val:])
        found.append(Split(*(np.sort(part) for part in parts)))
    return tuple(found)


def polynomial_rows() -> tuple[Row, ...]:
    """Return the networks with a learnable polynomial filter, on class-balanced random splits.

    Examples
    --------
    >>> [row.label for row in polynomial_rows()]
    ['GPRGNN', 'BernNet', 'ChebNetII', 'JacobiConv']
    """
    return tuple(Row(label, model, splits="balanced") for label, model in _POLYNOMIAL.items())


# How the authors train on Texas and Cornell, where it differs from what every row's search chooses: dropout before the
# filter, its learning rate relative to that of the maps, and Jacobi's basis.
_SLOW = {"filter_dropout": 0.5, "filter_rate": 0.02}
_WEBKB: Mapping[str, Mapping[str, float]] = {
    "GPRGNN": {"filter_dropout": 0.5},
    "BernNet": _SLOW,
    "ChebNetII": _SLOW,
    "JacobiConv": {**_SLOW, "filter_dropout": 0.7, "a": -0.75, "b": 0.25, "scale": 0.5},
}


def webkb_rows() -> tuple[Row, ...]:
    """Return the networks of :func:`polynomial_rows` with the filters that their authors train on Texas and Cornell."""
    return tuple(Row(label, _POLYNOMIAL[label], own, splits="balanced") for label, own in _WEBKB.items())


def adaptive_rows() -> tuple[Row, ...]:
    """Return ACM-GCN with the renormalised filter of its authors, on the ten public splits."""
    return (Row("ACM-GCN", "acm-gcn", {"family": "renorm_rw", "hidden": 64}),)
