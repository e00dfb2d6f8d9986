"""Settings chosen on validation nodes beside settings chosen on the test nodes: what the second choice gains.

Every setting of a sample of the grid trains on all splits with its test score. The figures are for this comparison
alone: nothing that another table trains is chosen by them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gsp_fb._document import Table
from gsp_fb.datasets import Split

from .journal import Journal
from .protocols import settings
from .training import Job

__all__ = ["scores_of_settings", "selection_table", "settings_on_all_splits"]

Facts = Mapping[str, Any]
# Settings that train as one batch.
AT_ONCE = 16


def settings_on_all_splits(job: Job, journal: Journal) -> dict[str, Any]:
    """Return the scores of every setting, of the best by validation, and of the best by test (``on_test``)."""
    drawn = settings(job.cell.space, job.cell.plan.rungs[0].candidates, job.cell.plan.seed)
    trials: list[dict[str, Any]] = []
    for start in range(0, len(drawn), AT_ONCE):
        trials += journal.step(f"settings from {start}", partial(_scores, job, drawn[start : start + AT_ONCE]))
    chosen, on_test = (max(trials, key=lambda trial: statistics.fmean(trial[part])) for part in ("validation", "test"))
    return {
        **chosen,
        "mean": statistics.fmean(chosen["test"]),
        "std": statistics.stdev(chosen["test"]),
        "val_mean": statistics.fmean(chosen["validation"]),
        "seeds": job.seeds,
        "n_trials": len(trials),
        "on_test": on_test,
        "trials": trials,
    }


def _scores(job: Job, drawn: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return validation and test scores of settings on all splits; a setting that diverges on one has no scores."""
    divided = [job.divided(values) for values in drawn]
    scored = scores_of_settings(job.cell.row.model, job.data, divided, job.splits, job.seeds)
    return [{"chosen": dict(values), **found} for values, found in zip(drawn, scored, strict=True) if found]


def scores_of_settings(
    model: str,
    data: Any,
    drawn: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]],
    splits: Sequence[Split],
    seeds: Sequence[int],
) -> list[dict[str, list[float]] | None]:
    """Return ``validation`` and ``test`` of every (options, training) by split, trained as one batch.

    None for a setting that diverges on a split.
    """
    from gsp_fb.nn import TrainConfig, TrainResult
    from gsp_fb.nn.splits import train_jobs
    from gsp_fb.nn.train import Job as Training

    jobs = [
        Training(split, TrainConfig(**training), seed, dict(options))
        for options, training in drawn
        for split, seed in zip(splits, seeds, strict=True)
    ]
    results = [run if isinstance(run, TrainResult) else None for run in train_jobs(model, data, jobs)]
    groups = (results[start : start + len(splits)] for start in range(0, len(results), len(splits)))
    return [_parts([run for run in runs if run is not None]) if None not in runs else None for runs in groups]


def _parts(runs: Sequence[Any]) -> dict[str, list[float]]:
    return {"validation": [run.scores["val"] for run in runs], "test": [run.scores["test"] for run in runs]}


def selection_table(stored: Mapping[tuple[str, str], Facts], printed: Mapping[tuple[str, str], str]) -> Table:
    """Return, for each cell, the test score under either choice beside the printed one."""
    header = ["data set", "model", "settings", "chosen on validation", "chosen on test", "printed", "explained"]
    rows = []
    for (dataset, label), facts in stored.items():
        ours, other = 100.0 * facts["mean"], 100.0 * statistics.fmean(facts["on_test"]["test"])
        value = printed.get((dataset, label), "")
        gap = float(value) - ours if value else 0.0
        spread = 100.0 * statistics.stdev(facts["on_test"]["test"])
        rows.append(
            [
                dataset,
                label,
                str(facts["n_trials"]),
                f"{ours:.1f} ± {100.0 * facts['std']:.1f}{facts['marks']}",
                f"{other:.1f} ± {spread:.1f}",
                value or "·",
                f"{other - ours:+.1f} of {gap:+.1f}" if value else "·",
            ]
        )
    return Table(header, rows)
