"""The page about reproducibility, made from stored results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gsp_fb._arguments import check_choice
from gsp_fb._atomic import atomic_write
from gsp_fb._document import Block, Figure, Heading, Table, Text, to_html, to_markdown

from .catalogue import EXPERIMENTS
from .cells import Cell, select
from .contrasts import control_results
from .estimation import Estimate
from .figures import draw
from .findings import control_sections, is_decided, write_findings
from .headline import headline, interval
from .store import Store
from .tables import ABSENT, CAPPED, STALE, missing, sections
from .verdicts import UNTESTABLE, VERDICTS, Summary, Verdict, summaries, verdicts

__all__ = ["blocks", "write_report"]

TITLE = "Reproducibility"
_REHEARSAL = "A rehearsal: three splits and a few epochs show that everything runs. The figures mean nothing."
_INTRODUCTION = (
    "Every figure on this page was measured by `python -m paper` and is kept as JSON with its hyperparameters, "
    "splits, seeds, commit, processor, versions and command; `python -m paper --report` writes the page from those "
    "files. Scores are percent: mean ± standard deviation over the splits, then in brackets the paper's figure "
    "and ours "
    f"minus it. '{ABSENT}' marks a cell that has not been measured, '{STALE}' one that was measured by other code than "
    f"the present one, '{CAPPED}' one in which a training ended at the limit of epochs.",
    "Protocol 'paper' trains with the hyperparameters that the paper lists, and where it lists none with the model's "
    "defaults. Protocol 'tuned' searches the paper's grid and the hidden width, with a budget that each cell records. "
    "Both choose raw or row-normalised features, by validation alone: the test nodes are taken out of the "
    "splits before "
    "the choice begins. Both use the ten splits, the undirected graph without self-loops, and early stopping on the "
    "validation loss. The ten splits share nodes, so a test node of one split may be a validation node of another; the "
    "choice is made once for all ten, as is usual, and not once per split.",
)
_STALE = (
    "{stale} of {stored} stored cells are stale: they were measured by networks, operators or a protocol that have "
    "changed since, among them the budgets and the choice of scaling described here. `python -m paper` measures them "
    "again; until then their figures stand for the older code alone: a comparison that rests on one has the verdict "
    "'stale' and enters no estimate over data sets."
)
_ESTIMATES = (
    "A comparison takes two cells split by split. Its gain has the posterior of the correlated Bayesian t-test, which "
    "allows for splits that share nodes: effect, 95 % interval, and the probabilities that it helps by more "
    "than a point "
    "(of an S-value or a mixing weight: 0.01), is equal within it, or harms by more. A verdict needs a probability of "
    "95 %; 'undecided' is anything else. The mean over data sets and the gain on a new one come from a hierarchical "
    "model with data sets in families of one source; cornell, whose public files carry the nodes of texas, counts with "
    "it as one, and fewer than three families give no estimate. Columns p and p (Holm) are the corrected "
    "resampled t-test of Nadeau and Bengio, two-sided, before and "
    "after Holm's correction over the data sets of a claim."
)
_UNPRINTED = (
    "These comparisons rest on something that the paper does not print. Their gains are among the comparisons "
    "above; no "
    "verdict is drawn from them, and they do not enter an estimate over data sets."
)


def write_report(store: Store, output: Path, *, experiments: Sequence[str] = ()) -> list[Path]:
    """Write the page as Markdown to ``output`` and as HTML beside it; return what was written.

    The note ``findings.md`` beside it is written where the control is measured on three families of data sets.

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
    page = blocks(store, names, wanted, figures, output.with_suffix(""))
    texts = {output: to_markdown(page, output.parent), output.with_suffix(".html"): to_html(TITLE, page)}
    for path, text in texts.items():
        with atomic_write(path, mode="w") as file:
            file.write(text)
    decided = is_decided(control_results(store)) and not store.quick
    findings = [write_findings(store, output.with_name("findings.md"))] if decided else []
    return [*texts, *findings, *(block.path for block in page if isinstance(block, Figure))]


