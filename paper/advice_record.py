"""The record behind the advice: measured gains of the second channel beside what each rule scored before training."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gsp_fb._atomic import write_json
from gsp_fb.advice import RULES, Evidence, Measured, gather
from gsp_fb.datasets import load
from gsp_fb.errors import ParameterError

from .cells import select
from .store import Store

__all__ = ["advice_record", "write_advice_record"]

# Tables whose cells have one channel, two, and mostly two with the lazy filter, on the same splits.
TABLES = ("table9", "table10", "leak-free")
ONE, TWO, LAZY = "GCN", "FB-GCN-sym", "FB-GCN-lazy"
# Rules are scored on the training nodes of the first splits, and averaged.
SPLITS = 3


def advice_record(store: Store, *, protocol: str = "tuned") -> Iterator[Measured]:
    """Yield a row for every data set that has one channel and two stored under a protocol."""
    cells = select(TABLES, protocols=[protocol], models=[ONE, TWO, LAZY])
    found: dict[str, dict[str, Any]] = {}
    for cell in cells:
        facts = store.read(cell)
        if facts is not None:
            found.setdefault(cell.dataset, {})[cell.row.label] = facts
    for dataset, rows in found.items():
        if {ONE, TWO} <= set(rows):
            yield _measured(dataset, rows)


def _measured(dataset: str, rows: dict[str, Any]) -> Measured:
    gains = [two - one for one, two in zip(_scores(rows[ONE]), _scores(rows[TWO]), strict=True)]
    evidence = _evidence(dataset)
    return Measured(
        dataset=dataset,
        gain=statistics.fmean(gains),
        gain_std=statistics.stdev(gains),
        lazy_gain=rows[LAZY]["mean"] - rows[TWO]["mean"] if LAZY in rows else None,
        scores={name: statistics.fmean(rule.score(one) for one in evidence) for name, rule in RULES.items()},
        lazy_readout=statistics.fmean(
            one.readout["lazy_rw"]["both"] - one.readout["renorm_sym"]["both"] for one in evidence
        ),
    )


def _scores(facts: dict[str, Any]) -> list[float]:
    return [float(score) for score in facts["test"]]


def _evidence(dataset: str) -> list[Evidence]:
    data = load(dataset, loops="drop")
    return [gather(data.graph, data.x, data.y, split.train) for split in data.splits[:SPLITS]]


def write_advice_record(store: Store, path: Path) -> int:
    """Write the record as the package's data; return how many data sets it holds.

    Raises
    ------
    ParameterError
        Fewer than three data sets are stored: no rule can be tested on a set it has not seen.
    """
    rows = [asdict(row) for row in advice_record(store)]
    if len(rows) < 3:
        raise ParameterError(f"{store.directory} holds {len(rows)} data sets with {ONE} and {TWO}; need 3")
    write_json(path, {"command": "python -m paper --advice", "protocol": "tuned", "rows": rows})
    return len(rows)
