"""The page about reproducibility, made from stored results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gsp_fb._arguments import check_choice
from gsp_fb._atomic import atomic_write
from gsp_fb._document import Block, Figure, Heading, Table, Text, to_html, to_markdown

from .catalogue import EXPERIMENTS
from .cells import Cell, select
from .figures import draw
from .store import Store
from .tables import ABSENT, missing, sections
from .verdicts import VERDICTS, Summary, Verdict, summaries, verdicts

__all__ = ["blocks", "write_report"]

TITLE = "Reproducibility"
_REHEARSAL = "A rehearsal: three splits and a few epochs show that everything runs. The figures mean nothing."
_INTRODUCTION = (
    "Every figure on this page was measured by `python -m paper` and is kept as JSON with its hyperparameters, "
    "splits, seeds, versions and command; `python -m paper --report` writes the page from those files. Scores are "
    "percent: mean ± standard deviation over the splits, then in brackets the paper's figure and ours minus it. "
    f"'{ABSENT}' marks a cell that has not been measured.",
    "Protocol 'paper' trains with the hyperparameters that the paper lists, and where it lists none with the model's "
    "defaults, on row-normalised features. Protocol 'tuned' chooses hyperparameters on validation nodes alone: the "
    "test nodes are taken out of the splits before the choice begins. It searches the paper's grid, the "
    "hidden width, and raw or row-normalised features, in a race "
    "whose size each cell records. Both use the ten splits, the undirected graph without self-loops, and early "
    "stopping on the validation loss. The ten splits share nodes, so a test node of one split may be a validation "
    "node of another; the choice is made once for all ten, as is usual, and not once per split.",
)
_TESTS = (
    "A verdict compares two cells split by split with the corrected resampled t-test of Nadeau and Bengio, two-sided: "
    "splits of one data set overlap, and the plain paired t-test or Wilcoxon's signed ranks would take their agreement "
    "for independent evidence. Holm's method corrects over the data sets of a claim. Confirmed and refuted mean p < "
    "0.05 after correction, for or against the claim; not confirmed means that the difference can be chance. The last "
    "column tests the mean differences over data sets by Wilcoxon's signed ranks; data sets are independent."
)


def write_report(store: Store, output: Path, *, experiments: Sequence[str] = ()) -> list[Path]:
    """Write the page as Markdown to ``output`` and as HTML beside it; return what was written.

    Parameters
    ----------
    store : Store
    output : Path
        Figures go into a directory of the same name without its ending.
    experiments : sequence of str
        Rows of ``EXPERIMENTS``; all by default.
    """
    names = [check_choice(name, EXPERIMENTS, "experiment") for name in experiments or EXPERIMENTS]
    wanted = select(names)
    figures = draw(store, wanted, output.with_suffix(""))
    page = blocks(store, names, wanted, figures)
    texts = {output: to_markdown(page, output.parent), output.with_suffix(".html"): to_html(TITLE, page)}
    for path, text in texts.items():
        with atomic_write(path, mode="w") as file:
            file.write(text)
    return [*texts, *(figure.path for figure in figures.values())]


def blocks(store: Store, names: Sequence[str], wanted: Sequence[Cell], figures: Mapping[str, Figure]) -> list[Block]:
    """Return the page: introduction, verdicts, a section for each experiment, and what is missing."""
    found = verdicts(store, names)
    page: list[Block] = [Heading(1, TITLE), *([Text(_REHEARSAL)] if store.quick else []), *map(Text, _INTRODUCTION)]
    page += [Heading(2, "Verdicts"), Text(_TESTS), _summary_table(summaries(found)), *_details(found)]
    for name in names:
        page += sections(EXPERIMENTS[name], store, figures)
    return page + _missing(store, wanted)


def _summary_table(found: Sequence[Summary]) -> Table:
    rows = [
        [
            row.claim.name,
            "our question" if row.claim.beyond else row.claim.text,
            row.protocol,
            *(str(row.counts[name]) for name in VERDICTS),
            ABSENT if row.difference is None else f"{row.difference:+.3g}",
            ABSENT if row.p is None else f"{row.p:.3g}",
        ]
        for row in found
        if sum(row.counts.values()) > row.counts["not testable here"]
    ]
    return Table(["claim", "what it says", "protocol", *VERDICTS, "mean difference", "p over data sets"], rows)


def _details(found: Sequence[Verdict]) -> list[Block]:
    """Return every test that could be made, and the claims that could not be tested at all."""
    rows = [
        [
            _comparison(verdict),
            verdict.protocol,
            verdict.dataset,
            f"{verdict.difference:+.3g}",
            *("exact" if p is None else f"{p:.2g}" for p in (verdict.p, verdict.adjusted)),
            verdict.verdict,
        ]
        for verdict in found
        if verdict.difference is not None
    ]
    header = ["comparison", "protocol", "data set", "difference", "p", "p (Holm)", "verdict"]
    page: list[Block] = [Heading(3, "Every test"), Table(header, rows)] if rows else []
    return page + [Text(f"Not testable here, {reason}: {', '.join(names)}.") for reason, names in _untested(found)]


def _untested(found: Sequence[Verdict]) -> list[tuple[str, list[str]]]:
    """Return the claims without a single test, by the reason; where data sets differ in it, work is what is missing."""
    tested = {verdict.claim.name for verdict in found if verdict.difference is not None}
    reasons: dict[str, set[str]] = {}
    for verdict in found:
        if verdict.claim.name not in tested:
            reasons.setdefault(verdict.claim.name, set()).add(verdict.reason)
    groups: dict[str, list[str]] = {}
    for name, given in reasons.items():
        groups.setdefault(given.pop() if len(given) == 1 else "not measured", []).append(name)
    return list(groups.items())


def _comparison(verdict: Verdict) -> str:
    if verdict.better == verdict.worse:
        return verdict.claim.name
    return f"{verdict.better} against {verdict.worse}: {verdict.claim.quantity.replace('_', ' ')}"


def _missing(store: Store, wanted: Sequence[Cell]) -> list[Block]:
    absent = missing(store, wanted)
    costs: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for cell, cost in absent:
        costs.setdefault((cell.experiment, cell.protocol, cell.dataset), {})[cell.row.label] = cost
    # Data sets that lack the same models share a line.
    lines: dict[tuple[str, str, tuple[str, ...]], list[tuple[str, list[float | None]]]] = {}
    for (experiment, protocol, dataset), models in costs.items():
        lines.setdefault((experiment, protocol, tuple(models)), []).append((dataset, list(models.values())))
    rows = [
        [
            f"{experiment}, {protocol}",
            ", ".join(models),
            ", ".join(f"{dataset} {_cost(each)}" for dataset, each in group),
        ]
        for (experiment, protocol, models), group in lines.items()
    ]
    away = sorted({name for cell, _ in absent for name in cell.absent_data})
    head = Text(
        f"{len(absent)} of {len(wanted)} cells have not been measured. Costs are estimated from those that have been; "
        "(?) where there is none to go by." + (f" The data is not at hand: {', '.join(away)}." if away else "")
    )
    table = Table(["experiment", "models", "minutes of one core for each data set"], rows)
    return [Heading(2, "What is missing"), head, *([table] if rows else [])]


def _cost(costs: Sequence[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    return f"{sum(known) / 60:.1f}" if len(known) == len(costs) else "(?)"
