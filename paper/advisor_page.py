"""The advisor's record as a section of the note on the control: its answers, intervals and calibration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gsp_fb._atomic import atomic_write
from gsp_fb._document import Block, Figure, Heading, Table, Text
from gsp_fb._extras import has, require
from gsp_fb.advice import ANSWERS

from .advisor import PACKAGED

__all__ = ["advisor_blocks"]


def advisor_blocks(folder: Path, packaged: Path = PACKAGED) -> list[Block]:
    """Return the section; ``folder`` takes its figure."""
    found = json.loads(packaged.read_text(encoding="utf-8"))["advisors"]
    own = found["features"]
    page: list[Block] = [Heading(2, "The advisor"), *map(Text, _sentences(own, found["labels"]))]
    if own["rows"]:
        rows = [
            [row["data set"], row["answer"], row["advice"], *(f"{row[name]:.2f}" for name in ANSWERS)]
            for row in own["rows"]
        ]
        page.append(Table(["data set", "training shows", "advice", *(f"P({name})" for name in ANSWERS)], rows))
    return [*page, *_calibration(own["calibration"], folder / "calibration.png")]


def _sentences(own: Mapping[str, Any], labels: Mapping[str, Any]) -> list[str]:
    record, counts = own["record"], own["generated"]
    shares = ", ".join(f"{name} on {counts[name]}" for name in ANSWERS)
    return [
        f"`gsp-fb advise` is a logistic regression of {', '.join(own['measures'])}, fitted on {record['generated']} "
        "generated graphs (contextual block models and GraphUniverse) on which the arms low, identity, low+high and "
        f"low+identity were trained: {shares}. The measures and the penalty are chosen by cross-validated log loss on "
        "the generated graphs alone. A gain of up to a point counts as none.",
        f"On generated graphs, each answered by an advisor that was chosen and fitted without it, "
        f"{_share(record, 'generated_right', 'generated', 'generated_')}. On the real data sets of the control, which "
        f"no advisor has seen, {_share(record, 'right', 'of', '')}; always answering '{record['common']}' is correct "
        f"on {record['common_right']}. Without features, from labels alone: "
        f"{_share(labels['record'], 'generated_right', 'generated', 'generated_')} and "
        f"{_share(labels['record'], 'right', 'of', '')}.",
    ]


def _share(record: Mapping[str, Any], right: str, of: str, prefix: str) -> str:
    if not record[of]:
        return "no answer is known yet"
    low, high = (record[f"{prefix}{end}"] for end in ("low", "high"))
    return f"{record[right]} of {record[of]} answers are correct (95 % interval {low:.2f} to {high:.2f})"


def _calibration(found: Sequence[Mapping[str, float]], path: Path) -> list[Block]:
    """Draw how often the advice is correct where it is given with a probability; nothing without matplotlib."""
    if not has("matplotlib"):
        return []
    figures = require("matplotlib.figure", "drawing figures")
    figure = figures.Figure(figsize=(4.5, 4.2), layout="constrained")
    ax = figure.subplots()
    for one in found:
        ax.plot([one["given"]] * 2, [one["low"], one["high"]], color="tab:blue")
        ax.plot([one["given"]], [one["right"]], "o", color="tab:blue")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    ax.set(xlabel="probability given by the advisor", ylabel="share of correct advice, 95 % interval")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    return [Figure(path, "Calibration of the advisor on generated graphs that it has not seen")]
