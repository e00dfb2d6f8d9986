"""An audit as one HTML file without scripts or links: verdict, pictures, tables."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ...plot import figure
from .drawing import draw_depth, draw_mixing, draw_response
from .record import Audit

__all__ = ["audit_page", "dependence_rows", "layer_rows", "response_rows"]

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.15rem .8rem .15rem 0;text-align:right}"
    "th:first-child,td:first-child{text-align:left}th{border-bottom:1px solid #999}svg{max-width:100%;height:auto}"
)
PICTURES: dict[str, Callable[[Audit, Any], Any]] = {
    "Gain per band": draw_response,
    "Mixing between bands": draw_mixing,
    "Differences with depth": draw_depth,
}
Rows = Sequence[Mapping[str, object]]


def response_rows(audit: Audit) -> Rows:
    """Return the gain of the network per band as rows of a table."""
    found = audit.response
    stays = np.diag(found.mixing)
    return [
        {"from": a, "to": b, "gain": gain, "error": error, "stays in band": share}
        for a, b, gain, error, share in zip(
            found.edges[:-1].tolist(),
            found.edges[1:].tolist(),
            found.gain.tolist(),
            found.error.tolist(),
            stays.tolist(),
            strict=True,
        )
    ]


def layer_rows(audit: Audit) -> Rows:
    """Return the input and the layers as rows of a table."""
    return [
        {
            "layer": row.name,
            "width": row.width,
            "S": row.s_value,
            "centred S": row.s_value_centred,
            "effective rank": row.effective_rank,
            "mean average distance": row.mean_average_distance,
            "gain low": row.gain_low,
            "gain high": row.gain_high,
        }
        for row in (audit.input, *audit.layers)
    ]


def dependence_rows(audit: Audit) -> Rows:
    """Return the effect of every half and action as rows of a table."""
    return [
        {
            "signal": row.where,
            "half": row.half,
            "action": row.action,
            "share of energy": row.energy,
            "output change": row.output_change,
            "predictions changed": row.prediction_change,
            "accuracy": row.accuracy,
            "accuracy change": row.accuracy_change,
        }
        for row in audit.dependence
    ]


def audit_page(audit: Audit, title: str) -> str:
    """Return the page.

    Parameters
    ----------
    audit : Audit
    title : str
    """
    tables = {"Response": response_rows(audit), "Layers": layer_rows(audit), "Dependence": dependence_rows(audit)}
    parts = [f"<h2>{name}</h2>{_svg(draw, audit)}" for name, draw in PICTURES.items()]
    parts += [f"<h2>{name}</h2>{_table(rows)}" for name, rows in tables.items()]
    facts = f"{audit.model}, {audit.n_nodes} nodes, frequencies of {audit.family}, {audit.response.method}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1><p>{escape(facts)}</p>"
        f"<p><strong>{escape(audit.verdict)}</strong></p>{''.join(parts)}</body></html>\n"
    )


def _svg(draw: Callable[[Audit, Any], Any], audit: Audit) -> str:
    picture = figure(size=(7.0, 3.6))
    draw(audit, picture.subplots())
    file = io.StringIO()
    picture.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]


def _table(rows: Rows) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(_cell(value))}</td>' for value in row.values())}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.3g}"
    return str(value)
