"""Training across processes: subgraphs distributed over processes, gradients averaged, one model.

All processes draw the same subgraphs; process r of W computes every W-th of them. What chance decides in a subgraph
(dropout) follows from its number and not from who computes it, so that any number of processes trains the same model.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from .._arguments import check_count
from ..errors import ParameterError, TrainingError
from .config import TrainConfig, TrainResult
from .propagation.base import Batch
from .train import Job, fit, reached
from .trainer import Exchange

__all__ = ["Group", "gathered", "process_group", "train_distributed"]

# Seeds of drawing and of dropout lie this far apart; no epoch has as many subgraphs.
STRIDE = 2**40


@dataclass(frozen=True)
class Group:
    """The processes that train together: which one this is, and how many there are."""

    rank: int = 0
    size: int = 1


@contextlib.contextmanager
def process_group(backend: str = "gloo") -> Iterator[Group]:
    """Join the processes that ``torchrun`` has started; a process that was started alone stays alone."""
    if "RANK" not in os.environ:
        yield Group()
        return
    if "nccl" in backend:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group(backend)
    try:
        yield Group(distributed.get_rank(), distributed.get_world_size())
        distributed.barrier()  # a process that leaves while another one still talks to it can abort the other
    finally:
        distributed.destroy_process_group()


def gathered(rows: list[Any], group: Group) -> list[Any]:
    """Return the rows of all processes, process after process."""
    shares: list[Any] = [rows] * group.size
    if group.size > 1:
        distributed.all_gather_object(shares, rows)
    return [row for share in shares for row in share]


def train_distributed(
    model: nn.Module,
    dataset: Any,
    split: Any,
    config: TrainConfig | None = None,
    *,
    per_step: int = 2,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> TrainResult:
    r"""Train a model on sampled subgraphs with all processes of the group, as :func:`gsp_fb.nn.train` does with one.

    A step follows the mean gradient of ``per_step`` subgraphs, :math:`\frac1G\sum_g \nabla \ell_g`. The model is the
    same for any number of processes, to the rounding of that sum.
    """
    started = distributed.is_available() and distributed.is_initialized()
    group = Group(distributed.get_rank(), distributed.get_world_size()) if started else Group()
    share = _Share(model, group, per_step)
    place = None if directory is None else Path(directory)
    job = Job(split, TrainConfig() if config is None else config, directory=place)
    try:
        (result,) = fit(model, dataset, [job], exchange=share, progress=progress and share.writes)
        return reached(result)
    except RuntimeError as lost:
        # The transport's words for a dead peer, turned into what it means and what to do.
        if isinstance(lost, TrainingError) or not any(word in str(lost) for word in ("peer", "onnection", "Timed out")):
            raise
        again = "run it again" if directory is None else f"run it again, and it resumes from {directory}"
        raise TrainingError(f"another process of the group is gone; {again} ({lost})") from lost


class _Share(Exchange):
    """The model as the steps of one process see it: its own subgraphs, and gradients that are averaged at the last."""

    def __init__(self, model: nn.Module, group: Group, per_step: int) -> None:
        if getattr(model, "sampler", None) is None:
            whole = "this model trains on the whole graph in one step, which cannot be distributed; distribute splits"
            raise ParameterError(f"{whole} or seeds, or take one with a sampler, such as 'fb-graphsaint'")
        self.per_step = check_count(per_step, "per_step")
        if self.per_step % group.size:
            wanted = f"per_step={per_step} subgraphs"
            raise ParameterError(f"{wanted} cannot be distributed evenly over {group.size} processes")
        self.model, self.group, self.own = model, group, self.per_step // group.size
        self.facts, self.writes = {"subgraphs a step": self.per_step}, group.rank == 0
        self.parallel: Any = model if group.size == 1 else DistributedDataParallel(model)

    def module(self, model: nn.Module) -> Any:
        """Return the share itself: it yields this process's subgraphs."""
        return self

    def agree(self, *flags: bool) -> list[bool]:
        """Return for each flag whether it is set in any process: all of them go on, or none."""
        met = torch.tensor([int(flag) for flag in flags])
        if self.group.size > 1:
            distributed.all_reduce(met, distributed.ReduceOp.MAX)
        return [bool(flag) for flag in met]

    def wait(self) -> None:
        """Return when every process has come here."""
        if self.group.size > 1:
            distributed.barrier()

    def __call__(self, x: Any, propagation: Any) -> Any:
        return self.parallel(x, propagation)

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield this process's subgraphs of an epoch; the last step is filled up from the next one's."""
        generator: Any = self.model.generator
        seed = int(torch.randint(2**62, (1,), generator=generator, device=generator.device))
        for number, batch in self._subgraphs(train, seed):
            place = number % self.per_step
            if place % self.group.size == self.group.rank:
                # Gradients of earlier subgraphs of the step stay here until the last one brings all together.
                self.parallel.require_backward_grad_sync = place + self.group.size >= self.per_step
                yield batch
        generator.manual_seed(seed)

    def _subgraphs(self, train: Tensor, seed: int) -> Iterator[tuple[int, Batch]]:
        """Yield as many numbered subgraphs as fill whole steps, the same ones in every process."""
        generator, sampler, number = self.model.generator, self.model.sampler, 0  # type: tuple[Any, Any, int]
        for turn in count():
            generator.manual_seed(seed + turn)
            for batch in sampler.batches(train):
                generator.manual_seed(seed + STRIDE + number)
                yield number, batch
                generator.manual_seed(seed + 2 * STRIDE + number)
                number += 1
                if turn and number % self.per_step == 0:
                    return
            if number % self.per_step == 0:
                return
