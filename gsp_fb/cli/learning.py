"""Commands that train: models, train, search, predict, embed. Torch is loaded only when one of them runs."""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from .._atomic import write_json
from ..errors import ParameterError
from .command import Command, add_family
from .render import emit
from .settings import compared, starting_point
from .source import add_data_options, read_dataset
from .tables import write_columns

__all__ = ["COMMANDS"]

# Option on the command line -> field of TrainConfig.
TRAINING = {
    "lr": float,
    "weight_decay": float,
    "epochs": int,
    "patience": int,
    "monitor": str,
    "metric": str,
    "batch": str,
    "batch_size": int,
    "eval_every": int,
}
HELP = {
    "lr": "Set the learning rate.",
    "weight_decay": "Set the weight decay.",
    "epochs": "Limit the number of epochs.",
    "patience": "Stop after so many epochs without improvement.",
    "monitor": "Choose the quantity that early stopping watches.",
    "metric": "Choose the metric of the scores.",
    "batch": "Choose how a graph is cut into batches.",
    "batch_size": "Set the size of a batch.",
    "eval_every": "Evaluate after every so many epochs.",
}
COLUMNS = ("name", "title", "task", "channels")


def _models(args: argparse.Namespace) -> int:
    from .. import nn

    _plug_in(args)
    rows = nn.describe()
    shown = rows if args.json else [{name: row[name] for name in COLUMNS} | _channels(row) for row in rows]
    emit({"models": shown}, as_json=args.json)
    return 0


def _channels(row: dict[str, Any]) -> dict[str, str]:
    """Return the channels of a model in words; a learnable polynomial of the operator is a channel of its own kind."""
    named = row["channels"] if isinstance(row["channels"], str) else ", ".join(row["channels"])
    return {"channels": "polynomial" if "basis" in row["options"] else named}


