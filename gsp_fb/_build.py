"""From what a user has (edges, a dense or sparse matrix) to one canonical CSR: sorted, summed, finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ._arguments import check_choice, check_csr, host_array
from .backend import FloatArray, IntArray, is_sparse
from .errors import GraphError, ParameterError

__all__ = ["DUPLICATES", "LOOP_RULES", "SYMMETRIZE", "canonical", "check_direction", "check_ends", "check_weights"]
__all__ += ["drop_loops", "edges_to_csr", "index_arrays", "magnetic_adjacency", "symmetric", "total_degrees"]

DUPLICATES = ("error", "first", "sum")
LOOP_RULES = ("keep", "drop")
# Most nodes or stored entries that 32-bit indices can number.
INT32_LIMIT = int(np.iinfo(np.int32).max)
# Relative difference of A_ij and A_ji that is taken for rounding, not for a directed edge.
ROUNDING = 1e-12


def drop_loops(A: sparse.csr_array) -> sparse.csr_array:
    """Return ``A`` without its diagonal."""
    rows = np.repeat(np.arange(A.shape[0], dtype=A.indices.dtype), np.diff(A.indptr))
    keep = rows != A.indices
    counts = np.bincount(rows[keep], minlength=A.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(A.indptr.dtype)
    return sparse.csr_array((A.data[keep], A.indices[keep], indptr), shape=A.shape)


def _sum_once(A: Any) -> Any:
    """Return A + A' with each loop counted once, as a loop is its own reverse."""
    return A + drop_loops(A).T


def _larger(A: Any) -> Any:
    """Return the entry of larger magnitude of A and A', of two opposite ones the positive one."""
    B = A.T
    high, low, below = A.maximum(B), A.minimum(B), (A + B) < 0
    return high - high.multiply(below) + low.multiply(below)


SYMMETRIZE: dict[str, Callable[[Any], Any]] = {"max": _larger, "mean": lambda A: A / 2 + A.T / 2, "sum": _sum_once}


def check_direction(is_directed: bool, directed: bool, symmetrize: str | None) -> None:
    """Raise GraphError for a directed graph without a direction option, or for contradicting options."""
    if symmetrize is not None:
        check_choice(symmetrize, SYMMETRIZE, "symmetrize")
    if directed and symmetrize is not None:
        raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
    if is_directed and not directed and symmetrize is None:
        raise GraphError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")


def canonical(A: Any, *, signed: bool = False) -> sparse.csr_array:
    """Return a checked CSR copy of a square matrix: duplicates summed, zeros dropped, indices sorted.

    Weights are float64 and >= 0; ``signed`` allows negative and complex (complex128) ones.
    """
    given: Any = A if is_sparse(A) else np.asarray(host_array(A, GraphError, "adjacency"))
    if given.ndim != 2:
        raise GraphError(f"adjacency has shape {given.shape}; it must be a square matrix")
    dtype = _weight_dtype(given.dtype, signed)
    kind = getattr(given, "format", "dense")
    if kind in ("csr", "csc", "bsr"):
        check_csr(given)
    elif kind == "coo":
        check_ends(given.row, given.col, max(given.shape))
    matrix = sparse.csr_array(given, dtype=dtype, copy=True)
    if matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"adjacency has shape {matrix.shape}; it must be square")
    indptr, indices = matrix.indptr, matrix.indices
    check_weights(matrix.data, lambda at: (np.searchsorted(indptr, at, side="right") - 1, indices[at]), signed=signed)
    return _in_order(matrix)


def _in_order(matrix: sparse.csr_array) -> sparse.csr_array:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _weight_dtype(dtype: Any, signed: bool) -> Any:
    """Return the dtype in which weights of ``dtype`` are stored, if they are allowed."""
    if dtype.kind == "c" and not signed:
        raise GraphError(
            f"adjacency is complex ({dtype}); weights must be real and >= 0: give signed=True if it is Hermitian"
        )
    if dtype.kind not in "biufc":
        raise GraphError(f"adjacency has dtype {dtype}; weights must be numbers")
    return np.complex128 if dtype.kind == "c" else np.float64


