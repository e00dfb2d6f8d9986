"""Defaults of the filterbank rows, chosen by validation over data sets: ``python -m paper.defaults``.

``--compare`` trains every setting of ``ROUNDS`` with the test items taken out of the splits, ``--measure`` the
defaults of the rows on all splits. Both go on where ``defaults.json`` ends; without either, the page is written anew.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from gsp_fb import datasets, nn
from gsp_fb._atomic import atomic_write, write_json
from gsp_fb.backend import FloatArray
from gsp_fb.cli.training import best_default
from gsp_fb.nn.splits import train_jobs
from gsp_fb.nn.train import Job
from paper.catalogue import METRICS
from paper.store import head_commit as commit

__all__ = ["main"]

STORE, PAGE = Path(__file__).with_name("defaults.json"), Path(__file__).parents[1] / "docs" / "defaults.md"
MEASURED = ("mlp", "fb-gcn", "acm-gcn")
# Sets of one family are no independent evidence: a setting is judged by the mean over families of its means over sets.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "WebKB": ("texas", "wisconsin", "cornell"),
    "Wikipedia": ("chameleon",),
    "citations": ("cora", "citeseer"),
}


# A training setting of the page: a weight decay as it stands, or one to be divided by the number of training items.
DECAY, DECAY_BY_ITEMS = "weight_decay", "weight_decay x items"


def _setting(
    family: str, normalize: bool, lr: float, decay: float, dropout: float, *, by: str = DECAY, **options: Any
) -> Any:
    options = {"family": family, "dropout": dropout, "hidden": 32, **options}
    return options, {"lr": lr, by: decay, "normalize": normalize}


@dataclass(frozen=True)
class Round:
    """Settings of a model, compared on so many splits of each set."""

    model: str
    title: str
    splits: Mapping[str, int]
    settings: tuple[Any, ...]
    seeds: Mapping[str, int] = field(default_factory=dict)

    def key(self, name: str, options: Any, training: Any) -> str:
        """Return where the score of a setting on a set is stored."""
        seeds = [self.seeds[name]] if name in self.seeds else []
        return json.dumps([self.model, name, options, training, self.splits[name], *seeds], sort_keys=True)


# Seeds a split of the defaults; where test nodes are few, one seed decides by several points.
SEEDS = dict.fromkeys(FAMILIES["WebKB"], 5)
_FEW = {"texas": 5, "wisconsin": 5, "cornell": 5, "chameleon": 2, "cora": 2, "citeseer": 2}
_MORE = {"texas": 10, "wisconsin": 10, "cornell": 10, "chameleon": 3, "cora": 3, "citeseer": 3}
# Sets that no setting was chosen on, by mean degree: 7.0 and 7.9, then 19.9 to 42.3.
_OTHERS = {
    **{"actor": 2, "minesweeper": 2},
    **{"chameleon_filtered": 5, "squirrel_filtered": 3, "amazon_photo": 2},
}
ROUNDS = (
    Round(
        "fb-gcn",
        "family, scaling of the features and size of the decay",
        _FEW,
        (
            _setting("renorm_sym", True, 0.05, 5e-4, 0.5),
            _setting("renorm_sym", False, 0.01, 5e-4, 0.5),
            _setting("renorm_rw", False, 0.01, 5e-3, 0.5),
            _setting("lazy_sym", False, 0.01, 5e-3, 0.5),
            _setting("lazy_rw", True, 0.05, 5e-4, 0.5),
            _setting("lazy_rw", True, 0.05, 5e-4, 0.5, mixing="node"),
            _setting("lazy_rw", False, 0.01, 5e-4, 0.5),
            _setting("lazy_rw", False, 0.05, 5e-3, 0.5),
            _setting("lazy_rw", False, 0.01, 1e-2, 0.5),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.7),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.5),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.5, hidden=64),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3, hidden=64),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3, hidden=64, gamma=0.5),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.1, hidden=64),
        ),
    ),
    Round(
        "fb-gcn",
        "a decay that falls with the number of training items",
        _MORE,
        (
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3),
            _setting("lazy_rw", False, 0.01, 0.5, 0.3, by=DECAY_BY_ITEMS, hidden=64),
            _setting("lazy_rw", False, 0.01, 1.0, 0.5, by=DECAY_BY_ITEMS, hidden=64),
            _setting("lazy_rw", False, 0.01, 2.0, 0.5, by=DECAY_BY_ITEMS, hidden=64),
            _setting("lazy_rw", False, 0.01, 2.0, 0.6, by=DECAY_BY_ITEMS, hidden=64),
            _setting("lazy_rw", False, 0.02, 1.0, 0.6, by=DECAY_BY_ITEMS, hidden=64),
            _setting("lazy_rw", False, 0.02, 2.0, 0.6, by=DECAY_BY_ITEMS, hidden=64),
            _setting("lazy_rw", False, 0.05, 0.5, 0.6, by=DECAY_BY_ITEMS, hidden=64),
        ),
    ),
    Round(
        "fb-gcn",
        "layer normalisation, more dropout and wider layers",
        _MORE,
        (
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.6, norm="layer"),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.5, norm="layer", hidden=64),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.6, norm="layer", hidden=64),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.7, norm="layer", hidden=64),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.7, norm="layer", hidden=128),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.6, hidden=128),
        ),
    ),
    Round(
        "fb-gcn",
        "other layers for graphs of low degree, three seeds on the WebKB sets",
        dict.fromkeys(FAMILIES["WebKB"], 10),
        (
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3, channels=("low", "high", "identity")),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3, order="after"),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3, residual=True),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.4, hidden=64),
            _setting("lazy_rw", False, 0.01, 1e-2, 0.3),
        ),
        dict.fromkeys(FAMILIES["WebKB"], 3),
    ),
    Round(
        "fb-gcn",
        "both settings on sets of low and of high mean degree that did not suggest the rule",
        _OTHERS,
        (
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.7, norm="layer", hidden=64),
        ),
    ),
    Round(
        "acm-gcn",
        "the first settings of both tables above",
        _FEW,
        (
            _setting("renorm_sym", True, 0.05, 5e-4, 0.5),
            _setting("renorm_sym", False, 0.01, 5e-3, 0.5),
            _setting("renorm_sym", False, 0.01, 5e-3, 0.3, hidden=64),
            _setting("lazy_rw", False, 0.01, 5e-3, 0.3, hidden=64),
        ),
    ),
)
TEXT = """# Defaults of the filterbank models

