"""Approximate inverses of a symmetric positive (semi-)definite matrix, made from its entries.

Each maker returns a function on a block, or raises; the planner checks every answer by its residual, so that a poor one
costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._extras import require
from ..backend import FloatArray
from .system import System

__all__ = ["approximate_cholesky", "multigrid"]

Product = Callable[[Any], Any]


def approximate_cholesky(system: System) -> Product:
    """Return a randomised incomplete factorisation of the balanced matrix (Spielman and Kyng; ``approx-chol``).

    The matrix is scaled to its ``balance``, where it is symmetric and diagonally dominant, and to unit size.

    References
    ----------
    .. [1] R. Kyng and S. Sachdeva, "Approximate Gaussian Elimination for Laplacians", FOCS 2016.
    .. [2] Y. Gao, R. Kyng and D. A. Spielman, "Robust and Practical Solution of Laplacian Equations by Approximate
       Elimination", 2023.
    """
    library = require("approx_chol", "approximate Cholesky")
    balance: FloatArray = np.ones(len(system.diagonal)) if system.balance is None else system.balance
    scale = sparse.diags_array(balance)
    matrix = sparse.csr_array(scale @ system.matrix @ scale)
    matrix.sort_indices()
    matrix.data /= matrix.data.max()
    index = (matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32))
    factor = library.factorize_raw(*index, np.ascontiguousarray(matrix.data), matrix.shape[0])

    def apply(block: FloatArray) -> FloatArray:
        image = np.empty_like(block)
        for column in range(block.shape[1]):
            image[:, column] = factor.solve(np.ascontiguousarray(balance * block[:, column]))
        image *= balance[:, None]
        return system.project(image)  # type: ignore[no-any-return]

    return apply


def multigrid(system: System) -> Product:
    """Return one cycle of smoothed aggregation (``pyamg``) on the balanced matrix.

    References
    ----------
    .. [1] P. Vanek, J. Mandel and M. Brezina, Computing 56 (1996) 179.
    """
    pyamg = require("pyamg", "algebraic multigrid")
    balance: FloatArray = np.ones(len(system.diagonal)) if system.balance is None else system.balance
    scale = sparse.diags_array(balance)
    # pyamg has no sparse arrays yet; the matrix class holds the same three vectors.
    cycle = pyamg.smoothed_aggregation_solver(sparse.csr_matrix(scale @ system.matrix @ scale)).aspreconditioner()

    def apply(block: FloatArray) -> FloatArray:
        columns = [balance * cycle.matvec(balance * column) for column in block.T]
        return system.project(np.stack(columns, axis=1))  # type: ignore[no-any-return]

    return apply