def check_ends(source: Any, target: Any, n_nodes: int, *, before: int = 0) -> None:
    """Raise GraphError for an edge that ends at no node; ``before`` edges were listed earlier."""
    # A few numbers settle the usual case; which edge it is matters only once something is wrong.
    if not len(source) or (min(source.min(), target.min()) >= 0 and max(source.max(), target.max()) < n_nodes):
        return
    bad = int(np.argmax((np.minimum(source, target) < 0) | (np.maximum(source, target) >= n_nodes)))
    edge = int(source[bad]), int(target[bad])
    raise GraphError(f"edge {before + bad} is {edge}; node ids must lie in 0..{n_nodes - 1}")


def check_weights(
    weights: Any,
    ends: Callable[[int], tuple[Any, Any]],
    *,
    signed: bool,
    remedy: str = "give signed=True to keep negative weights",
) -> None:
    """Raise GraphError for a weight that is not finite, or negative and not ``signed``, naming the edge by its ends."""
    finite = np.isfinite(weights)
    bad = np.flatnonzero(~(finite if signed else finite & (weights >= 0)))
    if bad.size:
        edge, weight = tuple(map(int, ends(bad[0]))), weights[bad[0]]
        rule = "finite" if signed else "finite and >= 0"
        help_ = f"; {remedy}" if not signed and np.isfinite(weight) else ""
        raise GraphError(f"edge {edge} has weight {weight}; weights must be {rule}{help_}")


def symmetric(A: sparse.csr_array, rule: str | None) -> sparse.csr_array:
    """Return ``A`` made symmetric by ``rule``, or checked to be symmetric up to rounding if there is none."""
    if rule is not None:
        if A.dtype.kind == "c":
            raise GraphError(f"symmetrize={rule!r} is for real weights; a complex adjacency must be Hermitian")
        return _in_order(sparse.csr_array(SYMMETRIZE[check_choice(rule, SYMMETRIZE, "symmetrize")](A)))
    transposed = A.T.conj().tocsr()
    transposed.sort_indices()
    same_pattern = np.array_equal(A.indptr, transposed.indptr) and np.array_equal(A.indices, transposed.indices)
    if same_pattern and np.array_equal(A.data, transposed.data):
        return A
    gap = abs(A - transposed).tocoo()
    sizes = abs(A).maximum(abs(transposed))
    large = np.flatnonzero(gap.data > ROUNDING * np.asarray(sizes[gap.row, gap.col]).ravel())
    if large.size:
        i, j = int(gap.row[large[0]]), int(gap.col[large[0]])
        kind, remedy = "symmetric", "give symmetrize='max' (or 'mean', 'sum') or directed=True"
        if A.dtype.kind == "c":  # its phase already has a direction
            kind, remedy = "Hermitian", "entry (j, i) must be the complex conjugate of (i, j)"
        raise GraphError(
            f"adjacency is not {kind}: entry ({i}, {j}) is {A[i, j]} but ({j}, {i}) is {A[j, i]}; {remedy}"
        )
    return _in_order(sparse.csr_array(A / 2 + transposed / 2))


def index_arrays(A: sparse.csr_array) -> tuple[IntArray, IntArray]:
    """Return indptr and indices as int32 where every number fits, as int64 otherwise."""
    dtype = np.int32 if max(A.shape[0], A.indices.shape[0]) <= INT32_LIMIT else np.int64
    return A.indptr.astype(dtype, copy=False), A.indices.astype(dtype, copy=False)


def total_degrees(degrees: FloatArray) -> FloatArray:
    """Return ``degrees`` after checking that each is finite and has a finite reciprocal."""
    over = np.flatnonzero(~np.isfinite(degrees))
    if over.size:
        raise GraphError(f"degree of node {over[0]} overflows; rescale the weights")
    under = np.flatnonzero((degrees > 0) & (degrees < np.finfo(np.float64).tiny))
    if under.size:
        raise GraphError(f"degree of node {under[0]} is {degrees[under[0]]}, too small to invert; rescale the weights")
    return degrees


def _as_pairs(edges: Any) -> IntArray:
    pairs = host_array(edges, GraphError, "edge list")
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        hint = "; transpose it" if pairs.ndim == 2 and pairs.shape[0] == 2 else ""
        raise GraphError(f"edge list has shape {pairs.shape}; it must be (n_edges, 2){hint}")
    if pairs.dtype.kind not in "biuf":
        raise GraphError(f"edge list has dtype {pairs.dtype}; node ids must be integers")
    if pairs.dtype.kind == "f":
        partial = np.flatnonzero((pairs != np.floor(pairs)).any(axis=1))
        if partial.size:
            raise GraphError(f"edge {partial[0]} is {tuple(pairs[partial[0]].tolist())}; node ids must be integers")
    return np.asarray(pairs, dtype=np.int64)