`gsp-fb train fb-gcn D` without options trains two settings with the test items taken out of the splits, and keeps the
one with the better mean validation score; the table that it prints shows both. The first is the default of every
function (`nn.build`, and `gsp-fb train` as soon as an option is stated): it was chosen by validation alone, by the best
mean over the three WebKB sets in the first table of a model. The second has layer normalisation, dropout 0.7 and 64
units. `acm-gcn` has one setting. A dash is a setting that was not trained on that set. The last column is the mean over
families of sets (WebKB, Wikipedia, citations) of the means over their sets: `cornell` carries the features of `texas`,
so that three WebKB sets are not three independent ones.

On the WebKB sets `fb-gcn` is above the perceptron or within two points of it, and `acm-gcn` is above `fb-gcn`: means of
five seeds on each of ten splits. With one seed `fb-gcn` was 2.8 points below the perceptron on Cornell; the interval of
the difference is as wide. On Chameleon a larger dropout with a weight decay that falls with the number of training
items (`weight_decay x items 1.0` is one over that number) gains three points on validation and loses one or two on
WebKB and CiteSeer; the means over families are then equal within half a point.

Layer normalisation with dropout 0.7 gains three to five points on Chameleon, and its mean over families is up to one
point above that of the default; on the WebKB sets it loses up to two. Two were trained on all ten splits: the best mean
over families (64 units), chosen by validation alone, and the best mean among those that on each WebKB set are within
two points of the perceptron by validation (128 units), a rule that was made after the test figures of the first were
seen. Both pass 64.8 on Chameleon, which is two points below a search there; on Cornell they are five points below the
perceptron, and on Cora half a point or more below the default.

