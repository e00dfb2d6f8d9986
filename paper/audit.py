"""Audits of four models on four data sets, on the splits of one, and of deep GCNs: ``python -m paper.audit``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb import datasets, nn, operator, s_value
from gsp_fb._atomic import atomic_write
from gsp_fb._document import Table
from gsp_fb.backend import FloatArray
from gsp_fb.plot import figure

from .catalogue import METRICS
from .store import environment, head_commit

__all__ = ["main"]

MODELS = ("gcn", "graphsage", "gat", "fb-gcn")
DATASETS = ("texas", "chameleon_filtered", "minesweeper", "cora")
DEPTHS, DECAYS, SEEDS = (2, 4, 8), (5e-4, 5e-5, 0.0), (0, 1, 2)
COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#0072B2")
PAGE, PICTURES = Path("docs/audit-figures.md"), Path("docs/_static")
COMMAND = "python -m paper.audit"
SPREAD = """The same over the {count} splits of {name}: medians, and the lowest and the highest.
"""
INTRODUCTION = """# Audits of four models on four data sets

Each model is trained on one split with the defaults of its row (at most {epochs} epochs, seed 0) and audited with
`gf.nn.audit`: 8 bands of the frequencies of `sym`, 16 probes a band. Gains are relative to the peak of each model;
"high / low" is the gain on the upper half of the axis over that on the lower half. S, centred S and effective rank are
those of the output. "Score" is that of the data set on the test nodes (accuracy; ROC AUC on Minesweeper), the last two
columns are the accuracy without one half of the features. One split shows little about scores: see
[the reproduction](reproduce.md) for them, and [how to audit a network](howto-audit.md) for the method; terms are in the
[glossary](glossary.md).

Written by `{command}` at commit {commit}, on {processor}, {threads} thread(s), with {versions}.
"""
DEPTH = """GCNs of 2, 4 and 8 layers on the public split: learning rate 0.01, dropout 0.5, {epochs} epochs, the epoch of
the best validation accuracy; medians over {seeds} seeds, with the lowest and the highest. The
defaults of the row (learning rate 0.05, weight decay 5e-4) do not train eight layers. All settings of this command are
shown; the weight decay that validation prefers at each depth is marked.

