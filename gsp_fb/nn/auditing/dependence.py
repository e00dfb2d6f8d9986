"""Dependence of the predictions on each half of a signal: the half is removed, or permuted over the nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ...backend import FloatArray, IntArray
from ...energy import signal_energy
from .bands import Bands
from .layers import LayerCall, output_for
from .subject import Subject, node_axis, to_numpy

__all__ = ["ACTIONS", "HALVES", "Dependence", "largest_class", "measure_dependence", "predictions", "share_correct"]

HALVES = ("low", "high")
# What is put in the place of a half, given that half and a permutation of the nodes.
ACTIONS: dict[str, Callable[[FloatArray, IntArray], FloatArray]] = {
    "removed": lambda part, order: np.zeros_like(part),
    "permuted": lambda part, order: part[order],
}


@dataclass(frozen=True)
class Dependence:
    """Effect on the output when one ``half`` (low or high) of one signal is removed or permuted over the nodes.

    ``where`` is ``input``, or the name of the layer whose input is changed. A permuted half keeps its amount and loses
    its place. ``energy`` is the share of the half in the energy of the signal, ``output_change`` the norm of the change
    of the output relative to the output, and ``prediction_change`` the share of the nodes whose predicted class
    changes, nan where the output is not one of classes. ``accuracy`` is that with the change, ``accuracy_change``
    subtracts the one without it; nan without labels.
    """

    where: str
    half: str
    action: str
    energy: float
    output_change: float
    prediction_change: float
    accuracy: float
    accuracy_change: float


def predictions(output: Tensor, n_nodes: int) -> IntArray | None:
    """Return the predicted classes, nodes first; the sign of a single score; None for an output without nodes."""
    axis = node_axis(output, n_nodes)
    if axis is None:
        return None
    single = output.ndim == 1 or output.shape[-1] == 1
    classes = (output > 0).long().reshape(output.shape[: axis + 1]) if single else output.argmax(-1)
    found: IntArray = classes.movedim(axis, 0).reshape(n_nodes, -1).cpu().numpy()
    return found


def share_correct(classes: IntArray | None, y: IntArray | None, nodes: IntArray) -> float:
    """Return the share of ``nodes`` whose class is predicted; nan where there are none, no classes or no labels."""
    if y is None or classes is None or not nodes.size:
        return float("nan")
    return float(np.mean(classes[nodes] == y[nodes, None]))


def largest_class(classes: IntArray | None) -> float:
    """Return the share of the most frequent predicted class; nan without classes."""
    if classes is None or not classes.size:
        return float("nan")
    return float(np.unique_counts(classes).counts.max()) / classes.size


def _effect(subject: Subject, nodes: IntArray, before: Tensor, after: Tensor) -> dict[str, float]:
    """Return how an output differs from the unchanged one."""
    old, new = (predictions(output, subject.graph.n_nodes) for output in (before, after))
    size, scores = float(before.norm()), [share_correct(each, subject.y, nodes) for each in (old, new)]
    return {
        "output_change": float((after - before).norm()) / size if size else np.nan,
        "prediction_change": np.nan if old is None or new is None else float(np.mean(new != old)),
        "accuracy": scores[1],
        "accuracy_change": scores[1] - scores[0],
    }


def _places(subject: Subject, calls: list[LayerCall]) -> Iterator[tuple[str, Tensor, Callable[[Tensor], Tensor]]]:
    """Yield name, signal and the output as a function of it: of the input, then of the input of every later layer."""
    yield "input", subject.x, subject.output
    for call in calls:
        # The first layer often sees the input itself; once is enough.
        if call.input is not None and not torch.equal(call.input, subject.x):
            yield call.name, call.input, partial(output_for, subject, call)


def measure_dependence(
    subject: Subject,
    calls: list[LayerCall],
    bands: Bands,
    *,
    nodes: IntArray,
    rng: np.random.Generator,
    tick: Callable[[], object] = lambda: None,
) -> tuple[Dependence, ...]:
    """Return the effect of every half and action, at the input and at the input of every layer."""
    rows: list[Dependence] = []
    order = rng.permutation(subject.graph.n_nodes)
    with torch.no_grad():
        before = subject.output(subject.x)
        for where, signal, output in _places(subject, calls):
            values = to_numpy(signal)
            low, whole = bands.low(values), float(signal_energy(values, bands.op))
            for half, part in zip(HALVES, (low, values - low), strict=True):
                share = float(signal_energy(part, bands.op)) / whole if whole else float("nan")
                for action, substitute in ACTIONS.items():
                    changed = torch.from_numpy(values - part + substitute(part, order)).to(signal)
                    effect = _effect(subject, nodes, before, output(changed))
                    rows.append(Dependence(where, half, action, share, **effect))
            tick()
    return tuple(rows)
