"""The drawn part of a graph with its signals, the responses of the spectral view, and what the page's script reads.

The part is the whole graph, or a neighbourhood if it is too large to filter live.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._document import format_fact
from ..backend import FloatArray, IntArray
from ..filters import Kernel
from ..filters.kernels import heat
from ..graph import Graph
from ..plot.layouts import positions
from ..variants import VARIANTS
from .facts import Drawing
from .signals import Signals

__all__ = ["LIVE_ENTRIES", "LIVE_NODES", "RESPONSES", "make_drawing", "neighbourhood", "pack", "payload", "view_end"]

# Standard deviation of the band-pass as a share of the axis.
WIDTH = 0.06


@dataclass(frozen=True)
class ViewResponse:
    """One response: its slider (``log``: the slider holds the decimal logarithm) and its kernel.

    ``slider``: low end, high end, step and start. ``make`` takes the parameter and the end of the frequency axis.
    """

    title: str
    formula: str
    parameter: str
    slider: tuple[float, float, float, float]
    ends: tuple[str, str]
    make: Callable[[float, float], Kernel]
    log: bool = False

    @property
    def value(self) -> float:
        """The parameter at which the slider starts."""
        return 10.0 ** self.slider[3] if self.log else self.slider[3]

    def script(self, name: str) -> dict[str, Any]:
        """Return what the page's script needs."""
        texts = {"name": name, "title": self.title, "formula": self.formula, "parameter": self.parameter}
        slider = dict(zip(("low", "high", "step", "start"), self.slider, strict=True))
        return {**texts, **slider, "ends": self.ends, "log": self.log}


def _pair(t: float, top: float) -> Kernel:
    formula, rational = r"(1-t)(1-\lambda) + t\lambda", ((1 - t, 2 * t - 1), (1.0,))
    return Kernel(partial(_mixed, t), f"pair({t:g})", formula, rational=rational)


def _mixed(t: float, frequency: FloatArray) -> FloatArray:
    return (1 - t) * (1 - frequency) + t * frequency


def _band(center: float, top: float) -> Kernel:
    shape = partial(_gaussian, center * top, WIDTH * top)
    return Kernel(shape, f"band({center * top:g})", r"e^{-(\lambda - c)^2/2w^2}")


def _gaussian(center: float, width: float, frequency: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * ((frequency - center) / width) ** 2))


def _wavelet(peak: float, top: float) -> Kernel:
    return Kernel(partial(_hat, peak * top), f"wavelet({peak * top:g})", r"s\lambda e^{-s\lambda}")


def _hat(peak: float, frequency: FloatArray) -> FloatArray:
    return np.asarray(frequency / peak * np.exp(-frequency / peak))


RESPONSES = {
    "pair": ViewResponse(
        "low to high pair",
        "h(λ) = (1 − t)(1 − λ) + t λ",
        "low to high, t",
        (0.0, 1.0, 0.01, 0.0),
        ("low", "high"),
        _pair,
    ),
    "heat": ViewResponse(
        "heat diffusion",
        "h(λ) = exp(−τ λ)",
        "diffusion time, τ",
        (-1.0, 2.0, 0.02, 0.5),
        ("0.1", "100"),
        lambda tau, top: heat(tau),
        log=True,
    ),
    "band": ViewResponse(
        "band-pass",
        "h(λ) = exp(−(λ − c)² / 2w²), w = 6 % of the axis",
        "centre c, share of the axis",
        (0.0, 1.0, 0.01, 0.5),
        ("0", "end"),
        _band,
    ),
    "wavelet": ViewResponse(
        "Mexican hat wavelet",
        "h(λ) = s λ exp(−s λ), peak at 1/s",
        "peak 1/s, share of the axis",
        (-1.7, 0.0, 0.02, -0.6),
        ("0.02", "1"),
        _wavelet,
        log=True,
    ),
}


def view_end(norm: str, degrees: FloatArray) -> float:
    """Return the end of the frequency axis of the view: 2 for a normalised family, else twice the largest degree."""
    return 2.0 if norm != "none" else 2.0 * float(degrees.max(initial=0.0)) or 2.0


# What a phone still filters between two frames, and what keeps the file small.
LIVE_NODES = 5000
LIVE_ENTRIES = 160_000
SAMPLE_NODES = 600
NAME_LENGTH = 80
# Columns of the node table that a tool-tip shows.
COLUMNS = 6


