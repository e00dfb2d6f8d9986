"""Verdicts: for each claim and data set, what the stored results say and how surely."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy import stats

from .catalogue import EXPERIMENTS
from .cells import Cell, cells
from .claims import CLAIMS, Claim
from .significance import corrected_t_test, holm
from .store import Facts, Store

__all__ = ["EXACT", "LEVEL", "QUANTITIES", "VERDICTS", "Summary", "Verdict", "summaries", "verdicts"]

LEVEL = 0.05
VERDICTS = ("confirmed", "not confirmed", "refuted", "not testable here")


@dataclass(frozen=True)
class Verdict:
    """What the results say about a claim on one data set.

    Attributes
    ----------
    claim : Claim
    protocol, dataset, better, worse : str
    verdict : str
        ``confirmed`` or ``refuted`` if the difference is significant at 5 % after Holm's correction over the claim's
        data sets, ``not confirmed`` if it is not, ``not testable here`` without both cells.
    difference : float or None
        Mean over the splits; percentage points for scores.
    p, adjusted : float or None
    reason : str
        Why it cannot be tested.
    """

    claim: Claim
    protocol: str
    dataset: str
    better: str
    worse: str
    verdict: str = "not testable here"
    difference: float | None = None
    p: float | None = None
    adjusted: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Summary:
    """A claim over all its data sets: how often each verdict, the mean difference, and Wilcoxon's p over data sets."""

    claim: Claim
    protocol: str
    counts: Mapping[str, int]
    difference: float | None
    p: float | None


def _scores(better: Facts, worse: Facts, store: Store) -> list[float]:
    return [100.0 * (a - b) for a, b in zip(better["test"], worse["test"], strict=True)]


def _s_values(better: Facts, worse: Facts, store: Store) -> list[float]:
    return [a - b for a, b in zip(better["s_values"], worse["s_values"], strict=True)]


def _nearness(better: Facts, worse: Facts, store: Store) -> list[float]:
    """Return by how much the first output's S-value is nearer to that of the labels."""
    target = _label_s_value(better["dataset"], store)
    if target is None:
        return []
    return [abs(b - target) - abs(a - target) for a, b in zip(better["s_values"], worse["s_values"], strict=True)]


def _label_s_value(dataset: str, store: Store) -> float | None:
    for cell in cells(EXPERIMENTS["table3"], "paper"):
        if cell.dataset == dataset and not cell.row.model and (facts := store.read(cell)):
            return next((float(row["as_defined"]) for row in facts["values"] if row["signal"] == "labels"), None)
    return None


def _alphas(better: Facts, worse: Facts, store: Store) -> list[float]:
    """Return the high channel's weight minus the low one's in the output layer."""
    return [high - low for low, high in (layers[-1] for layers in better["alphas"])]


def _features_minus_labels(facts: Facts) -> list[float]:
    """Return the difference of the S-values as printed and as defined."""
    values = {row["signal"]: row for row in facts["values"]}
    return [values["features"][kind] - values["labels"][kind] for kind in ("as_printed", "as_defined")]


# Claims about data, where nothing is left to chance: positive where they speak for the claim, under both conventions.
EXACT: Mapping[str, Callable[[Facts], list[float]]] = {
    "smoother": _features_minus_labels,
    "rougher": lambda facts: [-difference for difference in _features_minus_labels(facts)],
}
# What a claim compares -> the differences over splits, positive where they speak for the claim.
QUANTITIES: Mapping[str, Callable[[Facts, Facts, Store], list[float]]] = {
    "score": _scores,
    "s_value": _s_values,
    "nearness": _nearness,
    "alphas": _alphas,
}


def verdicts(store: Store, experiments: Iterable[str] = ()) -> list[Verdict]:
    """Return the verdicts on the claims about the named experiments, or on all, under both protocols."""
    wanted = set(experiments) or set(EXPERIMENTS)
    found: list[Verdict] = []
    for claim in CLAIMS:
        for protocol in EXPERIMENTS[claim.experiment].protocols:
            if claim.experiment in wanted:
                found += _family(claim, protocol, store)
    return found


