"""Training, validation and test nodes as index arrays: from masks, stored, or drawn at random."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import check_count, check_labels, check_rng
from ..backend import IntArray
from ..errors import ParameterError

__all__ = ["SPLIT_SEED", "Split", "checked_splits", "class_codes", "is_absent", "part_indices", "random_splits"]
__all__ += ["split_from_column", "splits_from_masks", "stored_splits", "with_validation"]

# Seed of the ten splits of a set that is published without splits: the same on every machine.
SPLIT_SEED = 0
PARTS = ("train", "val", "test")
WORDS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


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
    """

    train: IntArray
    val: IntArray
    test: IntArray

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Sizes of the training, validation and test sets."""
        return len(self.train), len(self.val), len(self.test)

    def masks(self, n_nodes: int) -> tuple[npt.NDArray[np.bool_], ...]:
        """Return the training, validation and test sets as boolean masks, shape (n_nodes,).

        >>> Split(np.array([0, 1]), np.array([2]), np.array([3])).masks(4)[0]
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
    shares = np.asarray(fractions, dtype=np.float64)
    if shares.shape != (3,) or not np.all(shares >= 0) or abs(shares.sum() - 1) > 1e-9:
        raise ParameterError(f"fractions must be three numbers >= 0 that sum to 1, not {fractions!r}")
    labelled = np.flatnonzero(y >= 0)
    return tuple(_stratified(y[labelled], labelled, np.cumsum(shares)[:2], rng) for _ in range(n_splits))


def with_validation(splits: Iterable[Any], y: Any, *, share: float = 0.1, seed: int = 0) -> tuple[Split, ...]:
    """Return the splits with a stratified part of their training items set aside for validation.

    A split that has validation items stays as it is; test items are never moved.

    Parameters
    ----------
    splits : iterable
        ``train``, ``val``, ``test`` as masks or indices.
    y : int array
        Classes of all items.
    share : float in (0, 1)
        Of the training items of every class.
    seed : int
        Of the random choice.

    Returns
    -------
    tuple of Split
        One a split, in the given order.

    Raises
    ------
    ParameterError
        ``share`` is not in (0, 1), or ``seed`` is negative.

    See Also
    --------
    gsp_fb.datasets.random_splits : Draw whole splits at random.
    gsp_fb.nn.cross_validate : Applies it to the folds under the protocol ``validation``.

    Examples
    --------
    >>> import numpy as np
    >>> fold = Split(np.arange(20), np.arange(0), np.arange(20, 24))
    >>> with_validation([fold], np.arange(24) % 2)
    (Split(train=18, val=2, test=4),)
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
        raise ParameterError(f"share must be in (0, 1), not {share!r}")
    seed = check_count(seed, "seed", minimum=0)
    return tuple(_carved(split, np.asarray(y), share, seed) for split in splits)


def _carved(split: Any, y: Any, share: float, seed: int) -> Split:
    given = _indices(split, len(y))
    if given.val.size:
        return given
    (inner,) = random_splits(y[given.train], 1, seed, fractions=(1.0 - share, share, 0.0))
    return Split(given.train[inner.train], given.train[inner.val], given.test)


def without_validation(splits: Iterable[Any], n_items: int) -> tuple[Split, ...]:
    """Return the splits with the validation items among the training items."""
    given = (_indices(split, n_items) for split in splits)
    return tuple(Split(np.sort(np.concatenate([one.train, one.val])), one.val[:0], one.test) for one in given)


def _indices(split: Any, n_items: int) -> Split:
    """Return the parts of a split as indices in the given order."""
    return Split(*(part_indices(getattr(split, part), n_items, part) for part in PARTS))


def class_codes(y: Any) -> IntArray:
    """Return classes 0..C-1 in the order of their labels, -1 where a label is negative, empty or None.

    >>> class_codes(["b", "a", None]), class_codes([10_000_000, -1, 3])
    (array([ 1,  0, -1]), array([ 1, -1,  0]))
    """
    labels = np.asarray(y)
    is_number = labels.dtype.kind in "biuf"
    known = labels >= 0 if is_number else np.array([not is_absent(cell) for cell in labels.tolist()], bool)
    codes = np.full(len(labels), -1, dtype=np.int64)
    found = labels[known]
    codes[known] = np.unique(found if found.dtype.kind != "O" else found.astype(str), return_inverse=True)[1]
    return codes


def is_absent(label: Any) -> bool:
    """Return whether a cell of a column of labels is empty."""
    return label is None or label == "" or (isinstance(label, float) and math.isnan(label))


def checked_splits(splits: Any, n_items: int) -> tuple[Split, ...]:
    """Return splits as index arrays: from objects with train, val and test, or triples; masks or indices."""
    given = [splits] if hasattr(splits, "train") else list(splits)
    return tuple(_checked_split(split, number, n_items) for number, split in enumerate(given))


def _checked_split(split: Any, number: int, n_items: int) -> Split:
    parts = [split.train, split.val, split.test] if hasattr(split, "train") else list(split)
    if len(parts) != 3:
        raise ParameterError(f"split {number} has {len(parts)} parts; give train, val and test")
    named = zip(parts, PARTS, strict=True)
    arrays = [np.sort(part_indices(part, n_items, f"{name} of split {number}")) for part, name in named]
    places, counts = np.unique(np.concatenate(arrays), return_counts=True)
    if np.any(counts > 1):
        raise ParameterError(f"split {number} has item {places[counts > 1][0]} in more than one part")
    return Split(*arrays)


def part_indices(part: Any, n_items: int, what: str) -> IntArray:
    """Return one part of a split as int64 indices in the given order, from a mask or from indices."""
    array = np.asarray(part)
    if array.dtype == bool:
        if array.shape != (n_items,):
            raise ParameterError(f"{what} is a mask of shape {array.shape} for {n_items} items")
        return np.flatnonzero(array)
    if array.size and array.dtype.kind not in "iu":
        raise ParameterError(f"{what} has indices of type {array.dtype} such as {array.ravel()[0]!r}; give integers")
    index = array.astype(np.int64).ravel()
    bad = index[(index < 0) | (index >= n_items)]
    if bad.size:
        raise ParameterError(f"{what} names item {bad[0]}; there are items 0..{n_items - 1}")
    unique, counts = np.unique(index, return_counts=True)
    if np.any(counts > 1):
        raise ParameterError(f"{what} names item {unique[counts > 1][0]} more than once; was a 0/1 mask meant?")
    return index


def split_from_column(column: Any) -> Split:
    """Return the split that a column of a node table states by the words train, val (or valid, validation) and test.

    >>> split_from_column(np.array(["train", "test", None, "val"], dtype=object))
    Split(train=1, val=1, test=1)
    """
    words = [None if is_absent(cell) else WORDS.get(str(cell).lower()) for cell in column.tolist()]
    odd = next((c for c, word in zip(column.tolist(), words, strict=True) if word is None and not is_absent(c)), None)
    if odd is not None or "train" not in words:
        known = ", ".join(WORDS)
        raise ParameterError(f"a split column holds {known} or nothing, and train at least once; found {odd!r}")
    return Split(*(np.flatnonzero([word == part for word in words]) for part in PARTS))


def _stratified(y: IntArray, nodes: IntArray, ends: npt.NDArray[np.float64], rng: np.random.Generator) -> Split:
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    _, first, sizes = np.unique(y[order], return_index=True, return_counts=True)
    place = (np.arange(len(y)) - np.repeat(first, sizes) + 0.5) / np.repeat(sizes, sizes)
    part = np.searchsorted(ends, place, side="right")
    return Split(*(np.sort(nodes[order[part == k]]) for k in range(3)))
