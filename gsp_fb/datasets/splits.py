"""Training, validation and test nodes as index arrays: from masks, stored, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import check_count, check_labels, check_rng
from ..backend import IntArray
from ..errors import ParameterError

__all__ = ["SPLIT_SEED", "Split", "random_splits", "splits_from_masks", "stored_splits"]

# Seed of the ten splits of a set that is published without splits: the same on every machine.
SPLIT_SEED = 0


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Disjoint training, validation and test sets as index arrays: ``y[split.train]`` are the training labels.

    Parameters
    ----------
    train, val, test : int64 array
        Sorted indices of nodes (or of graphs in a collection).

    See Also
    --------
    random_splits : Draw splits at random.

    Examples
    --------
    >>> import numpy as np
    >>> split = Split(np.array([0, 2]), np.array([1]), np.array([3]))
    >>> split
    Split(train=2, val=1, test=1)
    >>> split.masks(4)[0]
    array([ True, False,  True, False])
    """

    train: IntArray
    val: IntArray
    test: IntArray

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Sizes of the training, validation and test sets."""
        return len(self.train), len(self.val), len(self.test)

    def masks(self, n_nodes: int) -> tuple[npt.NDArray[np.bool_], ...]:
        """Return the three sets as boolean masks.

        Parameters
        ----------
        n_nodes : int
            Length of the masks.

        Returns
        -------
        tuple of three bool arrays, shape (n_nodes,)
            Training, validation and test.

        See Also
        --------
        random_splits : Draw splits at random.

        Examples
        --------
        >>> train, val, test = Split(np.array([0, 1]), np.array([2]), np.array([3])).masks(4)
        >>> train
        array([ True,  True, False, False])
        """
        return tuple(np.isin(np.arange(n_nodes), part) for part in (self.train, self.val, self.test))

    def __repr__(self) -> str:
        return "Split(train={}, val={}, test={})".format(*self.sizes)


def splits_from_masks(masks: npt.NDArray[np.bool_], keep: npt.NDArray[np.bool_]) -> tuple[Split, ...]:
    """Return the splits of a (3, n_splits, n_nodes) boolean array, restricted to the nodes in ``keep``."""
    return tuple(Split(*(np.flatnonzero(masks[part, k] & keep) for part in range(3))) for k in range(masks.shape[1]))


def stored_splits(name: str) -> tuple[Split, ...] | None:
    """Return the ten stored splits of a set that is published without splits; None for any other set.

    They are :func:`random_splits` of the labels with ``SPLIT_SEED``, stored in a file because NumPy does not guarantee
    the same random stream across versions.

    Examples
    --------
    >>> stored_splits("amazon_photo")[0]
    Split(train=4591, val=1529, test=1530)
    >>> stored_splits("texas") is None
    True
    """
    with files("gsp_fb").joinpath("data", "splits.npz").open("rb") as file, np.load(file, allow_pickle=False) as parts:
        if name not in parts:
            return None
        part = parts[name]
    masks = part == np.arange(3)[:, None, None]
    return splits_from_masks(masks, np.ones(part.shape[1], dtype=bool))


def random_splits(
    y: Any, n_splits: int = 10, rng: Any = None, *, fractions: Sequence[float] = (0.6, 0.2, 0.2)
) -> tuple[Split, ...]:
    """Return random splits that are stratified by class.

    Within a class of m nodes in random order, the node at rank r goes to training if (r + 1/2) / m < f_train, to
    validation if it is < f_train + f_val, and to test otherwise; so a class of one node is in training.

    Parameters
    ----------
    y : array_like of int, shape (n_nodes,)
        Classes; nodes with a negative label are excluded.
    n_splits : int
        Number of splits.
    rng : None, int or Generator
        Source of randomness; the same seed gives the same splits.
    fractions : three floats
        Shares of training, validation and test; they must sum to 1.

    Returns
    -------
    tuple of Split
        ``n_splits`` splits.

    Raises
    ------
    ParameterError
        The fractions are negative or do not sum to 1, or ``n_splits`` is below 1.
    SignalError
        ``y`` is not a vector of integers.

    See Also
    --------
    Split : One split.

    Examples
    --------
    >>> random_splits([0] * 10 + [1] * 5, 2, rng=0)
    (Split(train=9, val=3, test=3), Split(train=9, val=3, test=3))
    """
    y = check_labels(y, np.size(y))
    n_splits, rng = check_count(n_splits, "n_splits"), check_rng(rng)
    ends = _check_fractions(fractions)
    labelled = np.flatnonzero(y >= 0)
    return tuple(_stratified(y[labelled], labelled, ends, rng) for _ in range(n_splits))


def _check_fractions(fractions: Sequence[float]) -> npt.NDArray[np.float64]:
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.shape != (3,) or not np.all(shares >= 0) or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(f"fractions must be three numbers >= 0 that sum to 1, not {fractions!r}")
    return np.cumsum(shares)[:2]


def _stratified(y: IntArray, nodes: IntArray, ends: npt.NDArray[np.float64], rng: np.random.Generator) -> Split:
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    _, first, sizes = np.unique(y[order], return_index=True, return_counts=True)
    place = (np.arange(len(y)) - np.repeat(first, sizes) + 0.5) / np.repeat(sizes, sizes)
    part = np.searchsorted(ends, place, side="right")
    return Split(*(np.sort(nodes[order[part == k]]) for k in range(3)))
