"""The layers of a model: which modules count, what went in and out, and the map between as a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn

from ..._arguments import check_choice
from ..patch import is_message_passing
from .subject import Subject, first_tensor, from_matrix, node_axis, to_matrix

__all__ = ["LayerCall", "find_layers", "output_for", "record_calls"]

# Holders of layers; they are opened.
CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.Sequential)


@dataclass(frozen=True, eq=False)
class LayerCall:
    """One call of a layer in a forward pass; ``key`` is the argument that carries the node signal ``input``."""

    name: str
    module: nn.Module
    position: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Tensor
    key: int | str | None
    input: Tensor | None

    def function(self, h: Tensor) -> Tensor:
        """Return the output as a matrix for another input matrix; all other arguments stay."""
        args, kwargs = self.with_signal(h, self.args, self.kwargs)
        output = first_tensor(self.module(*args, **kwargs))
        assert output is not None  # noqa: S101  # the recorded call returned one
        return to_matrix(output, len(h))

    def with_signal(self, h: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the arguments of a call with the matrix ``h`` in the place of its node signal."""
        key: Any = self.key
        if isinstance(key, int):
            return (*args[:key], from_matrix(h, args[key], len(h)), *args[key + 1 :]), kwargs
        return args, {**kwargs, key: from_matrix(h, kwargs[key], len(h))}


def find_layers(model: nn.Module, names: Sequence[str] | None = None) -> dict[str, nn.Module]:
    """Return the named modules; by default the outermost message-passing layers, or else those with parameters."""
    modules = {name: module for name, module in model.named_modules() if name}
    if names is not None:
        return {name: modules[check_choice(name, modules, "layer")] for name in names}
    passing = {name: m for name, m in modules.items() if is_message_passing(m) or hasattr(m, "propagation")}
    inner = passing or dict(_opened(model))
    return {name: m for name, m in inner.items() if not any(name.startswith(f"{outer}.") for outer in inner)}


def _opened(module: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.Module]]:
    for name, child in module.named_children():
        if isinstance(child, CONTAINERS):
            yield from _opened(child, f"{prefix}{name}.")
        elif next(child.parameters(), None) is not None:
            yield f"{prefix}{name}", child


def record_calls(subject: Subject, names: Sequence[str] | None = None) -> list[LayerCall]:
    """Return every call of a layer in one forward pass, in order, that gives a row per node."""
    calls: list[LayerCall] = []
    n_nodes = subject.graph.n_nodes

    def is_signal(value: Any) -> bool:
        return isinstance(value, Tensor) and value.is_floating_point() and node_axis(value, n_nodes) is not None

    def keep(name: str, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        found = first_tensor(output)
        if found is None or not is_signal(found):
            return
        signals = ((key, value) for key, value in (*enumerate(args), *kwargs.items()) if is_signal(value))
        key, signal = next(signals, (None, None))
        into = None if signal is None else to_matrix(signal.detach(), n_nodes)
        position = sum(call.module is module for call in calls)
        calls.append(LayerCall(name, module, position, args, kwargs, to_matrix(found.detach(), n_nodes), key, into))

    with ExitStack() as hooks, torch.no_grad():
        for name, module in find_layers(subject.model, names).items():
            hooks.enter_context(module.register_forward_hook(partial(keep, name), with_kwargs=True))
        subject.output(subject.x)
    counts = Counter(call.module for call in calls)
    return [replace(c, name=f"{c.name}[{c.position}]") if counts[c.module] > 1 else c for c in calls]


def output_for(subject: Subject, call: LayerCall, h: Tensor) -> Tensor:
    """Return the model's output where the matrix ``h`` enters one call of a layer in place of its node signal."""
    numbers = count()

    def change(module: nn.Module, args: Any, kwargs: Any) -> Any:
        return call.with_signal(h, args, kwargs) if next(numbers) == call.position else None

    with call.module.register_forward_pre_hook(change, with_kwargs=True):
        return subject.output(subject.x)
