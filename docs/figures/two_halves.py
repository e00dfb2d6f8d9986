"""Draw docs/_static/two-halves.png: a signal on the karate club, its low half and its high half.

Run with ``python docs/figures/two_halves.py [FILE]``; a file that ends in ``-tall.png`` has the three graphs one below
the other, for narrow screens.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import networkx as nx
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import gsp_fb as gf
from gsp_fb import plot

TARGET = Path(__file__).parents[1] / "_static" / "two-halves.png"
FAMILY = "renorm_rw"
EXCEPTIONS = [10, 15, 22, 26]
INK, LOW, CROSS, HIGH = "#222222", "#00795A", "#5F5F5F", "#B87A00"
WORDS = {
    "a signal": "two camps, red +1 and blue −1,\nand four who differ from all around them",
    "low half": "each node with its neighbours averaged:\nwhat a graph network keeps",
    "high half": "how each node differs from that average:\nwhat it throws away",
}


Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Form:
    """Size and places of the parts, in shares of the figure: three graphs, two signs, the bar and its name."""

    size: tuple[float, float]
    graphs: tuple[Box, Box, Box]
    signs: tuple[tuple[float, float], tuple[float, float]]
    bar: Box
    energy: tuple[float, float]
    between: str = " "
    letters: int = 13


WIDE = Form(
    (12, 4.8),
    ((0.015, 0.325, 0.29, 0.59), (0.355, 0.325, 0.29, 0.59), (0.695, 0.325, 0.29, 0.59)),
    ((0.331, 0.6), (0.671, 0.6)),
    (0.085, 0.035, 0.9, 0.085),
    (0.015, 0.0775),
)
TALL = Form(
    (5, 12),
    ((0.12, 0.76, 0.76, 0.205), (0.12, 0.45, 0.76, 0.205), (0.12, 0.14, 0.76, 0.205)),
    ((0.09, 0.86 - 0.31), (0.09, 0.86 - 0.62)),
    (0.03, 0.012, 0.94, 0.045),
    (0.03, 0.07),
    "\n",
    11,
)


def karate_signal() -> tuple[gf.Graph, np.ndarray]:
    """Return the karate club and +1 or -1 for the side each member took, turned round for four of them."""
    club = nx.karate_club_graph()
    x = np.array([1.0 if side == "Mr. Hi" else -1.0 for _, side in club.nodes(data="club")])
    x[EXCEPTIONS] *= -1
    return gf.from_networkx(club, weight=None), x


def draw_graphs(figure: Figure, form: Form, graph: gf.Graph, x: np.ndarray) -> None:
    """Draw signal = low + high in one scale of colours, with a sentence under each."""
    low, high = gf.FilterBank.two_channel(graph, FAMILY).analyze(x)
    axes = [figure.add_axes(box) for box in form.graphs]
    places = plot.positions(graph, "spring") * (1.25, 1.0)
    for ax, part, (title, words), colour in zip(axes, (x, low, high), WORDS.items(), (INK, LOW, HIGH), strict=True):
        plot.signal(graph, part, layout=places, scale="signed", node_size=95, colorbar=False, ax=ax)
        ax.collections[1].set_clim(-1.35, 1.35)
        ax.set_title(title, fontsize=17, fontweight="bold", color=colour)
        ax.text(0.5, -0.04, words, transform=ax.transAxes, ha="center", va="top", fontsize=12, color=INK)
    for (left, up), sign in zip(form.signs, "=+", strict=True):
        figure.text(left, up, sign, fontsize=30, ha="center", va="center", color=INK)


def energy_shares(graph: gf.Graph, x: np.ndarray) -> dict[str, float]:
    """Return the energy of the low half, of the high half and of their cross term, relative to that of the signal.

    ``|low + high|^2 = |low|^2 + 2 <low, high> + |high|^2`` in the inner product of the operator, weighted by degrees:
    the two halves are not orthogonal.
    """
    bank = gf.FilterBank.two_channel(graph, FAMILY)
    low, high = (bank.low.scale * half for half in bank.analyze(x))
    total = (low + high) @ (low + high)
    return {"low": low @ low / total, "cross term": 2 * low @ high / total, "high": high @ high / total}


def draw_energies(figure: Figure, form: Form, graph: gf.Graph, x: np.ndarray) -> None:
    """Draw the energy of the signal as one bar: both halves as drawn above, and their cross term between them."""
    ax = figure.add_axes(form.bar)
    left = 0.0
    for (name, width), colour in zip(energy_shares(graph, x).items(), (LOW, CROSS, HIGH), strict=True):
        ax.barh(0, width, left=left, height=1.0, color=colour)
        ax.text(
            left + width / 2,
            0,
            f"{name}{form.between}{width:.1%}",
            ha="center",
            va="center",
            color="white",
            fontsize=13,
        )
        left += width
    ax.set(xlim=(0, 1), ylim=(-0.5, 0.5))
    ax.axis("off")
    figure.text(*form.energy, "energy", ha="left", va="center", fontsize=13, color=INK)


def main(target: Path = TARGET) -> None:
    """Draw the figure and write it."""
    graph, x = karate_signal()
    form = TALL if target.stem.endswith("-tall") else WIDE
    figure = Figure(figsize=form.size, facecolor="white")
    draw_graphs(figure, form, graph, x)
    draw_energies(figure, form, graph, x)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=130)
    # 256 colours are all the picture has, at a third of the size.
    Image.open(drawn).convert("RGB").quantize(256).save(target, optimize=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