def make_drawing(graph: Graph, signals: Signals, rng: np.random.Generator) -> Drawing:
    """Return positions, structure and signals of the nodes that are drawn."""
    real = graph.weights is None or not np.iscomplexobj(graph.weights)
    live = real and graph.n_nodes <= LIVE_NODES and len(graph.indices) <= LIVE_ENTRIES
    nodes = np.arange(graph.n_nodes) if live else neighbourhood(graph, SAMPLE_NODES)
    part = graph if live else Graph.from_adjacency(graph.adjacency[nodes][:, nodes], directed=graph.directed)
    own = graph.coordinates is not None
    at = positions(graph)[nodes] if own else positions(part, "communities", rng=rng)
    table = graph.nodes.take(nodes)
    return Drawing(
        nodes=nodes,
        positions=_framed(at * [1.0, -1.0], keep_shape=own),  # a page counts downwards
        indptr=part.indptr,
        indices=part.indices,
        weights=part.weights,
        signals={title: values[nodes] for title, values in signals.drawn.items()},
        names=[str(node if graph.labels is None else graph.labels[node])[:NAME_LENGTH] for node in nodes],
        live=live,
        directed=graph.directed,
        classes=None if signals.classes is None else signals.classes[nodes],
        class_names=tuple(name[:NAME_LENGTH] for name in signals.class_names),
        columns={name: [_cell(value) for value in table[name].tolist()] for name in list(table)[:COLUMNS]},
        keep_shape=own,
    )


def _cell(value: Any) -> str | None:
    """Return a cell of the node table as text; None where it is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return format_fact(value)[:NAME_LENGTH]


def neighbourhood(graph: Graph, size: int) -> IntArray:
    """Return up to ``size`` nodes around the node of largest degree, in breadth-first order, in ascending order."""
    found = np.array([int(np.argmax(graph.degrees))])
    seen = np.zeros(graph.n_nodes, dtype=bool)
    ring = found
    while ring.size and found.size < size:
        seen[ring] = True
        spans = [graph.indices[graph.indptr[node] : graph.indptr[node + 1]] for node in ring]
        ring = np.unique(np.concatenate(spans))
        ring = ring[~seen[ring]][: size - found.size]
        found = np.concatenate([found, ring])
    return np.sort(found)


def _framed(at: FloatArray, *, keep_shape: bool) -> FloatArray:
    """Return the coordinates scaled to the unit square with a small margin; both axes alike to keep the shape."""
    low, high = at.min(axis=0), at.max(axis=0)
    span = np.full(2, (high - low).max()) if keep_shape else high - low
    span = np.where(span > 0, span, 1.0)
    return np.asarray(0.5 + 0.96 * (at - (low + high) / 2) / span)


def pack(array: Any, kind: str) -> dict[str, str]:
    """Return an array as base64 of its little-endian bytes, for a typed array of JavaScript.

    >>> pack([1, 2], "u4")
    {'kind': 'u4', 'base64': 'AQAAAAIAAAA='}
    """
    content = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    return {"kind": kind, "base64": base64.b64encode(content).decode()}


def payload(drawing: Drawing, family: str) -> dict[str, Any]:
    """Return what the spectral view reads: the drawing with its signals, and the tables of variants and responses."""
    families = [
        {"name": name, "title": f"{name}: {row.title}", "loops": row.loops, "norm": row.norm}
        for name, row in VARIANTS.items()
    ]
    offered = {name: row for name, row in RESPONSES.items() if name == "pair" or not drawing.directed}
    return {
        "live": drawing.live,
        "directed": drawing.directed,
        "family": family,
        "families": families,
        "responses": [row.script(name) for name, row in offered.items()],
        "names": drawing.names,
        "positions": pack(drawing.positions, "f4"),
        "keep_shape": drawing.keep_shape,
        "indptr": pack(drawing.indptr, "u4"),
        "indices": pack(drawing.indices, "u4"),
        "weights": None if drawing.weights is None else pack(drawing.weights, "f8"),
        "signals": [{"title": title, "values": pack(values, "f8")} for title, values in drawing.signals.items()],
        # An unlabelled node is -1, the largest number without a sign.
        "classes": None if drawing.classes is None else pack(drawing.classes.astype(np.int32).view(np.uint32), "u4"),
        "class_names": list(drawing.class_names),
        "columns": [{"title": title, "values": values} for title, values in drawing.columns.items()],
    }
