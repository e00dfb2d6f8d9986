"""Tables, text and figures as data, written as plain text, Markdown or HTML.

The command line, the notebook representations, the report and the paper's page are all written here, so that a value is
formatted and escaped in one place.
"""

from __future__ import annotations

import base64
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from html import escape
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Table", "facts_html", "facts_text", "format_cell", "format_fact", "records", "to_html", "to_markdown"]
__all__ += ["Block", "Figure", "Heading", "Text", "typeset"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1a1a1a; background: #fff }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0 }
th, td { padding: .25rem .6rem; text-align: left; border-bottom: 1px solid #ccc; white-space: nowrap }
.number { text-align: right }
img { max-width: 100%; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616 } th, td { border-color: #444 } }
"""
# Notebooks bring their own colours and fonts, so that a table is readable in dark mode too.
_NOTEBOOK_CELL = 'style="text-align:left;padding:0 1em 0 0;border:0"'
_CODE = re.compile("`([^`]+)`")
# In this order: escaped plain characters of a formula, and what they stand for.
_SYMBOLS = (
    ("&lt;=", "≤"),
    ("&gt;=", "≥"),
    (r"\blambda(?=\b|_)", "λ"),
    (r"\bgamma\b", "γ"),
    (r"\bA\^(?=_)", "Â"),
    (r"\bsum(?=_)", "Σ"),
    (r"_(\w+)", r"<sub>\1</sub>"),
    (r"\^(-?\d+(?:/\d+)?)", r"<sup>\1</sup>"),
    (r"(?<=[\w>])&#x27;", "<sup>T</sup>"),
)
_NUMBER = re.compile(r"[-+−<]?\s*\d")
_NO_NUMBERS = {"", "·", "exact"}
# What Markdown takes for markup; "_" only at the edge of a word and "<" only where a tag could begin.
_MARKUP = re.compile(r"[\\`*\[\]>|#]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])")
# Cells longer than this may wrap in a narrow page.
_LONG_CELL = 40


def format_cell(value: Any, *, absent: str = "-") -> str:
    """Return a value as a table shows it: four decimals where they are readable, three digits elsewhere.

    >>> [format_cell(value) for value in (0.25, 1e-9, -0.0, float("nan"), True, None, 12)]
    ['0.2500', '1e-09', '0.0000', '–', 'yes', '-', '12']
    """
    if value is None:
        return absent
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "–"
    # Adding 0 makes a negative zero a plain one.
    return f"{value + 0.0:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"


def plain(value: Any) -> Any:
    """Return dataclasses, mappings, sequences and numbers as JSON has them; a number that is not finite is None.

    >>> plain({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def records(rows: Iterable[Any], titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the attributes of every row under the titles of a table: ``{title: attribute}``."""
    return [{title: getattr(row, name) for title, name in titles.items()} for row in rows]


def format_fact(value: object) -> str:
    """Return a single value with all its digits that matter: counts in groups of three, six figures for the rest.

    >>> [format_fact(value) for value in (1234567, 0.1 + 0.2, True)]
    ['1 234 567', '0.3', 'yes']
    """
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}".replace(",", " ")
    if isinstance(value, Real):
        return f"{float(value):.6g}"
    return str(value)


def typeset(formula: str) -> str:
    """Return a formula in plain characters as HTML with subscripts, superscripts and symbols.

    >>> typeset("0 <= lambda(L_sym) <= 2, x'Lx = sum_i u_i^2")
    '0 ≤ λ(L<sub>sym</sub>) ≤ 2, x<sup>T</sup>Lx = Σ<sub>i</sub> u<sub>i</sub><sup>2</sup>'
    """
    text = escape(formula)
    for pattern, symbol in _SYMBOLS:
        text = re.sub(pattern, symbol, text)
    return text


def facts_html(title: str, facts: Mapping[str, object]) -> str:
    """Return named values as the HTML table of a notebook; values that are None are left out."""
    rows = (
        f'<tr><th scope="row" {_NOTEBOOK_CELL}>{escape(name)}</th>'
        f"<td {_NOTEBOOK_CELL}>{escape(format_fact(value))}</td></tr>\n"
        for name, value in facts.items()
        if value is not None
    )
    caption = f'<caption style="text-align:left"><b>{escape(title)}</b></caption>'
    return f'<table style="border:0">{caption}\n{"".join(rows)}</table>'


def facts_text(facts: Mapping[str, Any], *, width: int) -> str:
    """Return named values, one a line, at most ``width`` characters wide.

    >>> print(facts_text({"nodes": 12, "S": 0.25}, width=80))
    nodes  12
    S      0.2500
    """
    names = max(map(len, facts), default=0)
    return "\n".join(_fit(f"{name.ljust(names)}  {format_cell(value)}", width) for name, value in facts.items())


@dataclass(frozen=True)
class Heading:
    """A heading; the page's title has level 1."""

    level: int
    text: str

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown."""
        return f"{'#' * self.level} {_literal(self.text)}"

    def html(self) -> str:
        """Return it as HTML."""
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Text:
    """A paragraph. Words in backticks are code, unless ``literal``: text that may hold names from the data."""

    text: str
    literal: bool = False
    emphasis: bool = False

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown."""
        text = _literal(self.text) if self.literal else self.text
        return f"*{text}*" if self.emphasis else text

    def html(self) -> str:
        """Return it as HTML."""
        text = escape(self.text)
        text = text if self.literal else _CODE.sub(r"<code>\1</code>", text)
        return f"<p><em>{text}</em></p>" if self.emphasis else f"<p>{text}</p>"


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; ``numeric`` columns are aligned to the right (by default those that look it).

    The cells of the column ``math`` are formulas, which HTML shows with subscripts and symbols.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Sequence[bool] = ()
    math: str = ""

    def __post_init__(self) -> None:
        if not self.numeric:
            columns = [{row[k] for row in self.rows} - _NO_NUMBERS for k in range(len(self.header))]
            found = tuple(bool(column) and all(map(_NUMBER.match, column)) for column in columns)
            object.__setattr__(self, "numeric", found)

    @classmethod
    def from_records(cls, records: Sequence[Mapping[str, Any]], *, absent: str = "-", math: str = "") -> Table:
        """Return the table of mappings with equal keys, values formatted by :func:`format_cell`."""
        names = list(records[0]) if records else []
        rows = [[format_cell(record[name], absent=absent) for name in names] for record in records]
        return cls(names, rows, [all(_is_number(record[name]) for record in records) for name in names], math)

    def text(self, *, width: int) -> str:
        """Return aligned lines of at most ``width`` characters.

        Where the table is wider, titles of numbers have a word a line; then the widest text column is cut.

        >>> print(Table.from_records([{"name": "ring", "nodes": 12, "S": 0.25}]).text(width=80))
        name  nodes       S
        ring     12  0.2500
        """
        titles, room = [self.header], width - 2 * (len(self.header) - 1)
        widths = self._widths(titles)
        if sum(widths) > room:
            words = [name.split() if number else [name] for name, number in zip(self.header, self.numeric, strict=True)]
            depth = max(map(len, words))
            titles = list(zip(*([""] * (depth - len(some)) + some for some in words), strict=True))
            widths = self._widths(titles)
        excess = sum(widths) - room
        if excess > 0:
            texts = [k for k, number in enumerate(self.numeric) if not number]
            widest = max(texts or [0], key=widths.__getitem__)
            widths[widest] = max(8, widths[widest] - excess)
        return "\n".join(self._line(row, widths) for row in [*titles, *self.rows])

    def _widths(self, titles: Sequence[Sequence[str]]) -> list[int]:
        return [max(map(len, column)) for column in zip(*titles, *self.rows, strict=True)]

    def markdown(self, folder: Path | None = None) -> str:
        """Return it as Markdown; numbers to the right, words to the left."""
        rule = " | ".join("---:" if number else "---" for number in self.numeric)
        head, *body = (" | ".join(map(_literal, row)) for row in [self.header, *self.rows])
        return "\n".join(f"| {line} |" for line in (head, rule, *body))

    def html(self) -> str:
        """Return it as HTML."""
        titles = zip(self.header, self.numeric, strict=True)
        head = "".join(f'<th scope="col"{_class(number)}>{escape(name)}</th>' for name, number in titles)
        body = "".join(f"<tr>{self._cells(row)}</tr>\n" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"

    def _cells(self, row: Sequence[str]) -> str:
        cells = zip(self.header, self.numeric, row, strict=True)
        return "".join(
            f"<td{_class(number, cell)}>{typeset(cell) if name == self.math else escape(cell)}</td>"
            for name, number, cell in cells
        )

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = zip(row, widths, self.numeric, strict=True)
        fitted = (f"{_fit(cell, width):{'>' if number else '<'}{width}}" for cell, width, number in cells)
        return "  ".join(fitted).rstrip()


@dataclass(frozen=True)
class Figure:
    """A stored PNG file with its alternative text."""

    path: Path
    text: str

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown, its path relative to ``folder``."""
        return f"![{self.text}]({Path(os.path.relpath(self.path, folder)).as_posix()})"

    def html(self) -> str:
        """Return it as HTML with the picture embedded."""
        data = base64.b64encode(self.path.read_bytes()).decode()
        return f'<figure><img alt="{escape(self.text)}" src="data:image/png;base64,{data}"></figure>'


Block = Heading | Text | Table | Figure


def to_markdown(blocks: Iterable[Block], folder: Path) -> str:
    """Return the page as Markdown for a file in ``folder``."""
    return "\n\n".join(block.markdown(folder) for block in blocks) + "\n"


def to_html(title: str, blocks: Iterable[Block]) -> str:
    """Return the page as one self-contained HTML file."""
    body = "\n".join(block.html() for block in blocks)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _class(number: bool, cell: str = "") -> str:
    return ' class="number"' if number else ' class="long"' if len(cell) > _LONG_CELL else ""


def _literal(text: str) -> str:
    """Return text on one line with Markdown's markup escaped."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(str(text).split()))
