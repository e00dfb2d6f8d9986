"""What every reader returns: plain arrays, the same for every layout that holds the same data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...backend import IntArray
from ...errors import FormatError

__all__ = ["BoolArray", "CollectionArrays", "NodeArrays", "RelationArrays", "as_features", "reading"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """A node data set: ``edges`` (2, E) in the order of the source, CSR features, labels, masks (3, n_splits, N).

    ``public`` are the training, validation and test indices of Planetoid; ``unlabelled`` the nodes whose label in
    ``y`` is made up.
    """

    edges: IntArray
    x: sparse.csr_array
    y: IntArray
    masks: BoolArray | None = None
    public: tuple[IntArray, IntArray, IntArray] | None = None
    unlabelled: IntArray | None = None


@dataclass(frozen=True, eq=False)
class CollectionArrays:
    """Many graphs: ``edges`` (2, E) with global node ids, raw tags and labels, test fold of each graph or -1."""

    graph_indptr: IntArray
    edges: IntArray
    node_label: IntArray
    y: IntArray
    fold: IntArray


@dataclass(frozen=True, eq=False)
class RelationArrays:
    """Pairs (2, M), their space (0 = graph, 1 = latent) and relation (0..3)."""

    pairs: IntArray
    space: npt.NDArray[np.uint8]
    relation: npt.NDArray[np.uint8]


def as_features(matrix: Any) -> sparse.csr_array:
    """Return a dense or sparse feature matrix as canonical float32 CSR without stored zeros."""
    x = sparse.csr_array(matrix, dtype=np.float32)
    x.sum_duplicates()
    x.eliminate_zeros()
    return x


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a malformed file provokes into a FormatError that names it."""
    try:
        yield
    except FormatError as problem:
        raise FormatError(f"{path}: {problem}") from problem
    except (ValueError, IndexError, KeyError, EOFError, BadZipFile, OverflowError) as problem:
        raise FormatError(f"{path} is not what its name says: {type(problem).__name__}: {problem}") from problem
