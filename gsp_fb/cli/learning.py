"""Commands that train: models, train, search, predict, embed. Torch is loaded only when one of them runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .source import Command, add_data_options, add_family, option

__all__ = ["COMMANDS", "TRAINING", "add_training"]

# Options on the command line that are fields of TrainConfig: their types and help.
TRAINING: dict[str, tuple[Callable[[str], Any], str]] = {
    "lr": (float, "Set the learning rate."),
    "weight_decay": (float, "Set the weight decay."),
    "epochs": (int, "Limit the number of epochs."),
    "patience": (int, "Stop after so many epochs without improvement."),
    "monitor": (str, "Choose the quantity that early stopping watches."),
    "metric": (str, "Choose the metric of the scores."),
    "batch": (str, "Choose how a graph is cut into batches."),
    "batch_size": (int, "Set the size of a batch."),
    "eval_every": (int, "Evaluate after every so many epochs."),
}
PLUGIN = option(
    "--plugin", action="append", default=[], metavar="MODULE", help="Import a module that registers models."
)
LAYER = option("--layer", type=int, default=-1, help="Choose the layer (default the last).")


def add_training(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``TRAINING``."""
    for name, (kind, text) in TRAINING.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=text)


def _add_model(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", help="Name a model, a row of `gsp-fb models`.")
    add("dataset", help="Name a data set, or a graph file with --nodes and --label.")
    add_data_options(parser, loops="drop")
    add_family(parser, "Choose the family of the low channel", default=None)
    add("--splits", default="all", help="Choose 'all' splits or numbers such as 0,1,2 (default all).")
    add("--set", action="append", metavar="OPTION=VALUE", help="Set an option of the model; repeatable.")
    scaling = parser.add_mutually_exclusive_group()
    for flag, value, text in (("raw", False, "Leave features undivided"), ("normalized", True, "Divide features")):
        shown = f"{text} by their row sums, whatever the model's default."
        scaling.add_argument(f"--{flag}-features", dest="normalize", action="store_const", const=value, help=shown)
    add("--compile", action="store_true", help="Compile the model with torch.compile (needs C++).")
    PLUGIN(parser)
    add_training(parser)


def _add_train(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--seeds", type=int, default=1, help="Train so many models per split (default 1).")
    add("--device", default="cpu", help="Choose cpu or cuda (default cpu).")
    chosen = "Take options and settings that a search chose."
    add("--from", dest="start_file", type=Path, metavar="BEST.json", help=chosen)
    epoch = "Choose the reported epoch of graph collections; gin, as in its paper, sees the test set."
    add("--protocol", choices=("validation", "gin"), default="validation", help=epoch)
    add("-o", "--output", type=Path, metavar="DIR", help="Keep metrics and checkpoints, and resume there.")


def _add_checkpoint(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, help="Name a run directory of `gsp-fb train -o`.")
    add("dataset", help="Name a data set or a graph file with the same features.")
    add("-o", "--output", type=Path, required=True, metavar="FILE", help="Write .csv, .parquet or numpy's format.")
    add_data_options(parser, loops="drop")
    PLUGIN(parser)


def _run(args: argparse.Namespace) -> dict[str, Any]:
    from .training import ACTIONS, import_plugins

    import_plugins(args.plugin)
    return ACTIONS[args.command](args)


SEARCH = (
    option(
        "-o", "--output", type=Path, metavar="DIR", required=True, help="Keep journal and best.json, and resume there."
    ),
    option("--trials", type=int, default=50, help="Run so many trials, earlier ones included (default 50)."),
    option("--sampler", choices=("tpe", "grid", "random"), default="tpe", help="Choose the sampler (default tpe)."),
    option("--also", action="append", default=[], metavar="CHOICE", help="Vary this too: family."),
)
COMMANDS = (
    Command("models", "List the models that can be named; with --json also their options.", _run, (PLUGIN,)),
    Command("train", "Train a model on the splits of a data set, resumable with -o.", _run, (_add_model, _add_train)),
    Command("search", "Choose hyperparameters by validation alone, resumable.", _run, (_add_model, *SEARCH)),
    Command("predict", "Write the predictions of a trained checkpoint, by node name.", _run, (_add_checkpoint,)),
    Command("embed", "Write low, high and combined embeddings of a checkpoint.", _run, (_add_checkpoint, LAYER)),
)
