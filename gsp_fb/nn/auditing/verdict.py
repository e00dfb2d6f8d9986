"""The verdict: two sentences with their evidence, and what to try, from a table of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .dependence import Dependence
from .oversmoothing import Oversmoothing
from .response import FrequencyResponse

__all__ = ["RULES", "SUGGESTIONS", "AuditEvidence", "VerdictRule", "judge"]

# A half whose gain is below this share of the other half's is attenuated.
ATTENUATED = 0.5
# Points of accuracy or shares of predictions that are worth a word.
NOTABLE = 0.02
# From this share of one predicted class on, classes show nothing of what the output depends on.
ONE_CLASS = 0.99


@dataclass(frozen=True)
class AuditEvidence:
    """What the verdict rests on.

    ``s_labels`` is the centred S-value of the labels and ``s_random`` its expectation for permuted ones;
    ``largest_class`` is the share of the nodes with the most frequent predicted class, nan without classes.
    """

    response: FrequencyResponse
    dependence: Sequence[Dependence]
    oversmoothing: Oversmoothing
    s_labels: float
    s_random: float
    largest_class: float = float("nan")

    @property
    def ratio(self) -> float:
        """Gain on the high half relative to that on the low half."""
        low, high = self.response.low, self.response.high
        if np.isnan(high) or np.isnan(low):
            return float("nan")
        return high / low if low > 0 else float("inf") if high > 0 else float("nan")

    @property
    def ratio_error(self) -> float:
        """Standard error of the ratio."""
        r = self.response
        relative = [error / gain for gain, error in ((r.low, r.low_error), (r.high, r.high_error)) if gain > 0]
        return float(self.ratio * np.linalg.norm(relative))

    @property
    def rough_labels(self) -> bool:
        """Whether neighbours have different labels more often than at random."""
        return bool(self.s_labels > self.s_random)

    def at_input(self, half: str) -> Dependence:
        """Return the effect of removing one half of the features."""
        wanted = ("input", half, "removed")
        return next(row for row in self.dependence if (row.where, row.half, row.action) == wanted)


@dataclass(frozen=True)
class VerdictRule:
    """A row: when it applies, what it states, and the names of what to try."""

    applies: Callable[[AuditEvidence], bool]
    sentence: str
    tries: Callable[[AuditEvidence], Sequence[str]]


SUGGESTIONS = {
    "second channel": "a second, high-pass channel (gsp_fb.nn.patch or an fb- model)",
    "identity": "an identity path past the propagation (a root map, or the channel 'identity')",
    "family": "another operator family (gsp-fb advise compares them)",
    "without high": "the low channel alone, or smoothed features: accuracy rises without the high half",
    "without low": "the high channel alone: accuracy rises without the low half",
    "depth": "fewer layers, or an initial residual (gcnii)",
}


def _lost(e: AuditEvidence) -> Sequence[str]:
    needed = e.rough_labels or e.at_input("high").accuracy_change < -NOTABLE
    return ("second channel", "identity") if needed else ()


RULES: dict[str, VerdictRule] = {
    "nothing to compare": VerdictRule(
        lambda e: np.isnan(e.ratio),
        "One half of the frequency axis holds no frequency of this graph or has no effect on the output, so the halves "
        "cannot be compared",
        lambda e: (),
    ),
    "low-pass": VerdictRule(
        lambda e: e.ratio < ATTENUATED,
        "The network attenuates the high half: its gain there is {ratio} of the gain on the low half",
        _lost,
    ),
    "high-pass": VerdictRule(
        lambda e: e.ratio > 1 / ATTENUATED,
        "The network amplifies the high half: its gain there is {ratio} of the gain on the low half",
        lambda e: () if e.rough_labels or np.isnan(e.s_labels) else ("family",),
    ),
    "all-pass": VerdictRule(
        lambda e: True,
        "The network passes both halves alike: its gain on the high half is {ratio} of the gain on the low half",
        lambda e: (),
    ),
}


def judge(evidence: AuditEvidence) -> tuple[str, tuple[str, ...]]:
    """Return the verdict and the suggestions it ends with."""
    rule = next(rule for rule in RULES.values() if rule.applies(evidence))
    ratio = f"{evidence.ratio:.2g} ± {evidence.ratio_error:.1g}" if np.isfinite(evidence.ratio) else "infinite times"
    first = f"{rule.sentence.format(ratio=ratio)}{_labels(evidence)}."
    better = [f"without {half}" for half in ("low", "high") if evidence.at_input(half).accuracy_change > NOTABLE]
    chosen = [*rule.tries(evidence), *better, *(("depth",) if evidence.oversmoothing.collapsed else ())]
    suggestions = tuple(SUGGESTIONS[name] for name in chosen)
    advice = f"Try {'; '.join(suggestions)}." if suggestions else "No change is indicated."
    return f"{first} {_consequence(evidence)} {advice}", suggestions


def _labels(e: AuditEvidence) -> str:
    if np.isnan(e.s_labels):
        return ""
    kind = "rougher" if e.rough_labels else "smoother"
    return f", and the labels are {kind} than random ones (S {e.s_labels:.2f} against {e.s_random:.2f})"


def _consequence(e: AuditEvidence) -> str:
    halves = []
    for half in ("low", "high"):
        row = e.at_input(half)
        effect = f"{100 * row.prediction_change:.0f} % of the predictions"
        if np.isnan(row.prediction_change) or e.largest_class >= ONE_CLASS:
            effect = f"the output by {100 * row.output_change:.0f} %"
        change = round(100 * row.accuracy_change, 1) + 0.0  # no minus sign before a zero
        points = "" if np.isnan(change) else f" (accuracy {change:+.1f} points)"
        halves.append(f"removing the {half} half of the features changes {effect}{points}")
    sentence = " and ".join(halves)
    if e.largest_class >= ONE_CLASS:
        sentence += f"; {100 * e.largest_class:.0f} % of the predictions are one class"
    if e.oversmoothing.collapsed:
        sentence += f"; the output has collapsed to effective rank {e.oversmoothing.output_rank:.1f}"
    return f"{sentence[0].upper()}{sentence[1:]}."
