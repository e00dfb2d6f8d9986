"""Linear probe of the filtered features: leave-one-out accuracy of ridge regression on the training nodes.

Ridge regression with a free intercept is a linear smoother, so all n leave-one-out predictions follow from one
eigendecomposition of an n-by-n Gram matrix (T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical
learning", Springer 2009, Section 7.10). The penalty is the one with the smallest leave-one-out square error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import linalg

from ..backend import FloatArray, IntArray, Signal, is_sparse
from ..operators import Operator

__all__ = ["CHANNELS", "centred_gram", "channel_grams", "loo_hits"]

PENALTIES = np.logspace(-4, 2, 13)
# Columns that are made dense at a time, and the density from which a dense product is faster.
BLOCK = 1024
SPARSE = 0.05

# The products of two filter steps that a two-layer network can form with the low channel alone, and with both.
CHANNELS = {"low": ("low low",), "both": ("low low", "low high", "high high")}


def channel_grams(low: Operator, x: Signal, rows: IntArray) -> dict[str, FloatArray]:
    """Return the Gram matrices of features after two filter steps, by the names of the steps, on the given nodes."""
    filters = {"low": low, "high": low.complement()}
    steps = {name: name.split() for name in CHANNELS["both"]}
    return {
        name: centred_gram(_filtered(filters[first], filters[second], x, rows))
        for name, (first, second) in steps.items()
    }


def _filtered(first: Operator, second: Operator, x: Signal, rows: IntArray) -> Signal:
    """Return the given rows of ``second @ first @ x``."""
    if is_sparse(x):  # few rows of a sparse product stay sparse, so the filters are multiplied first
        return (second.to_scipy()[rows] @ first.to_scipy()) @ x
    return (second @ (first @ x))[rows]


def centred_gram(z: Any) -> FloatArray:
    """Return the Gram matrix of the centred rows, scaled to trace n; zero if all rows are equal."""
    K = np.zeros((z.shape[0], z.shape[0]))
    for start in range(0, z.shape[1], BLOCK):
        K += _product(z[:, start : start + BLOCK])
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    trace = np.trace(K)
    return K * (len(K) / trace) if trace > 1e-12 * len(K) else np.zeros_like(K)


def _product(z: Any) -> FloatArray:
    """Return ``z @ z.T``, in BLAS unless ``z`` is very sparse: two filter steps fill sparse columns."""
    if is_sparse(z) and z.nnz < SPARSE * z.shape[0] * z.shape[1]:
        return np.asarray((z @ z.T).toarray(), dtype=np.float64)
    columns = np.asarray(z.toarray() if is_sparse(z) else z, dtype=np.float64)
    return np.asarray(columns @ columns.T)


def loo_hits(grams: Iterable[FloatArray], labels: FloatArray) -> IntArray:
    """Return for each node whether a ridge classifier trained on the others predicts its class; ``labels`` are one-hot.

    The sum of the Gram matrices, one per block of features, is that of the concatenated blocks.
    """
    values, vectors = linalg.eigh(np.sum(list(grams), axis=0), driver="evd")  # all pairs: a third faster
    n = len(labels)
    mean = labels.mean(axis=0)
    rotated = vectors.T @ (labels - mean)
    best, squares = (np.inf, labels), vectors**2
    for penalty in PENALTIES:
        shrink = np.clip(values, 0, None) / (np.clip(values, 0, None) + penalty)
        fitted = mean + vectors @ (shrink[:, None] * rotated)
        leverage = 1 / n + squares @ shrink
        left_out = labels - (labels - fitted) / (1 - np.minimum(leverage, 1 - 1e-9))[:, None]
        best = min(best, (float(np.sum((left_out - labels) ** 2)), left_out), key=lambda pair: pair[0])
    return np.asarray(best[1].argmax(axis=1) == labels.argmax(axis=1), dtype=np.int64)