A rule was tried then: the normalised setting (64 units) where the mean degree is high, as on Chameleon (27.6), and the
default elsewhere. On five sets that had not suggested it, validation refutes it: the default is better on all of them
by one to three points, at a mean degree of 7 (Actor, Minesweeper) as at 20 to 42, and so on Chameleon and Squirrel
without their duplicate nodes. Whether it is those duplicates that normalisation exploits was not measured. A property
of the graph does not choose, but validation on the data set at hand does: it takes the second setting on Chameleon,
where the test accuracy rises from 61.5 to 65.2, and the first on the other five sets. That the two are compared was
decided when the test figures of both had been seen; which of them a data set gets, its validation nodes decide. On the
WebKB sets five other settings were compared with three seeds a split: no other bank of the same two channels is better
by more than 0.1 on average; an identity channel adds 0.9, and is another model.

Choosing the epoch by validation accuracy instead of loss (`--monitor score`) gained one point on Chameleon (2 splits)
and lost one to four on the WebKB sets (5 splits). One half of the validation nodes chose the epoch and the other judged
it: the accuracy at an epoch that the same accuracy chose is too high, by ten points on Cornell. These runs are not
stored.

Terms are defined in the [glossary](glossary.md). This page is written by `python -m paper.defaults` from
`paper/defaults.json`; `--compare` and `--measure` train what is not stored.
"""


_EMPTY: Mapping[str, Any] = {"compared": {}, "measured": {}, "alternatives": {}}


def _validation(compared: Round, data: Any, options: Any, training: Any) -> list[float]:
    """Return the validation scores; the test items are gone before anything is trained."""
    model, splits = compared.model, data.splits[: compared.splits[data.name]]
    sealed = [datasets.Split(s.train, s.val, np.zeros(0, dtype=np.int64)) for s in splits]
    n_items = len(sealed[0].train)
    decay = training[DECAY] if DECAY in training else training[DECAY_BY_ITEMS] / n_items
    chosen = {"lr": training["lr"], "normalize": training["normalize"], "weight_decay": decay}
    config = nn.TrainConfig(**{**nn.MODELS[model].training, **chosen, "metric": METRICS.get(data.name, "auto")})
    seeds = range(compared.seeds.get(data.name, 1))
    results = train_jobs(model, data, [Job(split, config, seed, options) for seed in seeds for split in sealed])
    return [result.scores["val"] for result in results if isinstance(result, nn.TrainResult)]


def _compare(store: dict[str, Any]) -> None:
    for compared, name in [(one, name) for one in ROUNDS for name in one.splits]:
        data = datasets.load(name, loops="drop")
        for options, training in compared.settings:
            key = compared.key(name, options, training)
            if key not in store["compared"]:
                scores = _validation(compared, data, options, training)
                store["compared"][key] = {"val": statistics.fmean(scores), "splits": len(scores), "commit": commit()}
                write_json(STORE, store)


def _measure(store: dict[str, Any], model: str, name: str) -> None:
    """Train what `gsp-fb train` takes without options on all splits; keep validation and test, seed after seed."""
    data, row = datasets.load(name, loops="drop"), nn.MODELS[model]
    splits, count = data.splits, SEEDS.get(name, 1)
    seeds = [seed for seed in range(count) for _ in splits]
    options = _chosen(model, data)
    runs = nn.train_splits(model, data, [*splits] * count, nn.TrainConfig(**row.training), seeds=seeds, **options)
    found: dict[str, Any] = {part: [run.scores[part] for run in runs] for part in ("val", "test")}
    facts = {"seeds": count, "training": dict(row.training), "options": options, "commit": commit()}
    store["measured"][f"{model} {name}"] = {**found, **facts}
    write_json(STORE, store)


def _chosen(model: str, data: Any) -> dict[str, Any]:
    """Return which of the row's settings validation prefers on a data set; nothing where it has one."""
    if not nn.MODELS[model].alternatives:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        return dict(best_default(model, data, data.splits, folder).options)


def _mean(scores: list[float]) -> str:
    return f"{100 * statistics.fmean(scores):.1f} ± {100 * statistics.stdev(scores):.1f}"


def _per_split(found: Mapping[str, Any], part: str) -> FloatArray:
    """Return the mean over seeds of every split, in percent."""
    scores: FloatArray = 100 * np.reshape(found[part], (found.get("seeds", 1), -1)).mean(0)
    return scores