Depth smooths whatever the weight decay: in networks that are trained, S and effective rank of the output fall together.
The weight decay decides whether eight layers are trained at all. At 5e-4 some seeds are not (training accuracy), and
the fall of the accuracy is not one of over-smoothing alone. Their output follows the degrees alone, constants that the
layers propagate: on this graph S of a constant is {constant:.2f}, and one propagation of it, large at hubs and small at
their neighbours, has a centred S of {propagated:.2f}. A centred S above 1 in the table is that pattern, not a signal
that depth made rough.
"""


def _split(data: Any) -> Any:
    return data.public_split if data.public_split is not None else data.splits[0]


def trained_audit(name: str, data: Any, split: Any, epochs: int) -> tuple[float, nn.Audit]:
    """Return the test score of a model trained on a split, and its audit with the accuracy on the test nodes."""
    chosen = {"epochs": epochs, "metric": METRICS.get(data.name, "auto")}
    config = nn.TrainConfig(**{**nn.MODELS[name].training, **chosen})
    model = nn.build(name, data, seed=0)
    score = nn.train(model, data, split, config).scores["test"]
    sys.stderr.write(f"{name} on {data.name}: trained\n")
    return score, nn.audit(model, data, nodes=split.test, normalize=config.normalize)


def upper_half(response: Any) -> FloatArray:
    """Return the gains on the upper half in percent of the peak; nan where the output does not depend on the input."""
    shares: FloatArray = 100 * response.gain[len(response.gain) // 2 :] / (np.nanmax(response.gain) or np.nan)
    return shares


def row(name: str, score: float, found: nn.Audit) -> dict[str, object]:
    """Return the figures of one audit."""
    response, upper = found.response, upper_half(found.response)
    removed = {r.half: r for r in found.dependence if (r.where, r.action) == ("input", "removed")}
    return {
        "model": name,
        "score": score,
        "accuracy": found.accuracy,
        "high / low": response.high / (response.low or np.nan),
        "upper half, share of peak": _ends(upper),
        "peak at": float((response.edges[:-1] + response.edges[1:])[np.nanargmax(response.gain)] / 2),
        "S": found.layers[-1].s_value,
        "centred S": found.layers[-1].s_value_centred,
        "effective rank": found.oversmoothing.output_rank,
        "without low half": removed["low"].accuracy,
        "without high half": removed["high"].accuracy,
    }


def draw(audits: Mapping[str, nn.Audit], title: str, path: Path) -> None:
    """Write the responses of several models as one picture."""
    picture = figure(size=(7.0, 3.6))
    axes = picture.subplots()
    for (name, found), colour in zip(audits.items(), COLOURS, strict=True):
        response, there = found.response, np.isfinite(found.response.gain)
        centres = (response.edges[:-1] + response.edges[1:]) / 2
        gain, error = (values[there] / np.nanmax(response.gain) for values in (response.gain, response.error))
        axes.errorbar(centres[there], gain, yerr=error, color=colour, marker=".", capsize=3, label=name)
    axes.axvline(1.0, color="0.55", linestyle="--", linewidth=1)
    axes.set(xlabel=r"frequency $\lambda$", ylabel="gain relative to its peak", ylim=(0.0, None), title=title)
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    picture.savefig(path, dpi=110)


def section(name: str, epochs: int, pictures: Path) -> str:
    """Return the part of the page about one data set and write its picture."""
    data = datasets.load(name, loops="drop")
    found = {model: trained_audit(model, data, _split(data), epochs) for model in MODELS}
    audits = {model: audit for model, (_, audit) in found.items()}
    file = f"audit-{name.replace('_', '-')}.png"
    draw(audits, name, pictures / file)
    verdicts = "\n".join(f"- `{model}`: {audit.verdict}" for model, audit in audits.items())
    table = Table.from_records([row(model, *pair) for model, pair in found.items()]).markdown()
    labels = data.y[data.y >= 0]
    share = np.bincount(labels).max() / len(labels)
    largest = f"The largest class holds {100 * share:.1f} % of the nodes: the accuracy of a constant prediction."
    return f"## {name}\n\n{largest}\n\n![Gain per band on {name}](_static/{file})\n\n{table}\n\n{verdicts}\n"


def spread_section(name: str, epochs: int) -> str:
    """Return the part of the page about all splits of one data set."""
    data = datasets.load(name, loops="drop")
    audits = {model: [trained_audit(model, data, split, epochs) for split in data.splits] for model in MODELS}
    rows = [_spread_row(model, found) for model, found in audits.items()]
    text = SPREAD.format(count=len(data.splits), name=name)
    return f"## Splits: {name}\n\n{text}\n{Table.from_records(rows).markdown()}\n"


def _spread_row(model: str, found: Sequence[tuple[float, nn.Audit]]) -> dict[str, Any]:
    responses = [audit.response for _, audit in found]
    upper = np.array([upper_half(response) for response in responses])
    peaks = [int(np.nanargmax(r.gain) >= len(r.gain) // 2) for r in responses]
    return {
        "model": model,
        "score": _range([score for score, _ in found]),
        "high / low": _range([r.high / (r.low or np.nan) for r in responses], digits=2),
        "upper half, share of peak": _ends(upper),
        "peak in the upper half": f"{sum(peaks)} of {len(peaks)}",
    }


def _ends(shares: FloatArray) -> str:
    return "–" if np.isnan(shares).all() else f"{np.nanmin(shares):.0f}–{np.nanmax(shares):.0f} %"


def _range(values: Any, digits: int = 3) -> str:
    low, middle, high = np.nanquantile(values, (0.0, 0.5, 1.0))
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def depth_section(epochs: int) -> str:
    """Return the part of the page about deep GCNs on Cora."""
    data = datasets.load("cora", loops="drop")
    rows = [_depth_row(data, depth, decay, epochs) for depth in DEPTHS for decay in DECAYS]
    for depth in DEPTHS:
        best = max((r for r in rows if r["layers"] == depth), key=lambda r: float(r["validation"].split()[0]))
        best["validation"] += ", best"
    text = DEPTH.format(epochs=epochs, seeds=len(SEEDS), **_constants(data))
    return f"## Depth: GCN on cora\n\n{text}\n{Table.from_records(rows).markdown()}\n"


def _constants(data: Any) -> dict[str, float]:
    """Return S of a constant signal, and the centred S of one propagation of it."""
    op, one = operator(data.graph, "sym", channel="high"), np.ones(data.graph.n_nodes)
    once = operator(data.graph, "renorm_sym") @ one
    return {"constant": float(s_value(op, one)), "propagated": float(s_value(op, once - once.mean()))}


def _depth_row(data: Any, depth: int, decay: float, epochs: int) -> dict[str, Any]:
    """Return medians and ranges over the seeds."""
    config = nn.TrainConfig(lr=0.01, weight_decay=decay, epochs=epochs, patience=epochs, monitor="score")
    found = []
    for seed in SEEDS:
        model = nn.build("gcn", data, seed=seed, layers=depth)
        scores = nn.train(model, data, _split(data), config).scores
        layer = nn.watch(model, data).record(0).layers[-1]
        numbers = (layer.s_value, layer.s_value_centred, layer.effective_rank, layer.mean_average_distance)
        found.append([scores["train"], scores["val"], scores["test"], *numbers])
    sys.stderr.write(f"gcn, {depth} layers, weight decay {decay}: trained\n")
    titles = ("training", "validation", "test", "S", "centred S", "effective rank", "mean average distance")
    columns = zip(titles, np.transpose(found), strict=True)
    return {"layers": depth, "weight decay": f"{decay:g}", **{title: _range(values) for title, values in columns}}


def introduction(argv: Sequence[str], epochs: int) -> str:
    """Return the head of the page: what it shows and what its figures depend on."""
    facts = environment()
    used = ", ".join(f"{name} {number}" for name, number in facts.pop("versions").items())
    command = shlex.join([*COMMAND.split(), *argv])
    return INTRODUCTION.format(epochs=epochs, command=command, versions=used, commit=head_commit(), **facts)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Train, audit and draw four models on four data sets.")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--depth-epochs", type=int, default=200)
    parser.add_argument("--datasets", nargs="*", default=DATASETS, metavar="NAME")
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    args = parser.parse_args(argv)
    parts = [introduction(sys.argv[1:] if argv is None else argv, args.epochs)]
    jobs = [partial(section, name, args.epochs, args.pictures) for name in args.datasets]
    jobs += [partial(spread_section, args.datasets[0], args.epochs), partial(depth_section, args.depth_epochs)]
    for job in jobs:
        parts.append(job())
        with atomic_write(args.output, mode="w") as file:  # after every part: an interrupted run leaves a whole page
            file.write("\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
