"""Figures from stored arrays: the course of the alphas and the embeddings of the channels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gsp_fb import plot
from gsp_fb._atomic import atomic_write
from gsp_fb._document import Figure
from gsp_fb._extras import has, require
from gsp_fb.plot.networks import draw_plane

from .cells import Cell
from .store import Store

__all__ = ["draw"]


def draw(store: Store, wanted: Iterable[Cell], folder: Path) -> dict[str, Figure]:
    """Draw the stored figures among the cells into ``folder`` as PNG; return them by the path of their cell.

    Without matplotlib nothing is drawn.
    """
    if not has("matplotlib"):
        return {}
    drawn = {}
    for cell in wanted:
        if cell.kind in _DRAWINGS and store.has(cell):
            path = folder / f"{cell.experiment}-{cell.protocol}-{cell.dataset}.png"
            folder.mkdir(parents=True, exist_ok=True)
            _save(_DRAWINGS[cell.kind], store.arrays(cell), cell, path)
            drawn[cell.path] = Figure(path, f"{cell.row.label} on {cell.dataset}")
    return drawn


def _save(drawing: Callable[[dict[str, Any], Any], Any], arrays: dict[str, Any], cell: Cell, path: Path) -> None:
    figures = require("matplotlib.figure", "drawing figures")
    figure = figures.Figure(figsize=(9.0, 3.2), layout="constrained")
    figure.suptitle(f"{cell.row.label} on {cell.dataset}")
    drawing(arrays, figure)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})


def _alphas(arrays: dict[str, Any], figure: Any) -> None:
    runs = [
        [
            {"epoch": k, "alpha_low_1": low, "alpha_high_1": high}
            for k, (low, high) in enumerate(zip(*course, strict=True), 1)
        ]
        for course in zip(arrays["low"], arrays["high"], strict=True)
    ]
    plot.alphas(runs, ax=figure.subplots())


def _tsne(arrays: dict[str, Any], figure: Any) -> None:
    parts: dict[str, Any] = {name: arrays[name] for name in ("low", "high", "combined") if name in arrays}
    draw_plane(parts, arrays["y"], figure.subplots(1, len(parts)))


# Kind of experiment -> how its arrays are drawn.
_DRAWINGS: Mapping[str, Callable[[dict[str, Any], Any], Any]] = {"alphas": _alphas, "tsne": _tsne}