def _edge_weights(weights: Any, n_edges: int) -> FloatArray:
    """Return one real weight an edge; a complex weight needs to know which of the two directions it is for."""
    if weights is None:
        return np.ones(n_edges)
    array = host_array(weights, GraphError, "weights")
    if array.shape != (n_edges,):
        raise GraphError(f"weights have shape {array.shape} for {n_edges} edges")
    if array.dtype.kind == "c":
        raise GraphError("weights of listed edges must be real; give a complex Hermitian matrix to from_adjacency")
    return np.asarray(array, dtype=_weight_dtype(array.dtype, signed=False))


def edges_to_csr(
    edges: Any, weights: Any, n_nodes: int | None, *, mirror: bool, duplicates: str, signed: bool = False
) -> sparse.csr_array:
    """Return the canonical CSR of an edge list; ``mirror`` stores each pair in both directions.

    With ``mirror`` the pairs are unordered, so ``(i, j)`` and ``(j, i)`` are the same edge listed twice.
    """
    pairs = _as_pairs(edges)
    data = _edge_weights(weights, len(pairs))
    if n_nodes is None:
        if not len(pairs):
            raise ParameterError("n_nodes needed: an empty edge list does not state how many nodes there are")
        n_nodes = int(pairs.max()) + 1
    check_ends(pairs[:, 0], pairs[:, 1], n_nodes)
    check_choice(duplicates, DUPLICATES, "duplicates")
    row, col = pairs.astype(np.int32 if n_nodes <= INT32_LIMIT else np.int64, copy=False).T
    check_weights(data, lambda at: (row[at], col[at]), signed=signed)
    if mirror:
        upper = _merge(np.minimum(row, col), np.maximum(row, col), data, n_nodes, duplicates)
        return _in_order(sparse.csr_array(_sum_once(upper)))
    return _in_order(_merge(row, col, data, n_nodes, duplicates))


def _merge(row: IntArray, col: IntArray, data: FloatArray, n_nodes: int, duplicates: str) -> sparse.csr_array:
    coo = sparse.coo_array((data, (row, col)), shape=(n_nodes, n_nodes))
    merged = coo.tocsr()
    n_repeated = len(row) - merged.nnz
    if n_repeated and duplicates == "error":
        raise GraphError(
            f"{n_repeated} of {len(row)} listed edges repeat an earlier one; give duplicates='first' or 'sum', "
            "or symmetrize='max' if each edge is listed in both directions"
        )
    if n_repeated and duplicates == "first":
        if np.all(data == data[0]):
            # All listings agree: no need to sort all pairs to find which came first, most of the time of a build.
            merged.data[:] = data[0]
            return merged
        first = np.sort(np.unique(row.astype(np.int64) * n_nodes + col, return_index=True)[1])
        return sparse.coo_array((data[first], (row[first], col[first])), shape=coo.shape).tocsr()
    return merged


def magnetic_adjacency(A: sparse.csr_array, q: float) -> sparse.csr_array:
    """Return ``(A + A')/2`` with the phases ``exp(2 pi i q (B - B'))``, B the 0/1 pattern of A; real where all are."""
    pattern = sparse.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    size, flow = sparse.csr_array(A / 2 + A.T / 2), sparse.csr_array(pattern - pattern.T)
    forward: Any = size.multiply(flow > 0)
    back: Any = size.multiply(flow < 0)
    turn = _turn(q) if forward.nnz else 1.0
    turned = sparse.csr_array(turn * forward + np.conj(turn) * back)
    return _in_order(sparse.csr_array(size - forward - back + turned))


def _turn(q: float) -> complex:
    """Return ``exp(2 pi i q)``, exact for multiples of a quarter and real for those of a half."""
    quarters = 4.0 * (q % 1.0)
    if quarters % 1.0 == 0.0:
        return (1.0, 1.0j, -1.0, -1.0j)[int(quarters) % 4]
    return complex(np.exp(2j * np.pi * (q % 1.0)))