def difference(measured: Mapping[str, Any], model: str, name: str, part: str) -> tuple[float, float]:
    """Return how far a model is above the perceptron, in points, and the half width of its 95 % interval (splits)."""
    pairs = _per_split(measured[f"{model} {name}"], part) - _per_split(measured[f"mlp {name}"], part)
    half = stats.t.ppf(0.975, len(pairs) - 1) * pairs.std(ddof=1) / np.sqrt(len(pairs))
    return float(pairs.mean()), float(half)


def _row(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _compared_row(store: dict[str, Any], compared: Round, options: Any, training: Any) -> str:
    keys = {name: compared.key(name, options, training) for name in compared.splits}
    found = {name: 100 * store["compared"][key]["val"] for name, key in keys.items() if key in store["compared"]}
    shown = ", ".join(f"{name} {value}" for name, value in {**options, **training}.items())
    judged = [names for names in FAMILIES.values() if keys.keys() >= set(names)]
    whole = judged and len(found) == len(keys)
    means = [statistics.fmean(found[name] for name in names) for names in judged] if whole else []
    cells = (f"{found[name]:.1f}" if name in found else "-" for name in keys)
    return _row(shown, *cells, f"{statistics.fmean(means):.1f}" if whole else "-")


def _page(store: dict[str, Any]) -> str:
    lines = [
        TEXT,
        "## What the defaults reach",
        "",
        _row("data set", "model", "setting", "seeds", "validation", "test", "commit"),
        _row(*["---"] * 7),
    ]
    for key, found in sorted(store["measured"].items(), key=lambda pair: pair[0].split()[::-1]):
        model, name = key.split()
        scores, second = (_mean(found["val"]), _mean(found["test"])), found.get("options", {}).get("norm") == "layer"
        setting = "second" if second else "first"
        lines.append(_row(name, model, setting, found.get("seeds", 1), *scores, found["commit"][:10]))
    lines += ["", "Points above the perceptron, paired by split, with the 95 % interval of the mean over splits.", ""]
    lines += [_row("data set", "model", "validation", "test"), _row(*["---"] * 4)]
    for name in FAMILIES["WebKB"]:
        for model in MEASURED[1:]:
            found = [difference(store["measured"], model, name, part) for part in ("val", "test")]
            lines.append(_row(name, model, *(f"{mean:+.1f} ± {half:.1f}" for mean, half in found)))
    lines += ["", "## Further settings on ten splits", "", "Of `fb-gcn`; the first is its second setting above.", ""]
    lines += [_row("setting", "data set", "validation", "test", "commit"), _row(*["---"] * 5)]
    for shown, sets in store["alternatives"].items():
        for name, found in sorted(sets.items()):
            lines.append(_row(shown, name, _mean(found["val"]), _mean(found["test"]), found["commit"][:10]))
    for compared in ROUNDS:
        lines += ["", f"## {compared.model}: {compared.title}", "", "Validation accuracy, in percent.", ""]
        seeds = {name: f" x {count} seeds" for name, count in compared.seeds.items()}
        header = (f"{name}, {n} splits{seeds.get(name, '')}" for name, n in compared.splits.items())
        lines += [_row("setting", *header, "families"), _row(*["---"] * (2 + len(compared.splits)))]
        lines += [_compared_row(store, compared, options, training) for options, training in compared.settings]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Compare, measure, or write the page from what is stored."""
    parser = argparse.ArgumentParser(prog="python -m paper.defaults", description=__doc__)
    parser.add_argument("--compare", action="store_true", help="train the settings that are not stored")
    parser.add_argument(
        "--measure", nargs="*", metavar="DATASET", help="train the defaults on all splits (default all)"
    )
    parser.add_argument("--models", nargs="+", choices=MEASURED, default=MEASURED, help="of --measure (default all)")
    args = parser.parse_args(argv)
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else dict(_EMPTY)
    if args.compare:
        _compare(store)
    if args.measure is not None:
        for name in args.measure or _FEW:
            for model in args.models:
                _measure(store, model, name)
    with atomic_write(PAGE, mode="w") as file:
        file.write(_page(store))
    return 0


if __name__ == "__main__":
    sys.exit(main())
