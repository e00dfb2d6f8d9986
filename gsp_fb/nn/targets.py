"""What a model is trained towards: classes, several labels or numbers; their losses and scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from ..errors import ParameterError

__all__ = ["METRICS", "Targets"]

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


def losses(logits: Tensor, y: Tensor, *, weight: Tensor | None = None) -> Tensor:
    """Return the loss of every item.

    Cross-entropy for class numbers, the mean binary cross-entropy over 0/1 columns, the mean squared error over float
    columns. ``weight`` holds a factor per class or column.
    """
    if y.ndim == 1:
        return functional.cross_entropy(logits, y, weight=weight, reduction="none")
    if y.is_floating_point():
        return _weighted((logits - y.to(logits.dtype)).square(), weight).mean(1)
    each = functional.binary_cross_entropy_with_logits(logits, y.to(logits.dtype), reduction="none")
    return _weighted(each, weight).mean(1)


def _weighted(each: Tensor, weight: Tensor | None) -> Tensor:
    return each if weight is None else each * weight


def accuracy(logits: Tensor, y: Tensor) -> float:
    """Return the share of items whose largest logit is their class."""
    return float((logits.argmax(-1) == y).double().mean())


def roc_auc(logits: Tensor, y: Tensor) -> float:
    """Return the probability that an item of class 1 scores above one of class 0, ties counting half."""
    scores = (logits[:, 1] - logits[:, 0]).double()
    positive = y == 1
    pairs = int(positive.sum()) * int((~positive).sum())
    if not pairs:
        return float("nan")
    _, inverse, counts = torch.unique(scores, return_inverse=True, return_counts=True)
    # The mean rank of tied scores, counted from one.
    ranks = (counts.cumsum(0) - (counts - 1) / 2.0)[inverse]
    n_positive = int(positive.sum())
    return float((ranks[positive].sum() - n_positive * (n_positive + 1) / 2) / pairs)


def micro_f1(logits: Tensor, y: Tensor) -> float:
    """Return ``2 TP / (2 TP + FP + FN)`` over all labels of all items."""
    predicted = functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool() if y.ndim == 1 else logits > 0
    actual = functional.one_hot(y, logits.shape[-1]).bool() if y.ndim == 1 else y.bool()
    total = int(predicted.sum() + actual.sum())
    return 2.0 * int((predicted & actual).sum()) / total if total else 1.0


def r2(outputs: Tensor, y: Tensor) -> float:
    """Return the coefficient of determination, averaged over columns; nan where a column of ``y`` is constant."""
    y = y.double()
    residual = (y - outputs.double()).square().sum(0)
    total = (y - y.mean(0)).square().sum(0)
    return float((1.0 - residual / total).mean()) if bool((total > 0).all()) else float("nan")


@dataclass(frozen=True)
class Metric:
    """A score, larger is better, and the kinds of targets that it is defined for."""

    function: Callable[[Tensor, Tensor], float]
    kinds: tuple[str, ...]


METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, ("classes",)),
    "roc_auc": Metric(roc_auc, ("classes",)),
    "micro_f1": Metric(micro_f1, ("classes", "labels")),
    "r2": Metric(r2, ("values",)),
}
# What ``metric="auto"`` stands for.
DEFAULT_METRIC = {"classes": "accuracy", "labels": "micro_f1", "values": "r2"}
