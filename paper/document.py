"""A page as data: headings, paragraphs, tables and figures, written as Markdown or as one self-contained HTML file."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

__all__ = ["Block", "Figure", "Heading", "Table", "Text", "to_html", "to_markdown"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1a1a1a; background: #fff }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0 }
th, td { padding: .25rem .6rem; text-align: left; border-bottom: 1px solid #ccc; white-space: nowrap }
.number { text-align: right }
img { max-width: 100%; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616 } th, td { border-color: #444 } }
"""
_CODE = re.compile("`([^`]+)`")
_NUMBER = re.compile(r"[-+−<]?\s*\d")
_NO_NUMBERS = {"", "·", "exact"}


@dataclass(frozen=True)
class Heading:
    """A heading; the page's title has level 1."""

    level: int
    text: str

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        """Return it as HTML."""
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Text:
    """A paragraph; what stands in backticks is code."""

    text: str

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown."""
        return self.text

    def html(self) -> str:
        """Return it as HTML."""
        return "<p>" + _CODE.sub(r"<code>\1</code>", escape(self.text)) + "</p>"


@dataclass(frozen=True)
class Table:
    """Rows of text under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers, besides marks for those that are not there."""
        columns = [{row[k] for row in self.rows} - _NO_NUMBERS for k in range(len(self.header))]
        return [bool(column) and all(map(_NUMBER.match, column)) for column in columns]

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown; numbers to the right, words to the left."""
        lines = [self.header, ["---:" if number else "---" for number in self.numeric], *self.rows]
        return "\n".join("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)

    def html(self) -> str:
        """Return it as HTML."""
        classes = [' class="number"' if number else "" for number in self.numeric]
        head = _cells('th scope="col"', classes, self.header)
        body = "".join(f"<tr>{_cells('td', classes, row)}</tr>\n" for row in self.rows)
        return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Figure:
    """A stored PNG file with the text that stands in for it."""

    path: Path
    text: str

    def markdown(self, folder: Path) -> str:
        """Return it as Markdown, its path seen from ``folder``."""
        return f"![{self.text}]({Path(os.path.relpath(self.path, folder)).as_posix()})"

    def html(self) -> str:
        """Return it as HTML, the picture inside the page."""
        data = base64.b64encode(self.path.read_bytes()).decode()
        return f'<figure><img alt="{escape(self.text)}" src="data:image/png;base64,{data}"></figure>'


def _cells(tag: str, classes: Sequence[str], row: Sequence[str]) -> str:
    pairs = zip(classes, row, strict=True)
    return "".join(f"<{tag}{style}>{escape(cell)}</{tag.split(maxsplit=1)[0]}>" for style, cell in pairs)


def _escaped(cell: str) -> str:
    """Return a cell with what Markdown would take for markup made plain."""
    return cell.replace("|", "\\|").replace("*", "\\*")


Block = Heading | Text | Table | Figure


def to_markdown(blocks: Iterable[Block], folder: Path) -> str:
    """Return the page as Markdown that will stand in ``folder``.

    Examples
    --------
    >>> print(to_markdown([Heading(1, "A"), Table(["x", "y"], [["a", "1"]])], Path()))
    # A
    <BLANKLINE>
    | x | y |
    | --- | ---: |
    | a | 1 |
    <BLANKLINE>
    """
    return "\n\n".join(block.markdown(folder) for block in blocks) + "\n"


def to_html(title: str, blocks: Iterable[Block]) -> str:
    """Return the page as one HTML file that needs nothing else.

    Examples
    --------
    >>> "<h1>A &lt; B</h1>" in to_html("A", [Heading(1, "A < B")])
    True
    """
    body = "\n".join(block.html() for block in blocks)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
