"""What is learned from: classes, several labels or numbers, encoded and checked against a split."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import is_sparse
from ..errors import GspWarning, ParameterError
from .splits import PARTS, Split, class_codes, part_indices

__all__ = ["Targets", "array_sha256", "check_split", "encode_targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """Encoded targets of all items."""

    kind: str
    values: npt.NDArray[Any]
    names: tuple[Any, ...]
    known: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not self.known.any():
            raise ParameterError("no item of the data set has a label; there is nothing to learn")

    @property
    def n_outputs(self) -> int:
        """Number of outputs that a model of these targets has."""
        return len(self.names) if self.kind == "classes" else int(self.values.shape[1])


def encode_targets(y: Any, n_classes: int | None = None) -> Targets:
    """Return targets as training takes them.

    Integers and strings are classes, which are counted: a label of 1e7 is one class more, not 1e7 of them. Negative
    integers, empty strings and None mean unlabelled. Two-dimensional integers are 0/1 labels. Floats are numbers to
    regress on and are never truncated to classes; nan means unlabelled.
    """
    if y is None:
        raise ParameterError("the data set has no labels (y is None), and training needs some; give y to it")
    array = np.asarray(y)
    if array.ndim not in (1, 2):
        raise ParameterError(f"targets have shape {array.shape}; give one row an item: (n,) or (n, k)")
    if array.dtype.kind == "f":
        return _numbers(array)
    if array.ndim == 2:
        return _labels(array)
    if array.dtype.kind not in "iubUO":
        what = f"targets have type {array.dtype}"
        raise ParameterError(f"{what}; give integers or strings (classes) or floats (regression)")
    return _classes(array.astype(np.int64) if array.dtype.kind in "iub" else array, n_classes)


def _numbers(array: npt.NDArray[Any]) -> Targets:
    values = array.reshape(len(array), -1).astype(np.float64)
    wild = np.flatnonzero(np.isinf(values).any(axis=1))
    if wild.size:
        raise ParameterError(f"the target of item {wild[0]} is not finite")
    return Targets("values", values, (), np.logical_not(np.isnan(values).any(axis=1)))


def _labels(array: npt.NDArray[Any]) -> Targets:
    bad = np.argwhere((array != 0) & (array != 1))
    if bad.size:
        row, column = bad[0]
        raise ParameterError(f"label {column} of item {row} is {array[row, column]}; several labels must be 0 or 1")
    return Targets("labels", array.astype(np.int64), (), np.full(len(array), bool(array.shape[1])))


def _classes(y: npt.NDArray[Any], n_classes: int | None) -> Targets:
    codes = class_codes(y)
    known = codes >= 0
    odd = [name for name in y[known].tolist() if y.dtype.kind == "O" and not isinstance(name, str)]
    if odd:
        raise ParameterError(f"label {odd[0]!r} is no string; give all classes as strings or all as integers")
    names = np.unique(y[known].astype(str) if y.dtype.kind == "O" else y[known])
    if n_classes is not None and y.dtype.kind == "i" and names.size and names[-1] < n_classes:
        return Targets("classes", np.where(known, y, -1), tuple(range(n_classes)), known)
    found = Targets("classes", codes, tuple(names.tolist()), known)
    if n_classes is not None and len(names) != n_classes:
        extra = np.flatnonzero(codes >= n_classes)
        named = f"; item {extra[0]} has label {np.asarray(y[extra[0]]).item()!r}" if extra.size else ""
        raise ParameterError(f"the data have {len(names)} classes, the model has {n_classes} outputs{named}")
    return found


def check_split(split: Any, targets: Targets) -> Split:
    """Return a split as disjoint index arrays of labelled items; masks and indices are both understood."""
    arrays = {part: part_indices(getattr(split, part), len(targets.known), part) for part in PARTS}
    if arrays["train"].size == 0:
        raise ParameterError("the split has no training items")
    for first, second in (("train", "val"), ("train", "test"), ("val", "test")):
        shared = np.intersect1d(arrays[first], arrays[second])
        if shared.size:
            raise ParameterError(f"item {shared[0]} is in {first} and in {second}; {shared.size} items overlap")
    for part, index in arrays.items():
        bad = index[~targets.known[index]]
        if bad.size:
            raise ParameterError(f"{part} item {bad[0]} has no label; leave it out of the split")
    if targets.kind == "classes":
        y = [targets.values[arrays[part]] for part in PARTS]
        absent = np.setdiff1d(np.concatenate(y), y[0])
        names = ", ".join(str(targets.names[number]) for number in absent)
        if absent.size:
            warnings.warn(f"class {names} has no training item; the model cannot learn it", GspWarning, stacklevel=4)
    return Split(**arrays)


def array_sha256(*arrays: Any) -> str:
    """Return the SHA-256 of features, labels or indices: values, shapes and types of dense or CSR arrays.

    >>> array_sha256(np.arange(3)) == array_sha256(np.arange(3.0))
    False
    """
    total = hashlib.sha256()
    for array in arrays:
        for part in (array.data, array.indices, array.indptr) if is_sparse(array) else (array,):
            values = np.asarray(part)
            total.update(f"{values.dtype.str}{values.shape}".encode())
            named = values.dtype == object
            total.update(repr(values.tolist()).encode() if named else np.ascontiguousarray(values).tobytes())
    return total.hexdigest()
