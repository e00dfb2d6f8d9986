"""Stored results as tables: ours beside the paper's, and the difference."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from gsp_fb._document import Block, Figure, Heading, Table, Text

from .catalogue import METRICS, PAPER_NAMES, Experiment
from .cells import Cell, cells
from .numerics import stands
from .printed import paper_numbers
from .rows import Row
from .selection import selection_table
from .store import Facts, Store

__all__ = ["sections"]

ABSENT, STALE, CAPPED = "·", "†", "‡"
# Models that a table shows as columns; of more, data sets are the columns.
WIDEST = 12
_CONVENTIONS = {"paper": "paper", "as_printed": "ours, arcs as listed", "as_defined": "ours, undirected"}
# Our metric -> the one of the paper's tables.
_PRINTED = {"accuracy": "accuracy", "micro_f1": "f1", "roc_auc": ""}


def sections(experiment: Experiment, store: Store, figures: Mapping[str, Figure]) -> list[Block]:
    """Return the part of the page about one experiment: a table for each protocol, or its figures."""
    blocks: list[Block] = [Heading(2, f"{experiment.name}: {experiment.title}")]
    blocks += [Text(experiment.note)] if experiment.note else []
    for protocol in experiment.protocols:
        found = list(cells(experiment, protocol))
        stored = {(c.dataset, c.row.label): _marked(c, facts) for c in found if (facts := store.read(c))}
        if not stored:
            blocks.append(Text(f"Protocol {protocol}: nothing measured yet."))
            continue
        blocks.append(Heading(3, f"{experiment.name}, protocol {protocol}"))
        blocks += _unlisted(found) if protocol == "paper" else []
        drawn = [figures[cell.path] for cell in found if cell.path in figures]
        blocks += drawn or [_TABLES[experiment.measure](experiment, stored)]
    return blocks


def _marked(cell: Cell, facts: Facts) -> Facts:
    """Return facts with the marks of a cell of other code, and of one whose training ended at the limit of epochs."""
    limit = facts.get("protocol", {}).get("epochs", math.inf)
    capped = cell.kind == "nodes" and any(epochs >= limit for epochs in facts.get("epochs", ()))
    stale = not stands(cell, facts)
    marks = "".join(mark for mark, holds in ((STALE, stale), (CAPPED, capped)) if holds)
    return {**facts, "marks": f" {marks}" if marks else ""}


def _has_defaults(cell: Cell) -> bool:
    return bool(cell.row.model) and not cell.row.listed[0] and "lr" not in cell.row.options


def _unlisted(found: Iterable[Cell]) -> list[Block]:
    """Say of which rows the paper lists no hyperparameters."""
    labels = dict.fromkeys(cell.row.label for cell in found if _has_defaults(cell))
    output = f"The paper lists no hyperparameters of {', '.join(labels)}: these have the defaults of their models."
    return [Text(output)] if labels else []


Stored = Mapping[tuple[str, str], Facts]


def _scores(experiment: Experiment, stored: Stored) -> Table:
    """Return mean and deviation over splits in percent, then the paper's figure and the difference in brackets."""
    labels = [row for row in experiment.rows if any(label == row.label for _, label in stored)]
    datasets = [name for name in experiment.datasets if any(dataset == name for dataset, _ in stored)]
    rows = [
        [_named(dataset), *(_score(experiment, dataset, row, stored.get((dataset, row.label))) for row in labels)]
        for dataset in datasets
    ]
    header = ["data set", *(row.printed or row.label for row in labels)]
    if len(labels) <= WIDEST:
        return Table(header, rows)
    turned = list(map(list, zip(header, *rows, strict=True)))
    return Table(["model", *turned[0][1:]], turned[1:])


def _named(dataset: str) -> str:
    return f"{dataset} (ROC AUC)" if METRICS.get(dataset) == "roc_auc" else dataset


def _score(experiment: Experiment, dataset: str, row: Row, facts: Facts | None) -> str:
    metric = _PRINTED[METRICS.get(dataset, "accuracy")]
    printed = _printed(experiment.printed, row.printed or row.label, dataset, metric)
    beside = "" if printed is None else f" ({_beside(printed, None if facts is None else 100.0 * facts['mean'])})"
    ours = ABSENT if facts is None else f"{100.0 * facts['mean']:.1f} ± {100.0 * facts['std']:.1f}"
    return ours + beside + ("" if facts is None else facts["marks"])


def _beside(printed: str, ours: float | None, digits: int = 1) -> str:
    """Return the paper's figure, and the difference where there is one to take."""
    try:
        value = float(printed)
    except ValueError:
        return printed
    return f"{value:.{digits}f}" if ours is None else f"{value:.{digits}f}, {ours - value:+.{digits}f}"