def _plug_in(args: argparse.Namespace) -> None:
    """Import the modules that register models of the user's own."""
    for name in args.plugin:
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        try:
            importlib.import_module(name)
        except ImportError as absent:
            raise ParameterError(
                f"--plugin {name}: {absent}; give a module that Python can import from here"
            ) from absent


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the model options: those of ``--from``, ``--family`` and ``--set name=value`` (JSON, or else text)."""
    options: dict[str, Any] = dict(args.start.options) if getattr(args, "start", None) else {}
    options |= {} if args.family is None else {"family": args.family}
    for text in args.set or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"--set takes name=value, not {text!r}")
        options[name] = _value(value)
    return options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


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
    from .. import nn

    found = args.start.config if getattr(args, "start", None) else {}
    return nn.TrainConfig(**{**nn.MODELS[_model(args.model)].training, **found, **_training(args)})


def _train(args: argparse.Namespace) -> int:
    from .. import nn

    _plug_in(args)
    _model(args.model)
    data = read_dataset(args.dataset, args)
    splits = list(_splits(data, args.splits).values())
    stated = bool(_options(args) or _training(args)) or _is_collection(data)
    args.start = starting_point(args, data, splits, stated=stated)
    config = _config(args)
    if _is_collection(data):
        rows = _fold_rows(args, data, config)
        chosen = {"protocol": args.protocol, "epoch chosen": nn.PROTOCOLS[args.protocol]}
    else:
        rows = _split_rows(args, data, config)
        chosen = {} if args.start is None or args.start_file is not None else {"compared": compared(args.start)}
    summary = {**_summary(args, config, rows), **chosen}
    if args.output is not None:
        write_json(args.output / "summary.json", {**summary, "runs": rows})
    emit({**summary, "runs": rows}, as_json=args.json)
    return 0


def _is_collection(data: Any) -> bool:
    return hasattr(data, "graph_indptr")


def _split_rows(args: argparse.Namespace, data: Any, config: Any) -> list[dict[str, Any]]:
    from .. import nn

    wanted = _splits(data, args.splits)
    runs = [(split, seed) for split in wanted for seed in range(args.seeds)]
    places = [f"split-{split}-seed-{seed}" for split, seed in runs]
    results = nn.train_splits(
        args.model,
        data,
        [wanted[split] for split, _ in runs],
        config,
        seeds=[seed for _, seed in runs],
        directories=None if args.output is None else [args.output / place for place in places],
        progress=sys.stderr.isatty() and not args.json,
        device=args.device,
        **_options(args),
    )
    pairs = zip(runs, results, strict=True)
    return [{"split": split, "seed": seed, **_run_facts(result)} for (split, seed), result in pairs]


def _fold_rows(args: argparse.Namespace, data: Any, config: Any) -> list[dict[str, Any]]:
    """Cross-validate a graph classifier; best epoch and test score are those of the protocol."""
    from .. import nn

    folds = _splits(data, args.splits)
    rows = []
    for seed in range(args.seeds):
        found = nn.cross_validate(
            args.model,
            data,
            config,
            protocol=args.protocol,
            splits=list(folds.values()),
            seed=seed,
            directory=None if args.output is None else args.output / f"seed-{seed}",
            progress=sys.stderr.isatty() and not args.json,
            device=args.device,
            **_options(args),
        )
        reported = zip(folds, found.runs, found.epochs, found.scores, strict=True)
        rows += [
            {"split": fold, "seed": seed, **_run_facts(run), "best": epoch, "test": score}
            for fold, run, epoch, score in reported
        ]
    return rows


def _model(name: str) -> str:
    from .. import nn
    from .._arguments import check_choice

    return check_choice(name, nn.MODELS, "model")


def _run_facts(result: Any) -> dict[str, Any]:
    facts = result.as_dict()
    return {
        "epochs": result.epochs,
        "best": result.best_epoch,
        "val": facts["scores"]["val"],
        "test": facts["scores"]["test"],
        "S": facts["s_value"],
        "E[S]": facts["expected_s_value"],
        "seconds": result.seconds,
        "memory": result.memory,
    }


def _summary(args: argparse.Namespace, config: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    test = [row["test"] for row in rows if row["test"] is not None]
    spread = statistics.stdev(test) if len(test) > 1 else 0.0
    return {
        "model": args.model,
        "data set": args.dataset,
        "option": _options(args),
        "training": config.as_dict(),
        "test mean": statistics.fmean(test) if test else None,
        "test std": spread,
        "splits": len({row["split"] for row in rows}),
        "seeds": args.seeds,
    }


def _search(args: argparse.Namespace) -> int:
    from .. import nn

    _plug_in(args)
    data, config = read_dataset(args.dataset, args), _config(args)
    splits: Any = list(_splits(data, args.splits).values())
    if _is_collection(data):
        splits = nn.with_validation(splits, data.y)
    found = nn.search(
        args.model,
        data,
        splits,
        args.output,
        n_trials=args.trials,
        sampler=args.sampler,
        also=args.also,
        config=config,
        progress=sys.stderr.isatty() and not args.json,
        **_options(args),
    )
    facts = {name: value for name, value in found.as_dict().items() if args.json or name != "trials"}
    emit({**facts, "written": str(args.output / nn.BEST_FILE)}, as_json=args.json)
    return 0


def _predict(args: argparse.Namespace) -> int:
    from .. import nn

    _plug_in(args)
    data = read_dataset(args.dataset, args)
    found = nn.predict(args.run, data)
    classes = nn.read_checkpoint(args.run).facts["data"].get("classes") or range(found.shape[1])
    columns = {f"p({name})": found[:, k] for k, name in enumerate(classes)}
    chosen = [classes[k] for k in found.argmax(axis=1)] if len(columns) > 1 else found[:, 0]
    write_columns(args.output, data, {"prediction": chosen, **columns}, found)
    emit({"written": str(args.output), "shape": str(found.shape)}, as_json=args.json)
    return 0


def _embed(args: argparse.Namespace) -> int:
    from .. import nn

    _plug_in(args)
    data = read_dataset(args.dataset, args)
    parts = nn.embed(args.run, data, layer=args.layer)
    columns = {f"{name} {k}": part[:, k] for name, part in parts.items() for k in range(part.shape[1])}
    write_columns(args.output, data, columns, parts)
    emit({"written": str(args.output), "channels": ", ".join(parts)}, as_json=args.json)
    return 0


def _plugin_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin", action="append", default=[], metavar="MODULE", help="Import a module that registers models."
    )


def _model_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="Name a model, a row of `gsp-fb models`.")
    parser.add_argument("dataset", help="Name a data set, or a graph file with --nodes and --label.")
    add_data_options(parser, loops="drop")
    add_family(parser, "Choose the family of the low channel", default=None)
    parser.add_argument("--splits", default="all", help="Choose 'all' splits or numbers such as 0,1,2 (default all).")
    parser.add_argument(
        "--set", action="append", metavar="OPTION=VALUE", help="Set an option of the model; repeatable."
    )
    scaling = parser.add_mutually_exclusive_group()
    for flag, value, text in (("raw", False, "Leave features undivided"), ("normalized", True, "Divide features")):
        shown = f"{text} by their row sums, whatever the model's default."
        scaling.add_argument(f"--{flag}-features", dest="normalize", action="store_const", const=value, help=shown)
    parser.add_argument("--compile", action="store_true", help="Compile the model with torch.compile (needs C++).")
    _plugin_argument(parser)
    for name, kind in TRAINING.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=HELP[name])


def _train_arguments(parser: argparse.ArgumentParser) -> None:
    _model_arguments(parser)
    parser.add_argument("--seeds", type=int, default=1, help="Train so many models per split (default 1).")
    parser.add_argument("--device", default="cpu", help="Choose cpu or cuda (default cpu).")
    parser.add_argument(
        "--from",
        dest="start_file",
        type=Path,
        metavar="BEST.json",
        help="Take options and settings that a search chose.",
    )
    parser.add_argument(
        "--protocol",
        choices=("validation", "gin"),
        default="validation",
        help="Choose the reported epoch of graph collections; gin, as in its paper, sees the test set.",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="Keep metrics and checkpoints, and resume there."
    )


def _search_arguments(parser: argparse.ArgumentParser) -> None:
    _model_arguments(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", required=True, help="Keep journal and best.json, and resume there."
    )
    parser.add_argument(
        "--trials", type=int, default=50, help="Run so many trials, earlier ones included (default 50)."
    )
    parser.add_argument(
        "--sampler", choices=("tpe", "grid", "random"), default="tpe", help="Choose the sampler (default tpe)."
    )
    parser.add_argument("--also", action="append", default=[], metavar="CHOICE", help="Vary this too: family.")


def _checkpoint_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, help="Name a run directory of `gsp-fb train -o`.")
    parser.add_argument("dataset", help="Name a data set or a graph file with the same features.")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="Write .csv, .parquet or numpy's format."
    )
    add_data_options(parser, loops="drop")
    _plugin_argument(parser)


def _embed_arguments(parser: argparse.ArgumentParser) -> None:
    _checkpoint_arguments(parser)
    parser.add_argument("--layer", type=int, default=-1, help="Choose the layer (default the last).")


COMMANDS = (
    Command("models", "List the models that can be named; with --json also their options.", _plugin_argument, _models),
    Command("train", "Train a model on the splits of a data set, resumable with -o.", _train_arguments, _train),
    Command("search", "Choose hyperparameters by validation alone, resumable.", _search_arguments, _search),
    Command("predict", "Write the predictions of a trained checkpoint, by node name.", _checkpoint_arguments, _predict),
    Command("embed", "Write low, high and combined embeddings of a checkpoint.", _embed_arguments, _embed),
)
