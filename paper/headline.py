"""The first screen of a page: one forest plot and three sentences, written from the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gsp_fb._atomic import atomic_write
from gsp_fb._document import Block, Figure, Text
from gsp_fb._extras import has, require

from .contrasts import Result
from .estimation import Estimate
from .verdicts import Summary, Verdict, over_data_sets

__all__ = ["forest", "headline", "interval"]

Line = tuple[str, Estimate]
# The comparison of the paper that the first screen shows while the control is not measured.
CLAIM, PROTOCOL = "FB-GCN-sym beats GCN", "tuned"
_CONCLUSIONS = {
    "equal": "What a filterbank gains over a low-pass network is what an identity path gains, to within a point.",
    "helps": "The high channel adds more than a point to what an identity path gains.",
    "harms": "An identity path serves better than the high channel.",
    "undecided": "Which of the two serves better is undecided: none of the three cases has a probability of 95 %.",
    "alike": "On average a high channel and an identity path gain the same, to within {:.1f} points (95 % interval); "
    "which of the two serves better on one new data set is undecided.",
}
# Points within which two means count as alike.
ALIKE = 2.0


def interval(found: Estimate) -> str:
    """Return a gain with its interval.

    Examples
    --------
    >>> interval(Estimate(1.25, -0.5, 3.0, 0.6, 0.3, 0.1))
    '+1.2 [-0.5, +3.0]'
    """
    return f"{found.effect:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


def headline(
    control: Sequence[Result], claims: Iterable[Summary], found: Iterable[Verdict], folder: Path
) -> list[Block]:
    """Return the plot and the sentences: of the control where it is measured, else of the paper's claim."""
    decided = {row.contrast.name: row for row in control if row.new is not None}
    if "high or identity" in decided:
        lines = [(gain.dataset, gain.estimate) for gain in decided["high or identity"].gains]
        ends = _ends(decided["high or identity"].mean, decided["high or identity"].new)
        title, sentences = "low + high minus low + identity", _control_sentences(decided)
    else:
        rows = [v for v in found if (v.claim.name, v.protocol) == (CLAIM, PROTOCOL) and not v.stale and v.estimate]
        lines = [(v.dataset, v.estimate) for v in rows if v.estimate is not None]
        summary = next((s for s in claims if (s.claim.name, s.protocol) == (CLAIM, PROTOCOL)), None)
        if summary is None or summary.mean is None or summary.new is None:
            return []
        ends = _ends(summary.mean, summary.new)
        title, sentences = "FB-GCN minus GCN", _claim_sentences(summary, rows)
    return [*forest(lines, ends, title, folder / "forest.png"), *map(Text, sentences)]


def _ends(mean: Estimate | None, new: Estimate | None) -> list[Line]:
    return [(name, one) for name, one in (("mean", mean), ("a new data set", new)) if one is not None]


def _control_sentences(decided: dict[str, Result]) -> list[str]:
    main = decided["high or identity"]
    gained, shared = [], {gain.dataset for gain in main.gains}
    for name, what in (("high beside low", "a high channel"), ("identity beside low", "an identity path")):
        # On the data sets that have both: other sets would make the two gains incomparable.
        rows = [gain for gain in decided[name].gains if gain.dataset in shared] if name in decided else []
        if len(rows) == len(shared) and (mean := over_data_sets(rows)[0]) is not None:
            gained.append(f"{what} gains {interval(mean)}")
    new = main.new
    if new is None or main.mean is None:
        return []
    beside = "points over the low channel alone (mean and 95 % interval)."
    first = f"Over {len(main.gains)} data sets {' and '.join(gained)} {beside}" if gained else ""
    second = (
        f"The high channel instead of the identity path: {interval(main.mean)} points; on a new data set it helps by "
        f"more than a point with probability {new.helps:.2f}, is equal within a point with {new.equal:.2f}, and harms "
        f"by more with {new.harms:.2f}."
    )
    return [sentence for sentence in (_conclusion(main.mean, new), first, second) if sentence]


def _conclusion(mean: Estimate, new: Estimate) -> str:
    """Return the first sentence: of a new data set where that is decided, else of the mean where its interval is."""
    margin = max(abs(mean.low), abs(mean.high))
    alike = new.verdict == "undecided" and mean.low <= 0.0 <= mean.high and margin <= ALIKE
    return _CONCLUSIONS["alike" if alike else new.verdict].format(margin)


def _claim_sentences(summary: Summary, rows: Sequence[Verdict]) -> list[str]:
    if summary.mean is None or summary.new is None:
        return []
    counts = ", ".join(f"{name} on {summary.counts[name]}" for name in ("helps", "equal", "harms", "undecided"))
    return [
        f"FB-GCN against GCN, both tuned on validation, over {len(rows)} data sets: {interval(summary.mean)} points "
        f"(mean and 95 % interval); on a new data set {interval(summary.new)}, with probability "
        f"{summary.new.helps:.2f} "
        "of more than a point.",
        f"Taken one by one, a high channel {counts} of {len(rows)} data sets.",
        "This GCN has no identity path, so that the comparison cannot separate a high-pass filter from an "
        "identity; the "
        "control that can, `python -m paper control`, has not been measured.",
    ]


def forest(lines: Sequence[Line], ends: Sequence[Line], title: str, path: Path) -> list[Block]:
    """Draw gains with their intervals, data sets above and what they amount to below; nothing without matplotlib."""
    if not lines or not has("matplotlib"):
        return []
    drawn = [*sorted(lines, key=lambda line: -line[1].effect), *ends]
    figures = require("matplotlib.figure", "drawing figures")
    figure = figures.Figure(figsize=(8.0, 0.28 * len(drawn) + 1.2), layout="constrained")
    ax = figure.subplots()
    for place, (_, one) in enumerate(reversed(drawn)):
        bold = place < len(ends)
        ax.plot([one.low, one.high], [place, place], color="tab:red" if bold else "tab:blue", lw=2.5 if bold else 1.5)
        ax.plot([one.effect], [place], "D" if bold else "o", color="tab:red" if bold else "tab:blue", ms=5)
    ax.axvspan(-1.0, 1.0, color="0.9", zorder=0)
    ax.axvline(0.0, color="0.5", lw=0.8, zorder=0)
    ax.set_yticks(range(len(drawn)), [name for name, _ in reversed(drawn)])
    ax.set_xlabel(f"{title}: points of test score, 95 % interval; grey: within one point")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    return [Figure(path, f"{title}: gain on every data set, mean, and gain on a new data set")]
