"""What a model is trained towards: classes, several labels or numbers. The kind follows from the type of ``y``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ParameterError

__all__ = ["Targets", "encode", "n_outputs"]

UNLABELLED = -1


@dataclass(frozen=True, eq=False)
class Targets:
    """Encoded targets of all items."""

    kind: str
    values: npt.NDArray[Any]
    names: tuple[Any, ...]
    known: npt.NDArray[np.bool_]

    @property
    def n_outputs(self) -> int:
        """Number of outputs that a model of these targets has."""
        return len(self.names) if self.kind == "classes" else int(self.values.shape[1])


def encode(y: Any, n_classes: int | None = None) -> Targets:
    """Return targets as training takes them.

    Integers and strings are classes, which are counted: a label of 1e7 is one class more, not 1e7 of them. Negative
    integers, empty strings and None mean unlabelled. Two-dimensional integers are 0/1 labels. Floats are numbers to
    regress on and are never truncated to classes; nan means unlabelled.
    """
    array = np.asarray(y)
    if array.ndim not in (1, 2):
        raise ParameterError(f"targets have shape {array.shape}; give one row an item: (n,) or (n, k)")
    if array.dtype.kind == "f":
        return _numbers(array)
    if array.ndim == 2:
        return _labels(array)
    if array.dtype.kind in "iub":
        return _class_numbers(array.astype(np.int64), n_classes)
    if array.dtype.kind in "UO":
        return _class_names(array, n_classes)
    raise ParameterError(f"targets have type {array.dtype}; give integers or strings (classes) or floats (regression)")


def n_outputs(y: Any) -> int:
    """Return how many outputs a model of these targets needs."""
    return encode(y).n_outputs


def _numbers(array: npt.NDArray[Any]) -> Targets:
    values = array.reshape(len(array), -1).astype(np.float64)
    known: npt.NDArray[np.bool_] = np.logical_not(np.isnan(values).any(axis=1))
    wild = np.flatnonzero(np.isinf(values).any(axis=1))
    if wild.size:
        raise ParameterError(f"the target of item {wild[0]} is not finite")
    _check_any(known)
    return Targets("values", values, (), known)


def _labels(array: npt.NDArray[Any]) -> Targets:
    bad = np.argwhere((array != 0) & (array != 1))
    if bad.size:
        row, column = bad[0]
        raise ParameterError(f"label {column} of item {row} is {array[row, column]}; several labels must be 0 or 1")
    known = np.ones(len(array), dtype=bool)
    _check_any(known & bool(array.shape[1]))
    return Targets("labels", array.astype(np.int64), (), known)


def _class_numbers(y: npt.NDArray[np.int64], n_classes: int | None) -> Targets:
    known = y >= 0
    _check_any(known)
    kinds = np.unique(y[known])
    if n_classes is not None and kinds[-1] < n_classes:
        return Targets("classes", np.where(known, y, UNLABELLED), tuple(range(n_classes)), known)
    return _coded(y, known, kinds, n_classes)


def _class_names(y: npt.NDArray[Any], n_classes: int | None) -> Targets:
    known = np.array([not _is_absent(name) for name in y.tolist()], dtype=bool)
    _check_any(known)
    other = next((name for name in y[known].tolist() if not isinstance(name, str)), None)
    if other is not None:
        raise ParameterError(f"label {other!r} is no string; give all classes as strings or all as integers")
    return _coded(y, known, np.unique(y[known].astype(str)), n_classes)


def _coded(y: npt.NDArray[Any], known: npt.NDArray[np.bool_], kinds: Any, n_classes: int | None) -> Targets:
    if n_classes is not None and len(kinds) != n_classes:
        extra = int(np.flatnonzero(known & np.isin(y, kinds[n_classes:]))[0]) if len(kinds) > n_classes else None
        named = f"; item {extra} has label {np.asarray(y[extra]).item()!r}" if extra is not None else ""
        raise ParameterError(f"the data have {len(kinds)} classes, the model has {n_classes} outputs{named}")
    codes = np.full(len(y), UNLABELLED, dtype=np.int64)
    codes[known] = np.searchsorted(kinds, y[known].astype(kinds.dtype))
    return Targets("classes", codes, tuple(kinds.tolist()), known)


def _check_any(known: npt.NDArray[np.bool_]) -> None:
    if not known.any():
        raise ParameterError("no item of the data set has a label; there is nothing to learn")


def _is_absent(name: Any) -> bool:
    # Tables read by pandas have nan where a label is missing.
    return name is None or name == "" or (isinstance(name, float) and math.isnan(name))
