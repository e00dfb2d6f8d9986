"""The strongest sparse products a user can install, as one table: scipy, torch with int32 indices, and MKL."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["PEERS", "chebyshev_loop", "int32_csr", "missing", "set_peer_threads"]

Product = Callable[[Any], Any]


def _scipy(matrix: sparse.csr_array) -> tuple[Product, Any, Any]:
    return lambda x: matrix @ x, _as_is, _add_scaled


def _torch(matrix: sparse.csr_array) -> tuple[Product, Any, Any]:
    torch = import_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support a beta
        arrays = (torch.from_numpy(array) for array in (matrix.indptr, matrix.indices, matrix.data))
        tensor = torch.sparse_csr_tensor(*arrays, size=matrix.shape)
    return lambda x: tensor @ x, torch.from_numpy, lambda out, factor, x: out.add_(x, alpha=float(factor))


def _mkl(matrix: sparse.csr_array) -> tuple[Product, Any, Any]:
    multiply, plain = import_module("sparse_dot_mkl").dot_product_mkl, sparse.csr_matrix(matrix)
    return lambda x: multiply(plain, x), _as_is, _add_scaled


def _as_is(x: Any) -> Any:
    return x


def _add_scaled(out: Any, factor: Any, x: Any) -> None:
    out += factor * x


# Name -> package, and the function that returns product, conversion of a signal, and ``out += factor * x``.
PEERS: dict[str, tuple[str, Callable[[sparse.csr_array], tuple[Product, Any, Any]]]] = {
    "scipy": ("scipy", _scipy),
    "torch": ("torch", _torch),
    "MKL": ("sparse_dot_mkl", _mkl),
}


@cache
def missing() -> list[str]:
    """Return the peers that cannot be imported here."""
    _find_mkl()
    return [name for name, (package, _) in PEERS.items() if find_spec(package) is None or not _loads(package)]


def _find_mkl() -> None:
    """Set MKL_RT to the library of the ``mkl`` package, which sparse_dot_mkl does not find by itself."""
    found = sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    if found:
        os.environ.setdefault("MKL_RT", str(found[0]))


def _loads(package: str) -> bool:
    try:
        import_module(package)
    except (ImportError, OSError):
        return False
    return True


def set_peer_threads(count: int) -> None:
    """Run the peers in this many threads from now on; scipy's product always takes one."""
    absent = missing()
    if "torch" not in absent:
        import_module("torch").set_num_threads(count)
    if "MKL" not in absent:
        import_module("sparse_dot_mkl").mkl_set_num_threads(count)


def int32_csr(matrix: Any, dtype: Any) -> sparse.csr_array:
    """Return a matrix with int32 indices, the faster ones of every peer."""
    parts = matrix.data.astype(dtype), matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=matrix.shape)


def chebyshev_loop(product: Product, add_scaled: Any, x: Any, coefficients: Any) -> list[Any]:
    """Return the bank as a careful user writes it over any product: in place, one vector a filter."""
    before, now = x, product(x)
    out = [float(row[0]) * before for row in coefficients]
    for sums, row in zip(out, coefficients, strict=True):
        add_scaled(sums, row[1], now)
    for k in range(2, coefficients.shape[1]):
        new = product(now)
        new *= 2
        new -= before
        before, now = now, new
        for sums, row in zip(out, coefficients, strict=True):
            add_scaled(sums, row[k], now)
    return out