def _family(claim: Claim, protocol: str, store: Store) -> list[Verdict]:
    """Return the verdicts of one claim under one protocol: the family that Holm's method corrects over."""
    known = {(cell.dataset, cell.row.label): cell for cell in cells(EXPERIMENTS[claim.experiment], protocol)}
    tested = [
        _tested(Verdict(claim, protocol, dataset, *pair), known, store)
        for dataset in claim.datasets
        for pair in claim.pairs
    ]
    adjusted = iter(holm([verdict.p for verdict in tested if verdict.p is not None]))
    return [verdict if verdict.p is None else _judged(verdict, next(adjusted)) for verdict in tested]


def _tested(verdict: Verdict, known: Mapping[tuple[str, str], Cell], store: Store) -> Verdict:
    pair = [known[key] for label in (verdict.better, verdict.worse) if (key := (verdict.dataset, label)) in known]
    if len(pair) < 2:
        return replace(verdict, reason="the paper lists no hyperparameters")
    facts = [store.read(cell) for cell in pair]
    if facts[0] is None or facts[1] is None:
        absent = [name for cell in pair for name in cell.absent_data]
        return replace(verdict, reason=f"{absent[0]} is not at hand" if absent else "not measured")
    if verdict.claim.quantity in EXACT:
        return _exact(verdict, EXACT[verdict.claim.quantity](facts[0]))
    if facts[0]["data"] != facts[1]["data"]:
        return replace(verdict, reason="measured on different splits")
    differences = QUANTITIES[verdict.claim.quantity](facts[0], facts[1], store)
    if len(differences) < 2:
        return replace(verdict, reason="not measured")
    p = corrected_t_test(differences, test_share=_test_share(facts[0]["data"]["sizes"]))
    return replace(verdict, difference=statistics.fmean(differences), p=p)


def _exact(verdict: Verdict, differences: Sequence[float]) -> Verdict:
    """Judge without a test: confirmed or refuted where the printed and the defined convention agree."""
    speaking = sum(difference > 0 for difference in differences)
    judged = {len(differences): "confirmed", 0: "refuted"}.get(speaking, "not confirmed")
    return replace(verdict, difference=differences[-1], verdict=judged)


def _test_share(sizes: Sequence[Sequence[int]]) -> float:
    """Return scored items over training items; under GIN's protocol the validation part is what is scored."""
    return statistics.fmean((test or val) / train for train, val, test in sizes)


def _judged(verdict: Verdict, adjusted: float) -> Verdict:
    difference = verdict.difference or 0.0
    sure = "confirmed" if difference > 0 else "refuted"
    return replace(verdict, adjusted=adjusted, verdict=sure if adjusted < LEVEL else "not confirmed")


def summaries(found: Sequence[Verdict]) -> list[Summary]:
    """Return one row a claim and protocol.

    Over data sets, which share nothing, Wilcoxon's signed-rank test on the mean differences is the fitting one; it
    cannot reach 5 % with fewer than six.
    """
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in found:
        groups.setdefault((verdict.claim.name, verdict.protocol), []).append(verdict)
    return [_summary(group) for group in groups.values()]


def _summary(group: Sequence[Verdict]) -> Summary:
    counts = {name: sum(verdict.verdict == name for verdict in group) for name in VERDICTS}
    differences = [verdict.difference for verdict in group if verdict.difference is not None]
    by_chance = any(verdict.p is not None for verdict in group) and len(differences) >= 2 and any(differences)
    p = float(stats.wilcoxon(differences).pvalue) if by_chance else None
    mean = statistics.fmean(differences) if differences else None
    return Summary(group[0].claim, group[0].protocol, counts, mean, p)
