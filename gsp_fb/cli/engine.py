"""One process or several: the functions behind a command, by the same names for every kind of graph."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import distributed, energy, outofcore
from .._atomic import atomic_write
from ..eigengap import eigengap
from ..filters import FilterBank, Plan
from ..operators import operator
from ..spectrum import spectrum

__all__ = ["engine_of"]


def _signal_energy(graph: Any, x: Any) -> Any:
    return energy.signal_energy(x)


def _one_hot(graph: Any, y: Any) -> Any:
    return energy.one_hot(y)


def _row_normalized(graph: Any, x: Any) -> Any:
    return energy.row_normalized(x)


def _plan(bank: FilterBank, x: Any) -> Plan:
    return bank.plan(x)


def _analyze(bank: FilterBank, x: Any) -> Any:
    return bank.analyze(x)


def _save(graph: Any, rows: Any, path: str | os.PathLike[str]) -> None:
    with atomic_write(path) as file:
        np.save(file, np.ascontiguousarray(rows), allow_pickle=False)


_ALONE = {
    "operator": operator,
    "spectrum": spectrum,
    "eigengap": eigengap,
    "energy_profile": energy.energy_profile,
    "signal_energy": _signal_energy,
    "one_hot": _one_hot,
    "row_normalized": _row_normalized,
    "plan": _plan,
    "analyze": _analyze,
    "save": _save,
}
_MEASURES = (
    "s_value",
    "dirichlet_energy",
    "nonsmooth_energy",
    "edge_homophily",
    "node_homophily",
    "class_homophily",
)
IN_MEMORY = SimpleNamespace(**_ALONE, **{name: getattr(energy, name) for name in _MEASURES})
ON_DISK = SimpleNamespace(**_ALONE, **{name: getattr(outofcore, name) for name in _MEASURES})


def engine_of(graph: Any) -> Any:
    """Return what works on this kind of graph: functions of the same names and arguments."""
    if isinstance(graph, distributed.DistributedGraph):
        return distributed
    return ON_DISK if isinstance(graph, outofcore.StoredGraph) else IN_MEMORY
