"""Losses and scores of logits against labels, for one class a node or several."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["METRICS", "accuracy", "losses", "micro_f1", "roc_auc"]


def losses(logits: Tensor, y: Tensor) -> Tensor:
    """Return the loss of every item: cross-entropy for class numbers, the mean over labels for 0/1 columns."""
    if y.ndim == 1:
        return functional.cross_entropy(logits, y, reduction="none")
    return functional.binary_cross_entropy_with_logits(logits, y.to(logits.dtype), reduction="none").mean(1)


def accuracy(logits: Tensor, y: Tensor) -> float:
    """Return the share of items whose largest logit is their class.

    Examples
    --------
    >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 1.0]]), torch.tensor([0, 0]))
    0.5
    """
    return float((logits.argmax(-1) == y).double().mean())


def roc_auc(logits: Tensor, y: Tensor) -> float:
    """Return the probability that an item of class 1 scores above one of class 0, ties counting half.

    Examples
    --------
    >>> roc_auc(torch.tensor([[0.0, 1.0], [0.0, 3.0], [0.0, 2.0]]), torch.tensor([0, 1, 1]))
    1.0
    """
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
    """Return ``2 TP / (2 TP + FP + FN)`` over all labels of all items.

    Examples
    --------
    >>> micro_f1(torch.tensor([[1.0, -1.0], [1.0, 1.0]]), torch.tensor([[1, 0], [0, 1]]))
    0.8
    """
    predicted = functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool() if y.ndim == 1 else logits > 0
    actual = functional.one_hot(y, logits.shape[-1]).bool() if y.ndim == 1 else y.bool()
    total = int(predicted.sum() + actual.sum())
    return 2.0 * int((predicted & actual).sum()) / total if total else 1.0


METRICS: dict[str, Callable[[Tensor, Tensor], float]] = {
    "accuracy": accuracy,
    "roc_auc": roc_auc,
    "micro_f1": micro_f1,
}
