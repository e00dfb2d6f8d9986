"""The note on the control experiment, written from its cells: what was asked, how it was measured, what came out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from gsp_fb._atomic import atomic_write
from gsp_fb._document import Block, Heading, Table, Text, to_markdown
from gsp_fb.errors import ParameterError

from .advisor_page import advisor_blocks
from .catalogue import EXPERIMENTS
from .cells import Cell, cells
from .contrasts import Result, control_cells, control_results, gains
from .control import CONTRASTS
from .estimation import Estimate
from .headline import headline, interval
from .store import Facts, Store
from .verdicts import over_data_sets

__all__ = ["control_sections", "finding_blocks", "is_decided", "write_findings"]

_METHOD = (
    "All arms are the same stack of layers with other channels: low (a normalised adjacency), high (identity "
    "minus low) "
    "and identity. The identity alone is a multilayer perceptron, low alone a graph convolutional network. Without an "
    "inner ReLU low + high and low + identity span the same functions, and differ in what gradient descent finds.",
    "For each data set one list of settings (learning rate, weight decay, dropout, width, raw or row-normalised "
    "features) is drawn before anything is trained, and every arm is given all of it. The mean validation score "
    "over the "
    "splits chooses; test nodes are taken out of the splits until it has chosen. Trainings stop early, by the "
    "validation loss.",
    "A gain is the mean over all configurations that both arms are measured in, split by split. Its interval on "
    "one data "
    "set is that of the correlated Bayesian t-test, which allows for splits that share nodes. The mean over data sets "
    "and the gain on a new one come from a hierarchical model with data sets in families of one source; cornell, whose "
    "public files carry the nodes of texas, counts with it as one.",
)
_PARTS = {
    "without inner ReLU": ("linear",),
    "with inner ReLU": ("relu",),
    "scalar mixing": ("scalar",),
    "node mixing": ("node",),
    "renormalised filter": ("sym",),
    "lazy filter": ("lazy",),
    "two layers": ("2",),
    "four normalised residual layers": ("deep",),
}


# The contrast that the note is about.
_DECISIVE = CONTRASTS["high or identity"]


def is_decided(results: Sequence[Result]) -> bool:
    """Return whether the high channel is compared with the identity on three families of data sets."""
    return any(row.contrast is _DECISIVE and row.new is not None for row in results)


def write_findings(store: Store, output: Path) -> Path:
    """Write the note as Markdown; return its path.

    Raises
    ------
    ParameterError
        The high channel is compared with the identity on fewer than three families of data sets.
    """
    results = control_results(store)
    if not is_decided(results):
        raise ParameterError(
            f"{store.directory} holds no contrast of the control on three families of data sets; run it first"
        )
    page = finding_blocks(store, results, output.with_suffix(""))
    with atomic_write(output, mode="w") as file:
        file.write(to_markdown(page, output.parent))
    return output


def finding_blocks(store: Store, results: Sequence[Result], folder: Path) -> list[Block]:
    """Return the note: first screen, what it rests on, method, tables."""
    page: list[Block] = [Heading(1, "Is it the high-pass filter or the identity?")]
    page += [*headline(results, (), (), folder), Text(_extent(store, results))]
    page += [Heading(2, "Method"), *map(Text, _METHOD), _budgets(store)]
    page += [Heading(2, "Scores"), Text(_SCORES), _scores(store), *control_sections(store, results)]
    return [*page, *advisor_blocks(folder), Text("Terms are defined in the [glossary](glossary.md).")]


def _extent(store: Store, results: Sequence[Result]) -> str:
    """Return what the note rests on: data sets and cells measured, and those of the plan that are not."""
    planned = control_cells()
    sets, stored = dict.fromkeys(cell.dataset for cell in planned), sum(map(store.has, planned))
    compared = [gain.dataset for row in results if row.contrast is _DECISIVE for gain in row.gains]
    absent = [name for name in sets if name not in compared]
    rest = f"; not yet on {', '.join(absent)}" if absent else ""
    return (
        f"This rests on {len(compared)} of the {len(sets)} data sets of the plan ({', '.join(compared)}{rest}) and on "
        f"{stored} of its {len(planned)} cells; `python -m paper control control-factors --list` has the rest with its "
        "price."
    )


_SCORES = (
    "Test score in percent, mean and standard deviation over the splits: accuracy, for minesweeper and tolokers the "
    "area under the ROC curve. Two layers, renormalised filter, scalar mixing."
)


def _scores(store: Store) -> Table:
    """Return the score of every core arm on every data set; a dot where it is not measured."""
    core = list(cells(EXPERIMENTS["control"], "tuned"))
    found = {(cell.dataset, cell.row.label): facts for cell in core if (facts := store.read(cell))}
    labels = [label for label in dict.fromkeys(cell.row.label for cell in core) if any(label in key for key in found)]
    rows = [
        [dataset, *(_score(found.get((dataset, label))) for label in labels)]
        for dataset in dict.fromkeys(cell.dataset for cell in core)
        if any(dataset in key for key in found)
    ]
    return Table(["data set", *(_arm(label) for label in labels)], rows)


def _score(facts: Facts | None) -> str:
    if facts is None:
        return "·"
    return f"{100 * statistics.fmean(facts['test']):.1f} ± {100 * statistics.stdev(facts['test']):.1f}"


def _arm(label: str) -> str:
    """Return the channels of a core arm, and its inner ReLU where it has one."""
    name, *parts = label.split("-")
    return f"{name}, ReLU" if "relu" in parts else name


def control_sections(store: Store, results: Sequence[Result]) -> list[Block]:
    """Return the contrasts over data sets, by configuration, on every data set, and the repeated searches."""
    parts = _parts(store)
    page: list[Block] = [Heading(2, "Contrasts"), _overall(results)]
    page += [Heading(3, "By configuration"), parts] if parts.rows else []
    for row in results:
        page += [Heading(3, f"{row.contrast.question} ({row.contrast.better} against {row.contrast.worse})")]
        page.append(_every(row))
    return page + _repeated(store)


def _probabilities(found: Estimate | None) -> list[str]:
    return ["·"] * 3 if found is None else [f"{share:.2f}" for share in (found.helps, found.equal, found.harms)]


_CASES = ["P(helps)", "P(equal)", "P(harms)"]


def _overall(results: Sequence[Result]) -> Table:
    rows = [
        [
            row.contrast.question,
            str(len(row.gains)),
            *("·" if one is None else interval(one) for one in (row.mean, row.new)),
            *_probabilities(row.new),
        ]
        for row in results
    ]
    return Table(["question", "data sets", "mean gain", "gain on a new data set", *_CASES], rows)


def _parts(store: Store) -> Table:
    stored = {(cell.dataset, cell.row.label): (cell, facts) for cell in control_cells() if (facts := store.read(cell))}
    contrast, rows = _DECISIVE, []
    everything = gains(contrast, stored, store)
    for name, having in _PARTS.items():
        found = gains(contrast, stored, store, having=having)
        if not found or found == everything:  # the same figures as the whole
            continue
        mean, new = over_data_sets(found)
        shown = ["·" if one is None else interval(one) for one in (mean, new)]
        rows.append([name, str(len(found)), *shown, *_probabilities(new)])
    header = [
        f"{contrast.better} against {contrast.worse}",
        "data sets",
        "mean gain",
        "gain on a new data set",
        *_CASES,
    ]
    return Table(header, rows)


def _every(row: Result) -> Table:
    rows = [
        [
            gain.dataset + (" †" if gain.stale else ""),
            str(len(gain.pairs)),
            interval(gain.estimate),
            *_probabilities(gain.estimate),
            gain.estimate.verdict,
            f"{gain.p:.2g}",
        ]
        for gain in row.gains
    ]
    return Table(["data set", "configurations", "gain", *_CASES, "verdict", "p (corrected t-test)"], rows)


def _budgets(store: Store) -> Table:
    """Return what every arm of a data set was given, and how many trainings ended at the limit of epochs."""
    rows, stored = [], [(cell, facts) for cell in control_cells() if (facts := store.read(cell))]
    for dataset in dict.fromkeys(cell.dataset for cell, _ in stored):
        own = [(cell, facts) for cell, facts in stored if cell.dataset == dataset]
        plan = own[0][0].plan
        race = ", then ".join(f"{rung.candidates} on {_counted(rung.splits, 'split')}" for rung in plan.rungs)
        ended = sum(sum(epochs >= plan.epochs for epochs in facts["epochs"]) for _, facts in own)
        trained = sum(len(facts["epochs"]) for _, facts in own)
        rows.append([dataset, str(len(own)), race, str(plan.epochs), f"{ended} of {trained}"])
    header = ["data set", "cells", "settings of every arm", "limit of epochs", "chosen trainings that ended at it"]
    return Table(header, rows)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _repeated(store: Store) -> list[Block]:
    """Return how far the choice and the scores move when the search is repeated with other seeds."""
    core = {(cell.dataset, cell.row.label): cell for cell in cells(EXPERIMENTS["control"], "tuned")}
    groups: dict[tuple[str, str], list[Facts]] = {}
    for cell in cells(EXPERIMENTS["control-seeds"], "tuned"):
        first = core[cell.dataset, _first(cell)]
        if (facts := store.read(cell)) and (original := store.read(first)):
            groups.setdefault((cell.dataset, _first(cell)), [original]).append(facts)
    rows = [[dataset, label, str(len(found)), *_moved(found)] for (dataset, label), found in groups.items()]
    header = ["data set", "arm", "searches", "different settings chosen", "validation", "test"]
    return [Heading(3, "Searches repeated with other seeds"), Table(header, rows)] if rows else []


def _first(cell: Cell) -> str:
    return cell.row.label.rpartition("-seed")[0]


def _moved(found: Sequence[Facts]) -> list[str]:
    chosen = len({str(sorted(facts["choice"]["values"].items())) for facts in found})
    means = [[100.0 * statistics.fmean(facts[part]) for facts in found] for part in ("validation", "test")]
    return [str(chosen), *(f"{min(scores):.1f} to {max(scores):.1f}" for scores in means)]
