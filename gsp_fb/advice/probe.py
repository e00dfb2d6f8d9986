"""What a linear model reads out of each half of the features, by leave-one-out on the training nodes.

Ridge regression with a free intercept is a linear smoother, so all n leave-one-out predictions follow from one
eigendecomposition of an n-by-n Gram matrix; the penalty is the one of least leave-one-out square error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import linalg

from ..backend import FloatArray, IntArray, Signal, is_sparse
from ..operators import Operator

__all__ = ["CHANNELS", "gram", "halves", "loo_hits"]

PENALTIES = np.logspace(-4, 2, 13)

# What two layers of a network can reach: one channel only averages, two also see every difference.
CHANNELS = {"low": ("low low",), "both": ("low low", "low high", "high high")}


def halves(low: Operator, x: Signal, rows: IntArray) -> dict[str, FloatArray]:
    """Return the Gram matrix of each word of two filters applied to ``x``, on the given nodes."""
    high = low.complement()
    once = {"low": low @ x, "high": high @ x}
    words = {word: word.split() for word in CHANNELS["both"]}
    filters = {"low": low, "high": high}
    return {word: gram((filters[second] @ once[first])[rows]) for word, (first, second) in words.items()}


def gram(z: Any) -> FloatArray:
    """Return the Gram matrix of centred rows, scaled to trace n; zero where all rows are equal."""
    product = z @ z.T
    K = np.asarray(product.toarray() if is_sparse(product) else product, dtype=np.float64)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    trace = np.trace(K)
    return K * (len(K) / trace) if trace > 1e-12 * len(K) else np.zeros_like(K)


def loo_hits(grams: Iterable[FloatArray], labels: FloatArray) -> IntArray:
    """Return for every node whether a ridge classifier of the others names its class.

    Parameters
    ----------
    grams : iterable of (n, n) arrays
        One for each block of features; their sum is the Gram matrix of the blocks side by side.
    labels : (n, n_classes) array
        One-hot.

    Examples
    --------
    >>> labels = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    >>> int(loo_hits([gram(np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]))], labels).sum())
    6
    """
    values, vectors = linalg.eigh(np.sum(list(grams), axis=0))
    n = len(labels)
    mean = labels.mean(axis=0)
    turned = vectors.T @ (labels - mean)
    best = (np.inf, labels)
    for penalty in PENALTIES:
        shrink = np.clip(values, 0, None) / (np.clip(values, 0, None) + penalty)
        fitted = mean + vectors @ (shrink[:, None] * turned)
        leverage = 1 / n + (vectors**2) @ shrink
        left_out = labels - (labels - fitted) / (1 - np.minimum(leverage, 1 - 1e-9))[:, None]
        best = min(best, (float(np.sum((left_out - labels) ** 2)), left_out), key=lambda pair: pair[0])
    return np.asarray(best[1].argmax(axis=1) == labels.argmax(axis=1), dtype=np.int64)
