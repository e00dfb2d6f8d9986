"""Settings of a model: those of the command line, those that a search chose, or the best of the row's own."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import ParameterError

__all__ = ["best_default", "compared", "starting_point"]

# Where a run directory keeps the comparison of a row's settings.
FOLDER = "settings"


def starting_point(args: argparse.Namespace, data: Any, splits: Sequence[Any], *, stated: bool) -> Any:
    """Return what a search chose: that of ``--from``, of the run directory, or a comparison of the row's settings.

    None where something is ``stated``, the row has one setting, a split has no validation items, or the runs are on a
    GPU, where the row's defaults are trained. A run that is extended goes on with the settings of its directory.
    """
    from .. import nn

    kept: Path | None = None if args.output is None else args.output / FOLDER
    stored = kept if kept is not None and (kept / nn.BEST_FILE).exists() else None
    source: Path | None = args.start_file or stored
    if source is not None:
        found = nn.read_best(source)
        if found.model != args.model:
            raise ParameterError(f"{source} is of model {found.model!r}, not {args.model!r}")
        return found
    if stated or args.device != "cpu" or not nn.MODELS[args.model].alternatives:
        return None
    if not all(len(split.val) for split in splits):
        return None
    with tempfile.TemporaryDirectory() as folder:
        return best_default(args.model, data, splits, kept or folder)


def best_default(name: str, data: Any, splits: Sequence[Any], directory: Path | str) -> Any:
    """Return which of a row's settings has the best mean validation score over the splits, with all their scores."""
    from .. import nn

    row = nn.MODELS[name]
    names = dict.fromkeys(key for one in row.alternatives for key in one)
    settings = [{key: one.get(key, row.options[key]) for key in names} for one in ({}, *row.alternatives)]
    space = {key: list(dict.fromkeys(one[key] for one in settings)) for key in names}
    race = [(len(settings), len(splits))]
    return nn.search(name, data, splits, directory, space=space, start=settings, n_trials=len(settings), rungs=race)


def compared(found: Any) -> list[dict[str, Any]]:
    """Return the settings that were compared, each with its mean validation score."""
    return [
        {**trial["values"], "val": statistics.fmean(trial["scores"]), "chosen": trial["values"] == found.values}
        for trial in found.trials
        if None not in trial["scores"]
    ]
