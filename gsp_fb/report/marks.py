"""Figures as lists of SVG marks: geometry in Python, colours in the style sheet, text escaped by the template."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["SHAPES", "WIDTH", "Chart", "Frame", "Mark", "dot", "line", "nice_ticks", "shape", "text"]

# In units of the view box; the style sheet's text sizes belong to this width.
WIDTH = 400.0
# Outlines around the origin, 4 units wide: disc, square, triangle, diamond, cross.
SHAPES = ("", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M0-5.5L5.5 0L0 5.5L-5.5 0Z", "M-5-2H-2V-5H2V-2H5V2H2V5H-2V2H-5Z")


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


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about ``count`` round numbers between ``low`` and ``high``.

    Examples
    --------
    >>> nice_ticks(0.0, 2.0)
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
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
