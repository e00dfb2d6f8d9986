"""Losses and scores of outputs: for classes, several labels and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scipy.stats import rankdata
from torch import Tensor
from torch.nn import functional

__all__ = ["METRICS"]


def losses(logits: Tensor, y: Tensor, *, weight: Tensor | None = None) -> Tensor:
    """Return the loss of every item.

    Cross-entropy for class numbers, the mean binary cross-entropy over 0/1 columns, the mean squared error over float
    columns. ``weight`` holds a factor per class or column.
    """
    if y.ndim == 1:
        # Classes before items: a softmax over a handful of neighbouring numbers is slow.
        return functional.cross_entropy(logits.mT[None], y[None], weight=weight, reduction="none")[0]
    wanted = y.to(logits.dtype)
    if y.is_floating_point():
        each = (logits - wanted).square()
    else:
        each = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    return (each if weight is None else each * weight).mean(1)


def accuracy(logits: Tensor, y: Tensor) -> float:
    """Return the share of items whose largest logit is their class."""
    return float((logits.argmax(-1) == y).double().mean())


def roc_auc(logits: Tensor, y: Tensor) -> float:
    """Return the probability that an item of class 1 scores above one of class 0, ties counting half."""
    scores = (logits[:, 1] - logits[:, 0]).double()
    positive = y == 1
    n_positive = int(positive.sum())
    pairs = n_positive * (len(y) - n_positive)
    if not pairs:
        return float("nan")
    ranks = rankdata(scores.detach().cpu())[positive.cpu()]
    return float((ranks.sum() - n_positive * (n_positive + 1) / 2) / pairs)


def micro_f1(logits: Tensor, y: Tensor) -> float:
    """Return ``2 TP / (2 TP + FP + FN)`` over all labels of all items."""
    if y.ndim == 1:
        predicted, actual = (functional.one_hot(part, logits.shape[-1]).bool() for part in (logits.argmax(-1), y))
    else:
        predicted, actual = logits > 0, y.bool()
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


# The first metric of a kind of targets is what ``metric="auto"`` stands for.
METRICS: dict[str, Metric] = {
    "accuracy": Metric(accuracy, ("classes",)),
    "roc_auc": Metric(roc_auc, ("classes",)),
    "micro_f1": Metric(micro_f1, ("classes", "labels")),
    "r2": Metric(r2, ("values",)),
}