@cache
def _numbers() -> Mapping[tuple[str, str, str, str], str]:
    return {(row.table, row.model, row.dataset, row.metric): row.value for row in paper_numbers()}


def _printed(table: str, model: str, dataset: str, metric: str) -> str | None:
    return _numbers().get((table, model, PAPER_NAMES.get(dataset, dataset), metric))


def _s_values(experiment: Experiment, stored: Stored) -> Table:
    """Return S of features and labels under both conventions; of outputs, the mean over splits."""
    signals = ("features", "labels") if any(label == "S-values" for _, label in stored) else ()
    outputs = [row for row in experiment.rows if any(label == row.label for _, label in stored) and row.model]
    rows = []
    for dataset in experiment.datasets:
        values = {row["signal"]: row for row in stored.get((dataset, "S-values"), {}).get("values", [])}
        data = [
            f"{values[signal][kind]:.3f}" if signal in values else ABSENT for signal in signals for kind in _CONVENTIONS
        ]
        rows.append([dataset, *data, *(_output(experiment, dataset, row, stored) for row in outputs)])
    header = [f"{signal}: {title}" for signal in signals for title in _CONVENTIONS.values()]
    return Table(
        [
            "data set",
            *header,
            *(f"output of {row.label}: logits (paper, difference), probabilities" for row in outputs),
        ],
        rows,
    )


def _output(experiment: Experiment, dataset: str, row: Row, stored: Stored) -> str:
    """Return the mean S-values of logits and of probabilities; the printed one beside that of logits."""
    facts = stored.get((dataset, row.label), {})
    ours, shares = (_mean(facts.get(name, ())) for name in ("s_values", "s_values_probabilities"))
    printed = _printed(experiment.printed, "-", dataset, row.printed) or ABSENT
    logits, probabilities = (ABSENT if value is None else f"{value:.3f}" for value in (ours, shares))
    return f"{logits} ({_beside(printed, ours, 3)}), {probabilities}"


def _mean(values: Sequence[float | None]) -> float | None:
    seen = [value for value in values if value is not None]
    return statistics.fmean(seen) if seen else None


def _alphas(experiment: Experiment, stored: Stored) -> Table:
    """Return the mean weights of the output layer."""
    rows = []
    for (dataset, label), facts in stored.items():
        last = [layers[-1] for layers in facts["alphas"]]
        shown = []
        for name, position in (("alpha_low", 0), ("alpha_high", 1)):
            ours = statistics.fmean(pair[position] for pair in last)
            printed = _printed(experiment.printed, label, dataset, name) or ABSENT
            shown.append(f"{ours:.3f} ({_beside(printed, ours, 3)})")
        rows.append([dataset, *shown])
    return Table(["data set", "low (paper, difference)", "high (paper, difference)"], rows)


def _search(experiment: Experiment, stored: Stored) -> Table:
    """Return for each cell how many hyperparameters were compared, which won, and where they lead."""
    rows = []
    for dataset in experiment.datasets:
        for row in experiment.rows:
            facts = stored.get((dataset, row.label))
            tried = [ABSENT] * 3 if facts is None else _tried(facts["choice"])
            rows.append([dataset, row.label, *tried, _score(experiment, dataset, row, facts)])
    return Table(["data set", "model", "compared", "chosen", "validation", "test"], rows)


def _tried(choice: Mapping[str, Any]) -> list[str]:
    values = ", ".join(f"{name.strip('_').replace('_', ' ')} {value}" for name, value in choice["values"].items())
    return [str(choice["n_trials"]), values, f"{100.0 * choice['score']:.1f}"]


def _selection(experiment: Experiment, stored: Stored) -> Table:
    """Return the scores under a choice on validation and on test, beside the paper's."""
    printed = {key: _printed(experiment.printed, key[1], key[0], "accuracy") for key in stored}
    return selection_table(stored, {key: value for key, value in printed.items() if value is not None})


def _nothing(experiment: Experiment, stored: Stored) -> Text:
    return Text(f"Measured on {', '.join(dataset for dataset, _ in stored)}; drawing needs matplotlib.")


_TABLES: Mapping[str, Callable[[Experiment, Stored], Block]] = {
    "score": _scores,
    "s-values": _s_values,
    "alphas": _alphas,
    "search": _search,
    "selection": _selection,
    "": _nothing,
}


def missing(store: Store, wanted: Iterable[Cell]) -> list[tuple[Cell, float | None]]:
    """Return the cells that are not stored or stale, with the processor seconds that they would take."""
    wanted = list(wanted)
    costs = store.estimates(wanted)
    return [(cell, costs[cell.path]) for cell in wanted if cell.path in costs]
