"""Audits of four models on four data sets, and of deep GCNs on Cora: ``python -m paper.audit``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb import datasets, nn
from gsp_fb._atomic import atomic_write
from gsp_fb.plot import figure

__all__ = ["main"]

MODELS = ("gcn", "graphsage", "gat", "fb-gcn")
DATASETS = ("texas", "chameleon_filtered", "minesweeper", "cora")
DEPTHS = (2, 4, 8)
COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#0072B2")
PAGE, PICTURES = Path("docs/audit-figures.md"), Path("docs/_static")
COMMAND = "python -m paper.audit"
INTRODUCTION = f"""# Audits of four models on four data sets

Each model is trained on one split with the defaults of its row (at most {{epochs}} epochs, seed 0) and audited with
`gf.nn.audit`: 8 bands of the frequencies of `sym`, 16 probes a band. Gains are relative to the peak of each model;
"high / low" is the gain on the upper half of the axis over that on the lower half. This page is written by
`{COMMAND}`. One split says little about accuracy: see [the reproduction](reproduce.md) for that, and
[how to audit a network](howto-audit.md) for the method; terms are in the [glossary](glossary.md).
"""


UNTRAINED = (
    "A row near chance (1/7) is a network that these epochs did not train: it shows no over-smoothing, `--epochs` does."
)


def _split(data: Any) -> Any:
    return data.public_split if data.public_split is not None else data.splits[0]


def trained_audit(name: str, data: Any, epochs: int, **options: Any) -> nn.Audit:
    """Return the audit of a model trained on the first (or public) split; the accuracy is that of its test nodes."""
    config = nn.TrainConfig(**{**nn.MODELS[name].training, "epochs": epochs})
    model, split = nn.build(name, data, seed=0, **options), _split(data)
    nn.train(model, data, split, config)
    sys.stderr.write(f"{name} {options or ''} on {data.name}: trained\n")
    return nn.audit(model, data, nodes=split.test, normalize=config.normalize)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a Markdown table.

    Examples
    --------
    >>> print(table([{"model": "gcn", "S": 0.25}]))
    | model | S |
    |---|---|
    | gcn | 0.250 |
    """
    lines = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    text = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([text[0], f"|{'---|' * len(rows[0])}", *text[1:]])


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
    rows = [row(model, found) for model, found in audits.items()]
    return f"## {name}\n\n![Gain per band on {name}](_static/{file})\n\n{table(rows)}\n\n{verdicts}\n"


def depth_section(epochs: int) -> str:
    """Return the part of the page about deep GCNs on Cora."""
    data = datasets.load("cora", loops="drop")
    rows = [row(f"gcn, {depth} layers", trained_audit("gcn", data, epochs, layers=depth)) for depth in DEPTHS]
    return f"## Depth: GCN on cora\n\n{table(rows)}\n\n{UNTRAINED}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Train, audit and draw four models on four data sets.")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--datasets", nargs="*", default=DATASETS, metavar="NAME")
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    parser.add_argument("--pictures", type=Path, default=PICTURES)
    args = parser.parse_args(argv)
    parts = [INTRODUCTION.format(epochs=args.epochs)]
    for name in (*args.datasets, None):
        parts.append(depth_section(args.epochs) if name is None else section(name, args.epochs, args.pictures))
        with atomic_write(args.output, mode="w") as file:  # after every part: an interrupted run leaves a whole page
            file.write("\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
