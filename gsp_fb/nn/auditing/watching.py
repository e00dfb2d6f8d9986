"""Layers of a network during training: smoothness and rank at chosen epochs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..._arguments import check_count
from ...errors import GspWarning, ParameterError
from ...operators import Operator, operator
from .layers import record_calls
from .measure import audit
from .record import Audit
from .statistics import LayerAudit, null_vectors
from .subject import Call, Subject, evaluating, make_subject, to_numpy

__all__ = ["History", "Snapshot", "watch"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One record after ``epoch`` finished epochs (0: before training), and the ``seconds`` that it cost.

    ``layers`` are without profiles and responses; ``audit`` is that of ``watch(..., full=True)``, or None.
    """

    epoch: int
    layers: tuple[LayerAudit, ...]
    audit: Audit | None
    seconds: float


class History(Sequence[Snapshot]):
    """Records of one training, in order; a context that watches while it is open."""

    def __init__(
        self, subject: Subject, op: Operator, chosen: int | Collection[int], steps: int, options: dict[str, Any]
    ) -> None:
        self._subject, self._op, self._chosen, self._steps, self._options = subject, op, chosen, steps, options
        self._smooth = null_vectors(op)
        self._records: list[Snapshot] = []
        self._step = 0
        self._started = 0.0
        self._elapsed = 0.0
        self._handle: Any = None

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __repr__(self) -> str:
        return f"History({len(self)} records, {self.seconds:.3g} s; an epoch takes {self.epoch_seconds:.3g} s)"

    @property
    def seconds(self) -> float:
        """Cost of all records."""
        return sum(record.seconds for record in self._records)

    @property
    def epoch_seconds(self) -> float:
        """Mean time of a training epoch, without the cost of the records; nan before two epochs were seen."""
        epochs = self._step / self._steps - 1
        return self._elapsed / epochs if epochs > 0 else float("nan")

    def __enter__(self) -> History:
        hook = torch.compiler.disable(self._before)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._handle = self._subject.model.register_forward_pre_hook(hook)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._handle.remove()
        if kind is not None:
            return
        if not self._step:
            warnings.warn(
                "no training step of the watched model was seen: train this very object, or call history.record(epoch)",
                GspWarning,
                stacklevel=2,
            )
        elif not self._records or self._records[-1].epoch < self._step // self._steps:
            self.record(self._step // self._steps)

    def _before(self, module: nn.Module, args: Any) -> None:
        """Count the steps: a forward pass in training mode with gradients is one."""
        if not (module.training and torch.is_grad_enabled()):
            return
        now = time.perf_counter()
        self._elapsed += now - self._started if self._started else 0.0
        epoch, within = divmod(self._step, self._steps)
        self._step += 1
        if not within and (epoch % self._chosen == 0 if isinstance(self._chosen, int) else epoch in self._chosen):
            self.record(epoch)
        self._started = time.perf_counter()

    def record(self, epoch: int) -> Snapshot:
        """Add a record of the network as it is now and return it."""
        before = time.perf_counter()
        # In evaluation mode, so that no forward pass of a record counts as a step.
        with evaluating(self._subject.model):
            calls = record_calls(self._subject, self._options["layers"])
            blocks = [(call.name, to_numpy(call.output)) for call in calls]
            full = _full(self._subject, self._options) if self._options["full"] else None
        rows = tuple(LayerAudit.of(name, h, self._op, self._smooth) for name, h in blocks)
        self._records.append(Snapshot(epoch, rows, full, time.perf_counter() - before))
        return self._records[-1]


def _full(subject: Subject, options: dict[str, Any]) -> Audit:
    names = ("family", "bands", "probes", "rng", "layers")
    data = (subject.graph, to_numpy(subject.x), subject.y)
    return audit(subject.model, data, call=subject.call, normalize=False, **{name: options[name] for name in names})


def watch(
    model: nn.Module,
    data: Any,
    *,
    epochs: int | Collection[int] = 10,
    steps_per_epoch: int = 1,
    full: bool = False,
    call: Call | None = None,
    family: str = "sym",
    bands: int = 8,
    probes: int = 4,
    rng: Any = 0,
    layers: Sequence[str] | None = None,
    normalize: bool | None = None,
) -> History:
    """Record the layers of a network while it is trained, whoever trains it.

    Steps are counted by the forward passes of ``model`` in training mode. A record is one forward pass in evaluation
    mode and the S-values, effective rank and mean average distance of every layer. It takes less processor time than
    an epoch of :func:`train` (``python -m benchmarks.auditing`` measures it); ``history.seconds`` and
    ``history.epoch_seconds`` are those of your network. A full record is a whole audit and costs
    ``probes * bands * (layers + 1)`` directional derivatives.

    Parameters
    ----------
    model : Module
        The object that is trained.
    data : Dataset, PyG Data, or tuple
        As for :func:`audit`.
    epochs : int or collection of int
        Record every so many epochs, or at these ones; epoch 0 is before training. At the end the
        model is recorded as training leaves it, under the number of epochs run.
    steps_per_epoch : int
        Forward passes of one epoch, for training in batches.
    full : bool
        Record whole audits.
    call, family, bands, probes, rng, layers, normalize
        As for :func:`audit`.

    Returns
    -------
    History
        A context manager and a sequence of records.

    Warns
    -----
    GspWarning
        No training step was seen.

    See Also
    --------
    audit : A network that is trained.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(60, rng=0)
    >>> model = build("gcn", data)
    >>> with watch(model, data, epochs=5) as history:
    ...     result = train(model, data, data.splits[0], TrainConfig(epochs=12))
    >>> [record.epoch for record in history]
    [0, 5, 10, 12]
    >>> len(history[0].layers)
    2
    """
    if not isinstance(model, nn.Module):
        raise ParameterError(f"watch takes the torch.nn.Module that is trained, not {type(model).__name__}")
    chosen = check_count(epochs, "epochs") if isinstance(epochs, int) else frozenset(epochs)
    subject = make_subject(model, data, call, normalize, keep_sparse=not full)
    op = operator(subject.graph, family, channel="high")
    options = {"full": full, "family": family, "bands": bands, "probes": probes, "rng": rng, "layers": layers}
    return History(subject, op, chosen, check_count(steps_per_epoch, "steps_per_epoch"), options)
