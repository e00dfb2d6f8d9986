"""Gains of the control experiment: two arms compared split by split in the configurations that both are measured in."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .catalogue import EXPERIMENTS
from .cells import Cell, cells
from .control import CONTRASTS, Contrast
from .estimation import Estimate, correlated_t
from .significance import corrected_t_test
from .store import Facts, Store
from .verdicts import over_data_sets, scored_share

__all__ = ["Gain", "Result", "control_cells", "control_results", "gains"]

_EXPERIMENTS = ("control", "control-factors")


@dataclass(frozen=True)
class Gain:
    """A contrast on one data set.

    Attributes
    ----------
    dataset : str
    pairs : tuple of (str, str)
        The configurations that it is the mean of, as labels of two rows.
    differences : tuple of float
        One a split, in points; the mean over the configurations.
    test_share : float
    estimate : Estimate
    p : float
        Of the corrected resampled t-test.
    stale : bool
    """

    dataset: str
    pairs: tuple[tuple[str, str], ...]
    differences: tuple[float, ...]
    test_share: float
    estimate: Estimate
    p: float
    stale: bool


@dataclass(frozen=True)
class Result:
    """A contrast on all its data sets, its mean, and its gain on a new data set."""

    contrast: Contrast
    gains: tuple[Gain, ...]
    mean: Estimate | None
    new: Estimate | None


def control_cells() -> list[Cell]:
    """Return every cell of the control."""
    return [cell for name in _EXPERIMENTS for cell in cells(EXPERIMENTS[name], "tuned")]


def control_results(store: Store) -> list[Result]:
    """Return the contrasts that are measured on at least one data set."""
    stored = {(cell.dataset, cell.row.label): (cell, facts) for cell in control_cells() if (facts := store.read(cell))}
    found = []
    for contrast in CONTRASTS.values():
        rows = gains(contrast, stored, store)
        if rows:
            found.append(Result(contrast, tuple(rows), *over_data_sets(rows)))
    return found


def gains(
    contrast: Contrast,
    stored: Mapping[tuple[str, str], tuple[Cell, Facts]],
    store: Store,
    *,
    having: Sequence[str] = (),
) -> list[Gain]:
    """Return a contrast on each data set; ``having`` keeps the configurations whose label has all these parts."""
    pairs = [pair for pair in dict.fromkeys(contrast.pairs()) if set(having) <= set(pair[0].split("-"))]
    found = []
    for dataset in dict.fromkeys(name for name, _ in stored):
        kept = [pair for pair in pairs if all((dataset, label) in stored for label in pair)]
        if kept:
            found.append(_gain(dataset, [[stored[dataset, label] for label in pair] for pair in kept], kept, store))
    return found


def _gain(
    dataset: str, both: Sequence[Sequence[tuple[Cell, Facts]]], pairs: Sequence[tuple[str, str]], store: Store
) -> Gain:
    by_pair = [
        [100.0 * (a - b) for a, b in zip(better[1]["test"], worse[1]["test"], strict=True)] for better, worse in both
    ]
    differences = tuple(map(statistics.fmean, zip(*by_pair, strict=True)))
    share = scored_share(both[0][0][1])
    return Gain(
        dataset,
        tuple(pairs),
        differences,
        share,
        correlated_t(differences, test_share=share),
        corrected_t_test(differences, test_share=share),
        any(store.is_stale(cell) for pair in both for cell, _ in pair),
    )
