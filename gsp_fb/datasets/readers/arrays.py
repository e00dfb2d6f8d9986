"""Return types of the readers: plain arrays, independent of the layout, with consistent shapes and ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, TypeVar
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..._arguments import check_csr
from ...backend import IntArray
from ...errors import FormatError
from ...files._limits import MAX_NODES, Limits
from ..divisions import N_RELATIONS, N_SPACES

__all__ = ["CollectionArrays", "NodeArrays", "RelationArrays"]
__all__ += ["as_features", "checked_csr", "opened", "reading", "single"]

T = TypeVar("T")
BoolArray = npt.NDArray[np.bool_]
# Exceptions that malformed files cause in the parsers of numbers, text, JSON, zip archives and pickles.
_PARSE_ERRORS = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(EOFError, RecursionError, NotImplementedError, BadZipFile),
)


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """A node data set: ``edges`` (2, E) in source order, CSR features, labels, masks (3, n_splits, N).

    ``public`` are the training, validation and test indices of Planetoid; ``unlabelled`` the nodes without a label in
    the source, whose entry in ``y`` is a placeholder.
    """

    edges: IntArray
    x: sparse.csr_array
    y: IntArray
    masks: BoolArray | None = None
    public: tuple[IntArray, IntArray, IntArray] | None = None
    unlabelled: IntArray | None = None

    def __post_init__(self) -> None:
        n_nodes = self.x.shape[0]
        _check_ids(self.edges, n_nodes, "edges")
        _check_lengths(n_nodes, "nodes", y=self.y)
        if self.masks is not None and (self.masks.ndim != 3 or self.masks.shape[::2] != (3, n_nodes)):
            raise FormatError(f"masks of shape {self.masks.shape} do not fit three parts of {n_nodes} nodes")
        if self.unlabelled is not None:
            _check_range(self.unlabelled, n_nodes, "unlabelled nodes")


@dataclass(frozen=True, eq=False)
class CollectionArrays:
    """Many graphs: ``edges`` (2, E) with global node ids, raw tags and labels, test fold of each graph or -1."""

    graph_indptr: IntArray
    edges: IntArray
    node_label: IntArray
    y: IntArray
    fold: IntArray

    def __post_init__(self) -> None:
        n_nodes, starts = len(self.node_label), self.graph_indptr
        if not len(starts) or starts[0] != 0 or starts[-1] != n_nodes or np.any(np.diff(starts) < 0):
            raise FormatError(f"graph_indptr must rise from 0 to the number of nodes, {n_nodes}")
        _check_ids(self.edges, n_nodes, "edges")
        _check_lengths(len(starts) - 1, "graphs", y=self.y, fold=self.fold)
        graph_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if np.any(graph_of[self.edges[0]] != graph_of[self.edges[1]]):
            raise FormatError("an edge joins two graphs of the collection")


@dataclass(frozen=True, eq=False)
class RelationArrays:
    """Pairs (2, M), their space (0 = graph, 1 = latent) and relation (0..3)."""

    pairs: IntArray
    space: npt.NDArray[np.uint8]
    relation: npt.NDArray[np.uint8]

    def __post_init__(self) -> None:
        _check_ids(self.pairs, MAX_NODES, "pairs")
        _check_lengths(self.pairs.shape[1], "pairs", space=self.space, relation=self.relation)
        _check_range(self.space, N_SPACES, "spaces")
        _check_range(self.relation, N_RELATIONS, "relations")


def _check_range(numbers: npt.NDArray[Any], end: int, what: str) -> None:
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < end:
        raise FormatError(f"{what} {numbers.min()}..{numbers.max()} are not all in 0..{end - 1}")


def _check_ids(pairs: IntArray, n_nodes: int, what: str) -> None:
    if pairs.ndim != 2 or pairs.shape[0] != 2:
        raise FormatError(f"{what} have shape {pairs.shape}, expected two rows of node numbers")
    _check_range(pairs, n_nodes, what)


def _check_lengths(length: int, what: str, **arrays: npt.NDArray[Any]) -> None:
    for name, array in arrays.items():
        if len(array) != length:
            raise FormatError(f"{name} has {len(array)} entries for {length} {what}")


def checked_csr(data: Any, indices: IntArray, indptr: IntArray, shape: Sequence[int]) -> sparse.csr_array:
    """Return a float32 CSR matrix; its index arrays are checked before scipy's compiled code reads them."""
    if len(shape) != 2 or min(shape) < 0:
        raise FormatError(f"a feature matrix has shape {tuple(shape)}; it must have two axes")
    Limits().check_nodes(max(shape))
    check_csr(SimpleNamespace(format="csr", shape=shape, data=data, indices=indices, indptr=indptr))
    used = slice(0, int(indptr[-1]))
    return sparse.csr_array((single(data[used]), indices[used], indptr), shape=(shape[0], shape[1]))


def single(numbers: Any) -> Any:
    """Return ``numbers`` as float32; values out of range become infinite, and :func:`as_features` rejects them."""
    with np.errstate(over="ignore", invalid="ignore"):  # a signalling NaN warns where a quiet one does not
        return numbers.astype(np.float32)


def as_features(matrix: Any) -> sparse.csr_array:
    """Return a dense or sparse feature matrix as canonical float32 CSR without stored zeros."""
    x = sparse.csr_array(matrix, dtype=np.float32)
    x.sum_duplicates()
    x.eliminate_zeros()
    if not np.all(np.isfinite(x.data)):
        raise FormatError("a feature is not finite")
    return x


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert any exception that a malformed file causes into a FormatError with its path."""
    try:
        yield
    except FormatError as problem:
        raise FormatError(f"{path}: {problem}") from problem
    except _PARSE_ERRORS as problem:
        raise FormatError(f"{path} is malformed: {type(problem).__name__}: {problem}") from problem


@contextmanager
def opened(path: Path, kind: Callable[[BinaryIO, Limits], T]) -> Iterator[T]:
    """Open an archive of a kind within the limits, under :func:`reading`."""
    with reading(path), open(path, "rb") as file:
        yield kind(file, Limits())
