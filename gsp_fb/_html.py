"""How objects look in a notebook: a compact table, every value escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from numbers import Integral, Real

import numpy as np

__all__ = ["table"]

CELL = 'style="text-align:left;padding:0 1em 0 0;border:0"'


def table(title: str, facts: Mapping[str, object]) -> str:
    """Return facts as an HTML table under a title; what is None is left out.

    Colours and fonts are the notebook's own, so that it reads in dark mode too.

    Parameters
    ----------
    title : str
    facts : mapping from what is told to its value

    Examples
    --------
    >>> print(table("Graph <g>", {"nodes": 12345, "name": None}))
    <table style="border:0"><caption style="text-align:left"><b>Graph &lt;g&gt;</b></caption>
    <tr><th scope="row" style="...">nodes</th><td style="...">12 345</td></tr>
    </table>
    """
    rows = (
        f'<tr><th scope="row" {CELL}>{escape(name)}</th><td {CELL}>{escape(_shown(value))}</td></tr>\n'
        for name, value in facts.items()
        if value is not None
    )
    caption = f'<caption style="text-align:left"><b>{escape(title)}</b></caption>'
    return f'<table style="border:0">{caption}\n{"".join(rows)}</table>'


def _shown(value: object) -> str:
    """Return numbers in short: thin groups of digits for counts, six figures for the rest."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}".replace(",", " ")
    if isinstance(value, Real):
        return f"{float(value):.6g}"
    return str(value)
