"""Figures as lists of SVG marks: geometry in Python, colours in the style sheet, text escaped by the template."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .._document import Table

__all__ = ["SHAPES", "Chart", "Frame", "Section", "curves", "line", "nice_ticks", "steps"]

# Classes .c0 to .c6 of the style sheet: Okabe and Ito's colours.
N_COLOURS = 7
ROW = 22.0
# In units of the view box; the style sheet's text sizes belong to this width.
WIDTH = 400.0
# Outlines around the origin, 4 units wide: disc, square, triangle, diamond, cross.
SHAPES = ("", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M0-5.5L5.5 0L0 5.5L-5.5 0Z", "M-5-2H-2V-5H2V-2H5V2H2V5H-2V2H-5Z")

# Values by the name of their series, and one value a series by the name of their row.
Series = Mapping[str, Sequence[float]]
Rows = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Mark:
    """One SVG element: its tag, class, attributes and text."""

    tag: str
    style: str
    attributes: Mapping[str, Any]
    text: str = ""


@dataclass(frozen=True)
class Chart:
    """A drawing with a title, its size, its marks and a legend: pairs of class and name."""

    title: str
    height: float
    marks: tuple[Mark, ...]
    legend: tuple[tuple[str, str], ...] = ()
    width: float = WIDTH


@dataclass(frozen=True)
class Section:
    """One part of a report: what it means in words, figures, tables (``details`` folded away) and a note.

    ``half``: it does with half of a wide page.
    """

    anchor: str
    title: str
    reading: str = ""
    figures: tuple[Chart, ...] = ()
    table: Table | None = None
    details: Table | None = None
    note: str = ""
    half: bool = False


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about ``count`` round numbers between ``low`` and ``high``."""
    raw = (high - low) / max(count - 1, 1)
    unit = 10.0 ** math.floor(math.log10(raw))
    step = unit * next(round_ for round_ in (1.0, 2.0, 2.5, 5.0, 10.0) if unit * round_ >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Frame:
    """The plane between two axes: from numbers to places in the view box."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: float
    left: float = 58.0
    right: float = 12.0
    top: float = 8.0
    bottom: float = 38.0

    def across(self, value: float) -> float:
        """Return the horizontal place of ``value``, held inside the frame."""
        low, high = self.x
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.left + share * (WIDTH - self.left - self.right), 2)

    def up(self, value: float) -> float:
        """Return the vertical place of ``value``, held inside the frame."""
        low, high = self.y
        share = (min(max(value, low), high) - low) / (high - low)
        return round(self.height - self.bottom - share * (self.height - self.bottom - self.top), 2)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point."""
        return self.across(x), self.up(y)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """Return an SVG path through the points."""
        return "M" + "L".join(f"{self.across(a):g},{self.up(b):g}" for a, b in points)

    def axes(self, xlabel: str, ylabel: str, *, y_ticks: bool = True) -> list[Mark]:
        """Return grid lines, numbers and the names of both axes."""
        floor, roof = self.up(self.y[0]), self.up(self.y[1])
        columns, rows = nice_ticks(*self.x), nice_ticks(*self.y, count=4) if y_ticks else []
        marks = [line("grid", self.across(t), floor, self.across(t), roof) for t in columns]
        marks += [text("tick middle", self.across(t), floor + 15, _number(t)) for t in columns]
        marks += [line("grid", self.left, self.up(t), WIDTH - self.right, self.up(t)) for t in rows]
        marks += [text("tick end", self.left - 6, self.up(t) + 4, _number(t)) for t in rows]
        middle = (self.across(self.x[0]) + self.across(self.x[1])) / 2
        marks.append(text("axis middle", middle, self.height - 6, xlabel))
        if ylabel:
            turn = f"rotate(-90 11 {(floor + roof) / 2:g})"
            marks.append(Mark("text", "axis middle", {"x": 11, "y": (floor + roof) / 2, "transform": turn}, ylabel))
        return marks


def line(style: str, x1: float, y1: float, x2: float, y2: float) -> Mark:
    """Return a straight line."""
    return Mark("line", style, {"x1": x1, "y1": y1, "x2": x2, "y2": y2})


def text(style: str, x: float, y: float, words: str) -> Mark:
    """Return text at a place."""
    return Mark("text", style, {"x": round(x, 2), "y": round(y, 2)}, words)


def dot(style: str, x: float, y: float, radius: float, title: str = "") -> Mark:
    """Return a disc; its text is what a pointer at rest shows."""
    return Mark("circle", style, {"cx": round(x, 2), "cy": round(y, 2), "r": radius}, title)


def shape(style: str, x: float, y: float, kind: int, title: str = "") -> Mark:
    """Return a point as one of the outlines of ``SHAPES``."""
    outline = SHAPES[kind % len(SHAPES)]
    if not outline:
        return dot(style, x, y, 4, title)
    return Mark("path", style, {"d": outline, "transform": f"translate({round(x, 2):g} {round(y, 2):g})"}, title)


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _colour(position: int) -> str:
    return f"c{position % N_COLOURS}"


def dots(title: str, rows: Rows, *, xlabel: str, top: float, expected: Rows | None = None) -> Chart:
    """Return one row a name with a dot a series; ``expected`` draws a tick beside each dot."""
    low = min([0.0, *(value for row in rows.values() for value in row.values() if math.isfinite(value))])
    # The letters of a phone are 14 units high: 7.4 units a letter are enough for the longest name.
    room = max([96.0, *(12.0 + 7.4 * len(name) for name in rows)])
    frame = Frame((low, top), (0.0, 1.0), ROW * len(rows) + 46.0, left=room)
    series = list(dict.fromkeys(name for row in rows.values() for name in row))
    marks = frame.axes(xlabel, "", y_ticks=False)
    for k, (name, row) in enumerate(rows.items()):
        at = frame.top + ROW * (k + 0.5)
        marks += [line("rule", frame.left, at, WIDTH - frame.right, at), text("row end", frame.left - 8, at + 4, name)]
        for key, value in ((expected or {}).get(name) or {}).items():
            place = frame.across(value)
            marks.append(line(f"expected {_colour(series.index(key))}", place, at - 7, place, at + 7))
        for key, value in row.items():
            if math.isfinite(value):
                hint = f"{name}, {key}: {value:.4f}"
                marks.append(dot(f"dot {_colour(series.index(key))}", frame.across(value), at, 5, hint))
    legend = [(f"dot {_colour(k)}", name) for k, name in enumerate(series)] if len(series) > 1 or expected else []
    legend += [("expected", "random permutation")] if expected else []
    return Chart(title, frame.height, tuple(marks), tuple(legend))


def steps(title: str, edges: Sequence[float], series: Series, *, ylabel: str) -> Chart:
    """Return the share in each band as a stair for each series."""
    roof = max(max(values) for values in series.values()) * 1.08 or 1.0
    frame = Frame((edges[0], edges[-1]), (0.0, roof), 230.0)
    marks = frame.axes("frequency λ", ylabel)
    for k, values in enumerate(series.values()):
        stair = [(edges[0], 0.0)]
        for (low, high), value in zip(pairwise(edges), values, strict=True):
            stair += [(low, value), (high, value)]
        outline = frame.path([*stair, (edges[-1], 0.0)])
        marks.append(Mark("path", f"area {_colour(k)}", {"d": f"{outline}Z"}))
        marks.append(Mark("path", f"curve {_colour(k)}", {"d": outline}))
    legend = tuple((f"area {_colour(k)}", name) for k, name in enumerate(series)) if len(series) > 1 else ()
    return Chart(title, frame.height, tuple(marks), legend)


def lines(
    title: str, epochs: Sequence[float], series: Series, *, ylabel: str, top: float | None, chosen: int | None
) -> Chart:
    """Return a curve for each series over the epochs, with a line at the chosen one."""
    finite = [value for values in series.values() for value in values if math.isfinite(value)]
    roof = top or max(finite, default=1.0) * 1.05 or 1.0
    last = max(epochs[-1], epochs[0] + 1)
    frame = Frame((epochs[0], last), (min([0.0, *finite]), roof), 210.0)
    marks = frame.axes("epoch", ylabel)
    if chosen is not None:
        marks.append(line("chosen", *frame.at(chosen, frame.y[0]), *frame.at(chosen, roof)))
    return curves(title, frame, marks, epochs, series)


def curves(
    title: str, frame: Frame, marks: list[Mark], at: Sequence[float], series: Series, *, dotted: bool = False
) -> Chart:
    """Return a line for each series through its finite values; ``dotted``: with dots, the first series on top."""
    drawn = [(_colour(k), name, values) for k, (name, values) in enumerate(series.items())]
    for colour, name, values in reversed(drawn) if dotted else drawn:
        points = [(a, b) for a, b in zip(at, values, strict=True) if math.isfinite(b)]
        if points:
            marks.append(Mark("path", f"curve {colour}", {"d": frame.path(points)}))
        if dotted:
            marks += [dot(f"dot {colour}", *frame.at(a, b), 3, f"{name}: {b:.3g}") for a, b in points]
    return Chart(title, frame.height, tuple(marks), tuple((f"line {colour}", name) for colour, name, _ in drawn))


def clouds(title: str, points: Sequence[tuple[float, float]], classes: Sequence[int]) -> Chart:
    """Return points coloured by class, without axes: the axes of an embedding have no unit."""
    xs, ys = ([point[axis] for point in points] for axis in (0, 1))
    reach = max(max(xs) - min(xs), max(ys) - min(ys), 1e-12) * 0.53
    middle = ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
    spans = [(centre - reach, centre + reach) for centre in middle]
    frame = Frame(spans[0], spans[1], WIDTH, left=4.0, right=4.0, top=4.0, bottom=4.0)
    marks = [
        shape(f"point {_colour(label)}", *frame.at(a, b), label // N_COLOURS, f"class {label}")
        for (a, b), label in zip(points, classes, strict=True)
    ]
    shown = sorted(set(classes))
    legend = tuple((f"dot {_colour(label)} k{label // N_COLOURS % len(SHAPES)}", f"class {label}") for label in shown)
    return Chart(title, frame.height, tuple(marks), legend)
