"""Verdicts: for each claim and data set the estimated gain, and over data sets the gain to expect on a new one."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from .catalogue import EXPERIMENTS, FAMILIES, UNITS
from .cells import Cell, cells
from .claims import CLAIMS, UNPRINTED, Claim
from .estimation import ROPE, Estimate, Observation, correlated_t, hierarchical
from .significance import corrected_t_test, holm
from .store import Facts, Store

__all__ = [
    "EXACT",
    "QUANTITIES",
    "VERDICTS",
    "Summary",
    "Verdict",
    "over_data_sets",
    "scored_share",
    "summaries",
    "verdicts",
]

UNTESTABLE, OUTDATED, ABSENT = "not testable as printed", "stale", "not testable here"
# Fewer families of data sets leave the deviation between them to the prior.
LEAST_FAMILIES = 3
VERDICTS = ("helps", "equal", "harms", "undecided", UNTESTABLE, OUTDATED, ABSENT)


@dataclass(frozen=True)
class Verdict:
    """What the results show of a claim on one data set.

    Attributes
    ----------
    claim : Claim
    protocol, dataset, better, worse : str
    verdict : str
        ``helps``, ``equal`` or ``harms`` where the estimate has it with 95 %, ``undecided`` otherwise; ``not testable
        as printed`` where the paper leaves out what it rests on, ``stale`` where a cell was measured by other code,
        ``not testable here`` without both cells.
    differences : tuple of float
        One a split; percentage points for scores.
    test_share : float
        Test items over training items.
    estimate : Estimate or None
    p, adjusted : float or None
        Of the corrected resampled t-test, and after Holm's correction over the claim's data sets.
    stale : bool
        A cell was measured by other code than the present one.
    reason : str
        Why it cannot be tested.
    """

    claim: Claim
    protocol: str
    dataset: str
    better: str
    worse: str
    verdict: str = ABSENT
    differences: tuple[float, ...] = ()
    test_share: float = 0.0
    estimate: Estimate | None = None
    p: float | None = None
    adjusted: float | None = None
    stale: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Summary:
    """A claim over all its data sets: how often each verdict, the mean gain, and the gain on a new data set."""

    claim: Claim
    protocol: str
    counts: Mapping[str, int]
    mean: Estimate | None
    new: Estimate | None


class Measured(Protocol):
    """Differences over the splits of a data set."""

    @property
    def dataset(self) -> str:
        """Name of the data set."""

    @property
    def differences(self) -> tuple[float, ...]:
        """One a split."""

    @property
    def test_share(self) -> float:
        """Test items over training items."""


def over_data_sets(rows: Sequence[Measured], *, rope: float = ROPE) -> tuple[Estimate | None, Estimate | None]:
    """Return the mean gain over data sets and the gain on a new one; None with fewer than three families.

    Rows of data sets that share their nodes are averaged split by split and count once.
    """
    units: dict[str, list[Measured]] = {}
    for row in rows:
        units.setdefault(UNITS.get(row.dataset, row.dataset), []).append(row)
    observed = [_unit(name, group) for name, group in units.items()]
    enough = len({row.family for row in observed}) >= LEAST_FAMILIES
    return hierarchical(observed, rope=rope) if enough else (None, None)


def _unit(name: str, group: Sequence[Measured]) -> Observation:
    family = next((family for family, members in FAMILIES.items() if name in members), name)
    means = tuple(map(statistics.fmean, zip(*(row.differences for row in group), strict=False)))
    return Observation(means, statistics.fmean(row.test_share for row in group), family)


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
# S-values and mixing weights this close count as equal.
_ROPES = {"score": ROPE, "s_value": 0.01, "nearness": 0.01, "alphas": 0.01}
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
    return [verdict if verdict.p is None else replace(verdict, adjusted=next(adjusted)) for verdict in tested]


def _tested(verdict: Verdict, known: Mapping[tuple[str, str], Cell], store: Store) -> Verdict:
    pair = [known[key] for label in (verdict.better, verdict.worse) if (key := (verdict.dataset, label)) in known]
    if len(pair) < 2:
        return replace(verdict, reason="the paper lists no hyperparameters")
    facts = [store.read(cell) for cell in pair]
    if facts[0] is None or facts[1] is None:
        absent = [name for cell in pair for name in cell.absent_data]
        return replace(verdict, reason=f"{absent[0]} is not at hand" if absent else "not measured")
    verdict = replace(verdict, stale=any(map(store.is_stale, pair)))
    if verdict.claim.quantity in EXACT:
        return _exact(verdict, EXACT[verdict.claim.quantity](facts[0]))
    if not _same_data(facts[0], facts[1], across=verdict.claim.across):
        return replace(verdict, reason="measured on different splits")
    differences = QUANTITIES[verdict.claim.quantity](facts[0], facts[1], store)
    if len(differences) < 2:
        return replace(verdict, reason="not measured")
    return _estimated(replace(verdict, differences=tuple(differences), test_share=scored_share(facts[0])))


def _same_data(better: Facts, worse: Facts, *, across: bool) -> bool:
    """Return whether two cells have the same splits, and the same graph unless it is what they differ in."""
    ignored = {"graph"} if across else set()
    first, second = ({k: v for k, v in facts["data"].items() if k not in ignored} for facts in (better, worse))
    return first == second


def _estimated(verdict: Verdict) -> Verdict:
    """Estimate the gain; no verdict where the paper does not print what it rests on, or a cell is stale."""
    rope = _ROPES[verdict.claim.quantity]
    found = correlated_t(verdict.differences, test_share=verdict.test_share, rope=rope)
    where = (verdict.claim.name, verdict.protocol, verdict.dataset)
    reason = next((row.reason for row in UNPRINTED if row.covers(*where)), "")
    return replace(
        verdict,
        estimate=found,
        p=corrected_t_test(verdict.differences, test_share=verdict.test_share),
        verdict=UNTESTABLE if reason else OUTDATED if verdict.stale else found.verdict,
        reason=reason,
    )


def _exact(verdict: Verdict, differences: Sequence[float]) -> Verdict:
    """Judge without chance: the claim holds or not where the printed and the defined convention agree."""
    speaking = sum(difference > 0 for difference in differences)
    judged = {len(differences): "helps", 0: "harms"}.get(speaking, "undecided")
    return replace(verdict, differences=(differences[-1],), verdict=OUTDATED if verdict.stale else judged)


def scored_share(facts: Facts) -> float:
    """Return scored items over training items; under GIN's protocol the validation part is what is scored."""
    return statistics.fmean((test or val) / train for train, val, test in facts["data"]["sizes"])


def summaries(found: Sequence[Verdict]) -> list[Summary]:
    """Return one row a claim and protocol; what is not testable as printed, or stale, does not enter the estimates."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in found:
        groups.setdefault((verdict.claim.name, verdict.protocol), []).append(verdict)
    return [_summary(group) for group in groups.values()]


def _summary(group: Sequence[Verdict]) -> Summary:
    counts = {name: sum(verdict.verdict == name for verdict in group) for name in VERDICTS}
    judged = [row for row in group if row.estimate is not None and row.verdict not in (UNTESTABLE, OUTDATED)]
    mean, new = over_data_sets(judged, rope=_ROPES.get(group[0].claim.quantity, ROPE))
    return Summary(group[0].claim, group[0].protocol, counts, mean, new)
