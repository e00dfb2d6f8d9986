"""What the commands that train do; this module loads torch, and is loaded when one of them runs."""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import nn
from .._arguments import check_choice
from .._atomic import write_json
from ..errors import ParameterError
from .learning import TRAINING
from .render import write_columns
from .source import read_dataset

__all__ = ["ACTIONS", "best_default", "import_plugins", "model_options"]

COLUMNS = ("name", "title", "task", "channels")
# Where a run directory keeps the comparison of a row's settings.
FOLDER = "settings"


def _models(args: argparse.Namespace) -> dict[str, Any]:
    rows = nn.describe()
    shown = rows if args.json else [{name: row[name] for name in COLUMNS} | _channels(row) for row in rows]
    return {"models": shown}


def _channels(row: dict[str, Any]) -> dict[str, str]:
    """Return the channels of a model in words; a learnable polynomial of the operator is a channel of its own kind."""
    named = row["channels"] if isinstance(row["channels"], str) else ", ".join(row["channels"])
    return {"channels": "polynomial" if "basis" in row["options"] else named}


def import_plugins(names: Sequence[str]) -> None:
    """Import the modules that register models of the user's own."""
    for name in names:
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        try:
            importlib.import_module(name)
        except ImportError as absent:
            wanted = "give a module that Python can import from here"
            raise ParameterError(f"--plugin {name}: {absent}; {wanted}") from absent


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the model options: those of ``--from``, ``--family`` and ``--set name=value`` (JSON, or else text)."""
    options: dict[str, Any] = dict(args.start.options) if getattr(args, "start", None) else {}
    options |= {} if args.family is None else {"family": args.family}
    return options | model_options(args.set or ())


def model_options(texts: Sequence[str]) -> dict[str, Any]:
    """Return the options of ``--set name=value``: JSON, or else the text itself."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"--set takes name=value, not {text!r}")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options


def _keywords(args: argparse.Namespace) -> dict[str, Any]:
    """Return the model options, and whether a person at a terminal sees a progress bar."""
    return {"progress": sys.stderr.isatty() and not args.json, **_options(args)}


