"""Labels and seeds in the conventions of scikit-learn."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from .._arguments import check_rng
from ..backend import IntArray
from ..errors import ParameterError

__all__ = ["encode_labels", "labels_of_nodes", "seed_of"]

UNLABELLED = -1


def encode_labels(y: Any) -> tuple[Any, IntArray]:
    """Return the classes and the class number of each row, -1 where it is unlabelled.

    >>> encode_labels(np.array([5, -1, 7, 5]))
    (array([5, 7]), array([ 0, -1,  1,  0]))
    """
    known = y != UNLABELLED if y.dtype.kind in "iufO" else np.ones(len(y), dtype=bool)
    if not np.any(known):
        raise ParameterError("every label is -1 (unlabelled); there is nothing to learn")
    check_classification_targets(y[known])
    codes = np.full(len(y), UNLABELLED)
    classes, codes[known] = np.unique(y[known], return_inverse=True)
    return classes, codes


def labels_of_nodes(codes: IntArray, nodes: IntArray, n_nodes: int) -> IntArray:
    """Return the labels of all nodes: those of the listed ones, and -1 for the rest.

    >>> labels_of_nodes(np.array([1, 0]), np.array([3, 1]), 4)
    array([-1,  0, -1,  1])
    """
    labels = np.full(n_nodes, UNLABELLED)
    labels[nodes] = codes
    torn = np.flatnonzero(labels[nodes] != codes)
    if torn.size:
        raise ParameterError(f"node {nodes[torn[0]]} is listed more than once, with different labels")
    return labels


def seed_of(random_state: Any) -> int:
    """Return an integer seed: ``random_state`` itself, or a number drawn from a ``RandomState`` or ``Generator``.

    >>> seed_of(7)
    7
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    # scikit-learn interprets None as the global state; here it is a fresh generator.
    return int(check_rng(random_state).integers(2**31 - 1))
