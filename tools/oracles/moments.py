r"""Second moments of quadratic forms under random permutation, by summing over the coincidences of four indices.

:math:`E[T_1 T_2]` with :math:`T_m = \sum_{ij} M^m_{ij} B_{\pi(i)\pi(j)}` is a sum over (i, j, k, l) in which the
expectation depends only on which of the four indices are equal: on one of 15 partitions. The sum over index tuples
with exactly the equalities of a partition follows from Moebius inversion over the coarser ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["expected_ratio", "mean_form", "product_moment"]


def _partitions() -> Iterator[tuple[int, ...]]:
    """Yield every partition of four indices as the block of each."""
    for word in np.ndindex(4, 4, 4, 4):
        if all(block <= max(word[:at], default=-1) + 1 for at, block in enumerate(word)):
            yield word


PARTITIONS = list(_partitions())


def _coarser(fine: tuple[int, ...], coarse: tuple[int, ...]) -> bool:
    return all(coarse[i] == coarse[j] for i in range(4) for j in range(4) if fine[i] == fine[j])


def _exact(first: Any, second: Any) -> dict[tuple[int, ...], float]:
    """Return, for each partition, the sum of products over tuples with exactly its equalities."""
    letters = ["".join("abcd"[block] for block in word) for word in PARTITIONS]
    sums = {
        word: float(np.einsum(f"{name[:2]},{name[2:]}->", first, second, optimize=True))
        for word, name in zip(PARTITIONS, letters, strict=True)
    }
    exact: dict[tuple[int, ...], float] = {}
    for word in sorted(PARTITIONS, key=max):
        exact[word] = sums[word] - sum(value for other, value in exact.items() if _coarser(word, other))
    return exact


def product_moment(first: Any, second: Any, gram: Any) -> float:
    """Return ``E[T_1 T_2]`` over all permutations."""
    n, total = len(gram), 0.0
    matrices, grams = _exact(first, second), _exact(gram, gram)
    for word in PARTITIONS:
        falling = math.prod(range(n - max(word), n + 1))
        total += matrices[word] * grams[word] / falling if falling else 0.0
    return total


def mean_form(matrix: Any, gram: Any) -> float:
    """Return ``E[T]`` over all permutations."""
    n = len(gram)
    apart = [float(one.sum() - np.trace(one)) for one in (matrix, gram)]
    return float(np.trace(matrix) * np.trace(gram)) / n + apart[0] * apart[1] / max(n * (n - 1), 1)


def expected_ratio(above: Any, below: Any, gram: Any) -> float:
    """Return ``E[N / D]`` to second order, ``E[N] / E[D] (1 + var D / E[D]^2) - cov(N, D) / E[D]^2``."""
    mean, norm = mean_form(above, gram), mean_form(below, gram)
    covariance = product_moment(above, below, gram) - mean * norm
    spread = product_moment(below, below, gram) - norm**2
    return mean / norm * (1 + spread / norm**2) - covariance / norm**2
