"""The figures of a report: rows of dots, steps over the frequency axis, lines over epochs, clouds of points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .marks import SHAPES, WIDTH, Chart, Frame, Mark, dot, line, shape, text

__all__ = ["N_COLOURS", "clouds", "dots", "lines", "steps"]

# Classes .c0 to .c6 of the style sheet: Okabe and Ito's colours.
N_COLOURS = 7
ROW = 22.0


def _colour(position: int) -> str:
    return f"c{position % N_COLOURS}"


def dots(
    title: str,
    rows: Mapping[str, Mapping[str, float]],
    *,
    xlabel: str,
    top: float,
    expected: Mapping[str, Mapping[str, float]] | None = None,
) -> Chart:
    """Return one row a name with a dot a series; ``expected`` draws a tick beside each dot.

    Examples
    --------
    >>> figure = dots("S", {"sym": {"labels": 0.5}}, xlabel="S", top=2.0)
    >>> [mark.style for mark in figure.marks if mark.tag == "circle"]
    ['dot c0']
    """
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


def steps(title: str, edges: Sequence[float], series: Mapping[str, Sequence[float]], *, ylabel: str) -> Chart:
    """Return the share in each band as a stair for each series.

    Examples
    --------
    >>> steps("profile", [0.0, 1.0, 2.0], {"labels": [0.75, 0.25]}, ylabel="share").legend
    ()
    """
    roof = max(max(values) for values in series.values()) * 1.08 or 1.0
    frame = Frame((edges[0], edges[-1]), (0.0, roof), 230.0)
    marks = frame.axes("frequency λ", ylabel)
    for k, values in enumerate(series.values()):
        stair = [(edges[0], 0.0)]
        for low, high, value in zip(edges, edges[1:], values, strict=False):
            stair += [(low, value), (high, value)]
        outline = frame.path([*stair, (edges[-1], 0.0)])
        marks.append(Mark("path", f"area {_colour(k)}", {"d": f"{outline}Z"}))
        marks.append(Mark("path", f"curve {_colour(k)}", {"d": outline}))
    legend = tuple((f"area {_colour(k)}", name) for k, name in enumerate(series)) if len(series) > 1 else ()
    return Chart(title, frame.height, tuple(marks), legend)


def lines(
    title: str,
    epochs: Sequence[float],
    series: Mapping[str, Sequence[float]],
    *,
    ylabel: str,
    top: float | None = None,
    chosen: int | None = None,
) -> Chart:
    """Return a curve for each series over the epochs, with a line at the chosen one.

    Examples
    --------
    >>> figure = lines("loss", [1, 2], {"train": [1.0, 0.5]}, ylabel="loss", chosen=2)
    >>> [mark.style for mark in figure.marks if mark.tag == "path"]
    ['curve c0']
    """
    finite = [value for values in series.values() for value in values if math.isfinite(value)]
    roof = top or max(finite, default=1.0) * 1.05 or 1.0
    last = max(epochs[-1], epochs[0] + 1)
    frame = Frame((epochs[0], last), (min([0.0, *finite]), roof), 210.0)
    marks = frame.axes("epoch", ylabel)
    if chosen is not None:
        marks.append(line("chosen", frame.across(chosen), frame.up(frame.y[0]), frame.across(chosen), frame.up(roof)))
    for k, values in enumerate(series.values()):
        points = [(a, b) for a, b in zip(epochs, values, strict=True) if math.isfinite(b)]
        if points:
            marks.append(Mark("path", f"curve {_colour(k)}", {"d": frame.path(points)}))
    legend = tuple((f"line {_colour(k)}", name) for k, name in enumerate(series))
    return Chart(title, frame.height, tuple(marks), legend)


def clouds(title: str, points: Sequence[tuple[float, float]], classes: Sequence[int]) -> Chart:
    """Return points coloured by class, without axes: the axes of an embedding have no unit.

    Examples
    --------
    >>> len(clouds("low", [(0.0, 0.0), (1.0, 1.0)], [0, 1]).marks)
    2
    """
    xs, ys = ([point[axis] for point in points] for axis in (0, 1))
    reach = max(max(xs) - min(xs), max(ys) - min(ys), 1e-12) * 0.53
    middle = ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
    spans = [(centre - reach, centre + reach) for centre in middle]
    frame = Frame(spans[0], spans[1], WIDTH, left=4.0, right=4.0, top=4.0, bottom=4.0)
    marks = [
        shape(f"point {_colour(label)}", frame.across(a), frame.up(b), label // N_COLOURS, f"class {label}")
        for (a, b), label in zip(points, classes, strict=True)
    ]
    shown = sorted(set(classes))
    legend = tuple((f"dot {_colour(label)} k{label // N_COLOURS % len(SHAPES)}", f"class {label}") for label in shown)
    return Chart(title, frame.height, tuple(marks), legend)
