"""Audits of four models on four data sets, and of deep GCNs on Cora: ``python -m paper.audit``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb import datasets, nn
from gsp_fb._atomic import atomic_write
from gsp_fb._document import Table
from gsp_fb.plot import figure

from .store import environment, head_commit

__all__ = ["main"]

MODELS = ("gcn", "graphsage", "gat", "fb-gcn")
DATASETS = ("texas", "chameleon_filtered", "minesweeper", "cora")
DEPTHS, DECAYS, SEEDS = (2, 4, 8), (5e-4, 5e-5, 0.0), (0, 1, 2)
COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#0072B2")
PAGE, PICTURES = Path("docs/audit-figures.md"), Path("docs/_static")
COMMAND = "python -m paper.audit"
INTRODUCTION = """# Audits of four models on four data sets

Each model is trained on one split with the defaults of its row (at most {epochs} epochs, seed 0) and audited with
`gf.nn.audit`: 8 bands of the frequencies of `sym`, 16 probes a band. Gains are relative to the peak of each model;
"high / low" is the gain on the upper half of the axis over that on the lower half. S, centred S and effective rank are
those of the output. One split shows little about accuracy: see [the reproduction](reproduce.md) for that, and
[how to audit a network](howto-audit.md) for the method; terms are in the [glossary](glossary.md).

Written by `{command}` at commit {commit}, on {processor}, {threads} thread(s), with {versions}.
"""
DEPTH = """GCNs of 2, 4 and 8 layers on the public split: learning rate 0.01, dropout 0.5, {epochs} epochs, the epoch of
the best validation accuracy; medians over {seeds} seeds, of the test accuracy also the lowest and the highest. The
defaults of the row (learning rate 0.05, weight decay 5e-4) do not train eight layers. All settings of this command are
shown; the weight decay that validation prefers at each depth is marked.

Depth smooths whatever the weight decay: in networks that are trained, S and effective rank of the output fall together.
The weight decay decides whether eight layers are trained at all. At 5e-4 most are not (training accuracy); S and rank
are then those of an output without information, and the fall of the accuracy is not one of over-smoothing alone.
"""


def _split(data: Any) -> Any:
    return data.public_split if data.public_split is not None else data.splits[0]


def trained_audit(name: str, data: Any, epochs: int) -> nn.Audit:
    """Return the audit of a model trained on the first (or public) split; the accuracy is that of its test nodes."""
    config = nn.TrainConfig(**{**nn.MODELS[name].training, "epochs": epochs})
    model, split = nn.build(name, data, seed=0), _split(data)
    nn.train(model, data, split, config)
    sys.stderr.write(f"{name} on {data.name}: trained\n")
    return nn.audit(model, data, nodes=split.test, normalize=config.normalize)


def row(name: str, found: nn.Audit) -> dict[str, object]:
    """Return the figures of one audit."""
    response = found.response
    peak = float(np.nanmax(response.gain))
    # A network whose output no longer depends on its input has no shape of a response.
    upper = response.gain[len(response.gain) // 2 :] / (peak or np.nan)
    removed = {r.half: r for r in found.dependence if (r.where, r.action) == ("input", "removed")}
    return {
        "model": name,
        "test accuracy": found.accuracy,
        "high / low": response.high / (response.low or np.nan),
        "upper half, share of peak": f"{100 * np.nanmin(upper):.0f}–{100 * np.nanmax(upper):.0f} %" if peak else "–",
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
    audits = {model: trained_audit(model, data, epochs) for model in MODELS}
    file = f"audit-{name.replace('_', '-')}.png"
    draw(audits, name, pictures / file)
    verdicts = "\n".join(f"- `{model}`: {found.verdict}" for model, found in audits.items())
    table = Table.from_records([row(model, found) for model, found in audits.items()]).markdown()
    return f"## {name}\n\n![Gain per band on {name}](_static/{file})\n\n{table}\n\n{verdicts}\n"


def depth_section(epochs: int) -> str:
    """Return the part of the page about deep GCNs on Cora."""
    data = datasets.load("cora", loops="drop")
    rows = [_depth_row(data, depth, decay, epochs) for depth in DEPTHS for decay in DECAYS]
    for depth in DEPTHS:
        best = max((r for r in rows if r["layers"] == depth), key=lambda r: r["validation"])
        best["validation"] = f"{best['validation']:.4f} (best)"
    text = DEPTH.format(epochs=epochs, seeds=len(SEEDS))
    return f"## Depth: GCN on cora\n\n{text}\n{Table.from_records(rows).markdown()}\n"


def _depth_row(data: Any, depth: int, decay: float, epochs: int) -> dict[str, Any]:
    """Return medians over the seeds."""
    config = nn.TrainConfig(lr=0.01, weight_decay=decay, epochs=epochs, patience=epochs, monitor="score")
    found = []
    for seed in SEEDS:
        model = nn.build("gcn", data, seed=seed, layers=depth)
        scores = nn.train(model, data, _split(data), config).scores
        layer = nn.watch(model, data).record(0).layers[-1]
        numbers = (layer.s_value, layer.s_value_centred, layer.effective_rank, layer.mean_average_distance)
        found.append([scores["train"], scores["val"], scores["test"], *numbers])
    sys.stderr.write(f"gcn, {depth} layers, weight decay {decay}: trained\n")
    low, middle, high = np.quantile(found, (0.0, 0.5, 1.0), axis=0)
    titles = ("training", "validation", "test", "S", "centred S", "effective rank", "mean average distance")
    medians = dict(zip(titles, middle.tolist(), strict=True))
    accuracy = f"{middle[2]:.3f} ({low[2]:.3f}–{high[2]:.3f})"
    return {"layers": depth, "weight decay": f"{decay:g}", **medians, "test": accuracy}


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
    for name in (*args.datasets, None):
        parts.append(depth_section(args.depth_epochs) if name is None else section(name, args.epochs, args.pictures))
        with atomic_write(args.output, mode="w") as file:  # after every part: an interrupted run leaves a whole page
            file.write("\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