def blocks(
    store: Store, names: Sequence[str], wanted: Sequence[Cell], figures: Mapping[str, Figure], folder: Path
) -> list[Block]:
    """Return the page: first screen, claim by claim, every comparison, every cell, and what is missing."""
    found = verdicts(store, names)
    rows, control = summaries(found), control_results(store) if "control" in names else []
    page: list[Block] = [Heading(1, TITLE), *([Text(_REHEARSAL)] if store.quick else [])]
    page += [*headline(control, rows, found, folder), Heading(2, "How to read it"), *map(Text, _INTRODUCTION)]
    page += [*_stale(store, wanted), Heading(2, "Claim by claim"), Text(_ESTIMATES), _summary_table(rows)]
    page += [*_unprinted(found), *(control_sections(store, control) if control else []), *_details(found)]
    for name in names:
        page += sections(EXPERIMENTS[name], store, figures)
    return [*page, *_missing(store, wanted), Text("Terms are defined in the [glossary](glossary.md).")]


def _stale(store: Store, wanted: Sequence[Cell]) -> list[Block]:
    stored = [cell for cell in wanted if store.has(cell)]
    stale = sum(map(store.is_stale, stored))
    return [Text(_STALE.format(stale=stale, stored=len(stored)))] if stale else []


def _summary_table(found: Sequence[Summary]) -> Table:
    rows = [
        [
            row.claim.name,
            "our question" if row.claim.beyond else row.claim.text,
            row.protocol,
            *(str(row.counts[name]) for name in VERDICTS),
            *(ABSENT if one is None else _shown(row.claim.quantity, one) for one in (row.mean, row.new)),
            ABSENT if row.new is None else f"{row.new.helps:.2f}",
        ]
        for row in found
        if sum(row.counts.values()) > row.counts["not testable here"]
    ]
    header = ["claim", "what it states", "protocol", *VERDICTS, "mean gain", "gain on a new data set", "P(helps there)"]
    return Table(header, rows)


def _shown(quantity: str, found: Estimate) -> str:
    """Return a gain with its interval; points have one digit, S-values and weights three."""
    if quantity == "score":
        return interval(found)
    return f"{found.effect:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def _unprinted(found: Sequence[Verdict]) -> list[Block]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in found:
        if row.verdict == UNTESTABLE:
            groups.setdefault((row.claim.name, row.protocol, row.reason), []).append(row.dataset)
    rows = [
        [claim, protocol, ", ".join(dict.fromkeys(sets)), reason] for (claim, protocol, reason), sets in groups.items()
    ]
    table = Table(["claim", "protocol", "data sets", "what is not printed"], rows)
    return [Heading(3, "Not testable as printed"), Text(_UNPRINTED), table] if rows else []


def _details(found: Sequence[Verdict]) -> list[Block]:
    """Return every comparison that could be made, and the claims that could not be tested at all."""
    rows = [_detail(verdict) for verdict in found if verdict.differences]
    cases = ["P(helps)", "P(equal)", "P(harms)"]
    header = ["comparison", "protocol", "data set", "gain", *cases, "p", "p (Holm)", "verdict"]
    page: list[Block] = [Heading(2, "Every comparison"), Table(header, rows)] if rows else []
    return page + [Text(f"Not testable here, {reason}: {', '.join(names)}.") for reason, names in _untested(found)]


def _detail(verdict: Verdict) -> list[str]:
    found, where = verdict.estimate, f"{verdict.dataset} {STALE}" if verdict.stale else verdict.dataset
    if found is None:
        shown = [f"{verdict.differences[-1]:+.3g}", *["exact"] * 5]
    else:
        cases = [f"{share:.2f}" for share in (found.helps, found.equal, found.harms)]
        tests = [ABSENT if p is None else f"{p:.2g}" for p in (verdict.p, verdict.adjusted)]
        shown = [_shown(verdict.claim.quantity, found), *cases, *tests]
    return [_comparison(verdict), verdict.protocol, where, *shown, verdict.verdict]


def _untested(found: Sequence[Verdict]) -> list[tuple[str, list[str]]]:
    """Return the claims without a single test, by the reason; where data sets differ in it, work is what is missing."""
    tested = {verdict.claim.name for verdict in found if verdict.differences}
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
        f"{len(absent)} of {len(wanted)} cells have not been measured, or are stale. Costs are estimated from "
        f"those that have been; "
        "(?) where there is none to go by." + (f" The data is not at hand: {', '.join(away)}." if away else "")
    )
    table = Table(["experiment", "models", "minutes of one core for each data set"], rows)
    return [Heading(2, "What is missing or stale"), head, *([table] if rows else [])]


def _cost(costs: Sequence[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    return f"{sum(known) / 60:.1f}" if len(known) == len(costs) else "(?)"
