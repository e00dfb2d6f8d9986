"""Every family of matrices, written from the paper's definitions: scipy and an adjacency, nothing of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["laplacian", "symmetric"]


def laplacian(adjacency: Any, family: str) -> tuple[Any, Any]:
    """Return the high channel of a family (gamma 1, sparse), and the weights of the inner product it is symmetric in.

    An isolated node has a zero row in every family.
    """
    a = sparse.csr_array(adjacency, dtype=np.float64)
    degrees = np.asarray(a.sum(axis=1)).ravel()
    if family == "comb":
        return sparse.diags_array(degrees) - a, np.ones(len(degrees))
    kind, _, norm = family.rpartition("_")
    loops = {"renorm": np.ones_like(degrees), "lazy": degrees}.get(kind, np.zeros_like(degrees))
    alone = (degrees + loops == 0).astype(np.float64)
    a, degrees = a + sparse.diags_array(loops + alone), degrees + loops + alone
    identity = sparse.eye_array(len(degrees))
    if norm == "rw":
        return identity - sparse.diags_array(1 / degrees) @ a, degrees
    root = sparse.diags_array(1 / np.sqrt(degrees))
    return identity - root @ a @ root, np.ones(len(degrees))


def symmetric(adjacency: Any, family: str) -> tuple[Any, Any]:
    """Return the symmetric matrix that a high channel is similar to, and the square root of its weights."""
    high, weights = laplacian(adjacency, family)
    root = np.sqrt(weights)
    return sparse.diags_array(root) @ high @ sparse.diags_array(1 / root), root