def _training(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the command line states of the training configuration."""
    given = {name: getattr(args, name) for name in TRAINING if getattr(args, name) is not None}
    given |= {} if args.normalize is None else {"normalize": args.normalize}
    return {**given, "compile": True} if args.compile else given


def _splits(data: Any, wanted: str) -> dict[int, Any]:
    """Return the splits to train on, by number: ``all`` or a list such as ``0,1,2``."""
    if wanted == "all":
        return dict(enumerate(data.splits))
    try:
        numbers = [int(number) for number in wanted.split(",")]
        return {number: data.splits[number] for number in numbers}
    except (ValueError, IndexError):
        raise ParameterError(f"--splits takes 'all' or numbers below {len(data.splits)}, not {wanted!r}") from None


def _config(args: argparse.Namespace) -> Any:
    """Return the training configuration: the row's, that of ``--from``, and what the command line states."""
    found = args.start.config if getattr(args, "start", None) else {}
    return nn.TrainConfig(
        **{**nn.MODELS[check_choice(args.model, nn.MODELS, "model")].training, **found, **_training(args)}
    )


def _train(args: argparse.Namespace) -> dict[str, Any]:
    check_choice(args.model, nn.MODELS, "model")
    data = read_dataset(args.dataset, args)
    splits = list(_splits(data, args.splits).values())
    stated = bool(_options(args) or _training(args)) or _is_collection(data)
    args.start = _starting_point(args, data, splits, stated=stated)
    config = _config(args)
    if _is_collection(data):
        rows = _fold_rows(args, data, config)
        chosen = {"protocol": args.protocol, "epoch chosen": nn.PROTOCOLS[args.protocol]}
    else:
        rows = _split_rows(args, data, config)
        chosen = {} if args.start is None or args.start_file is not None else {"compared": _compared(args.start)}
    summary = {**_summary(args, config, rows), **chosen}
    if args.output is not None:
        write_json(args.output / "summary.json", {**summary, "runs": rows})
    return {**summary, "runs": rows}


def _is_collection(data: Any) -> bool:
    return hasattr(data, "graph_indptr")


def _split_rows(args: argparse.Namespace, data: Any, config: Any) -> list[dict[str, Any]]:
    wanted = _splits(data, args.splits)
    runs = [(split, seed) for split in wanted for seed in range(args.seeds)]
    splits, seeds = [wanted[split] for split, _ in runs], [seed for _, seed in runs]
    folders = None if args.output is None else [args.output / f"split-{split}-seed-{seed}" for split, seed in runs]
    options: dict[str, Any] = {"seeds": seeds, "directories": folders, "device": args.device, **_keywords(args)}
    results = nn.train_splits(args.model, data, splits, config, **options)
    rows = zip(runs, results, strict=True)
    return [{"split": split, "seed": seed, **_run_facts(result)} for (split, seed), result in rows]


def _fold_rows(args: argparse.Namespace, data: Any, config: Any) -> list[dict[str, Any]]:
    """Cross-validate a graph classifier; best epoch and test score are those of the protocol."""
    folds, rows = _splits(data, args.splits), []
    options: dict[str, Any] = {"protocol": args.protocol, "device": args.device, **_keywords(args)}
    for seed in range(args.seeds):
        options |= {"seed": seed, "directory": None if args.output is None else args.output / f"seed-{seed}"}
        found = nn.cross_validate(args.model, data, config, splits=list(folds.values()), **options)
        reported = zip(folds, found.runs, found.epochs, found.scores, strict=True)
        rows += [
            {"split": fold, "seed": seed, **_run_facts(run), "best": epoch, "test": score}
            for fold, run, epoch, score in reported
        ]
    return rows


def _run_facts(result: Any) -> dict[str, Any]:
    facts = result.as_dict()
    scores = {"val": facts["scores"]["val"], "test": facts["scores"]["test"]}
    measured = {"S": facts["s_value"], "E[S]": facts["expected_s_value"]}
    spent = {"seconds": result.seconds, "memory": result.memory}
    return {"epochs": result.epochs, "best": result.best_epoch, **scores, **measured, **spent}


def _summary(args: argparse.Namespace, config: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    test = [row["test"] for row in rows if row["test"] is not None]
    mean, std = statistics.fmean(test) if test else None, statistics.stdev(test) if len(test) > 1 else 0.0
    trained = {"model": args.model, "data set": args.dataset, "option": _options(args), "training": config.as_dict()}
    repeated = {"splits": len({row["split"] for row in rows}), "seeds": args.seeds}
    return {**trained, "test mean": mean, "test std": std, **repeated}


def _search(args: argparse.Namespace) -> dict[str, Any]:
    data, config = read_dataset(args.dataset, args), _config(args)
    splits: Any = list(_splits(data, args.splits).values())
    if _is_collection(data):
        splits = nn.with_validation(splits, data.y)
    how: dict[str, Any] = {"n_trials": args.trials, "sampler": args.sampler, "also": args.also, "config": config}
    found = nn.search(args.model, data, splits, args.output, **how, **_keywords(args))
    facts = {name: value for name, value in found.as_dict().items() if args.json or name != "trials"}
    return {**facts, "written": str(args.output / nn.BEST_FILE)}


def _predict(args: argparse.Namespace) -> dict[str, Any]:
    data = read_dataset(args.dataset, args)
    found = nn.predict(args.run, data)
    classes = nn.read_checkpoint(args.run).facts["data"].get("classes") or range(found.shape[1])
    columns = {f"p({name})": found[:, k] for k, name in enumerate(classes)}
    chosen = [classes[k] for k in found.argmax(axis=1)] if len(columns) > 1 else found[:, 0]
    write_columns(args.output, data, {"prediction": chosen, **columns}, found)
    return {"written": str(args.output), "shape": str(found.shape)}


def _embed(args: argparse.Namespace) -> dict[str, Any]:
    data = read_dataset(args.dataset, args)
    parts = nn.embed(args.run, data, layer=args.layer)
    columns = {f"{name} {k}": part[:, k] for name, part in parts.items() for k in range(part.shape[1])}
    write_columns(args.output, data, columns, parts)
    return {"written": str(args.output), "channels": ", ".join(parts)}


def _starting_point(args: argparse.Namespace, data: Any, splits: Sequence[Any], *, stated: bool) -> Any:
    """Return what a search chose: that of ``--from``, of the run directory, or a comparison of the row's settings.

    None where something is ``stated``, the row has one setting, a split has no validation items, or the runs are on a
    GPU, where the row's defaults are trained. A run that is extended goes on with the settings of its directory.
    """
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
    row = nn.MODELS[name]
    names = dict.fromkeys(key for one in row.alternatives for key in one)
    settings = [{key: one.get(key, row.options[key]) for key in names} for one in ({}, *row.alternatives)]
    space = {key: list(dict.fromkeys(one[key] for one in settings)) for key in names}
    race = [(len(settings), len(splits))]
    return nn.search(name, data, splits, directory, space=space, start=settings, n_trials=len(settings), rungs=race)


def _compared(found: Any) -> list[dict[str, Any]]:
    """Return the settings that were compared, each with its mean validation score."""
    return [
        {**trial["values"], "val": statistics.fmean(trial["scores"]), "chosen": trial["values"] == found.values}
        for trial in found.trials
        if None not in trial["scores"]
    ]


ACTIONS = {"models": _models, "train": _train, "search": _search, "predict": _predict, "embed": _embed}
