"""An audit as rows of tables, and as one HTML file without scripts or links: verdict, pictures, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..._document import Block, Figure, Heading, Table, Text, to_html
from ...plot import figure
from .drawing import draw_depth, draw_mixing, draw_response
from .record import Audit

__all__ = ["audit_page", "dependence_rows", "layer_rows", "response_rows", "smoothing_rows"]

PICTURES: dict[str, Callable[[Audit, Any], Any]] = {
    "Gain per band": draw_response,
    "Mixing between bands": draw_mixing,
    "Differences with depth": draw_depth,
}
Rows = Sequence[Mapping[str, object]]


def response_rows(audit: Audit) -> Rows:
    """Return the gain of the network per band as rows of a table."""
    found = audit.response
    columns = {
        "from": found.edges[:-1],
        "to": found.edges[1:],
        "gain": found.gain,
        "error": found.error,
        "stays in band": np.diag(found.mixing),
    }
    return [dict(zip(columns, row, strict=True)) for row in np.column_stack(list(columns.values())).tolist()]


def layer_rows(audit: Audit) -> Rows:
    """Return the input and the layers as rows of a table."""
    return [
        {
            "layer": row.name,
            "width": row.width,
            "S": row.s_value,
            "E[S]": row.expected_s_value,
            "centred S": row.s_value_centred,
            "rank": row.effective_rank,
            "distance": row.mean_average_distance,
            "gain low": row.gain_low,
            "gain high": row.gain_high,
        }
        for row in (audit.input, *audit.layers)
    ]


def smoothing_rows(audit: Audit) -> Rows:
    """Return the differences with depth beside a linear network's and the eigengap's as rows of a table."""
    found = audit.oversmoothing
    columns = (found.differences, found.linear, found.predicted)
    return [
        {"layer": name, "network": network, "linear": linear, "eigengap": predicted}
        for name, network, linear, predicted in zip(found.names, *(c.tolist() for c in columns), strict=True)
    ]


def dependence_rows(audit: Audit) -> Rows:
    """Return the effect of every half and action as rows of a table."""
    return [
        {
            "signal": row.where,
            "half": row.half,
            "action": row.action,
            "energy": row.energy,
            "output": row.output_change,
            "classes": row.prediction_change,
            "accuracy": row.accuracy,
            "change": row.accuracy_change,
        }
        for row in audit.dependence
    ]


TABLES: dict[str, tuple[Callable[[Audit], Rows], str]] = {
    "Response": (
        response_rows,
        "Gain of the network per band of frequencies with its standard error, and the share of the output energy that "
        "stays in the band.",
    ),
    "Layers": (
        layer_rows,
        "The output of every layer as a signal: S, its expectation E[S] under random permutation, centred S, effective "
        "rank, mean average distance; and the gain of the layer on each half of its input.",
    ),
    "Over-smoothing": (
        smoothing_rows,
        "Norm outside frequency 0 relative to the whole: of the network, of the linear network without weights, and as "
        "the eigengap predicts.",
    ),
    "Dependence": (
        dependence_rows,
        "One half of a signal is removed, or permuted over the nodes: its share of the energy, the relative change of "
        "the output, the share of predicted classes that change, the accuracy and its change.",
    ),
}


def audit_page(audit: Audit, title: str) -> str:
    """Return the page as HTML."""
    with TemporaryDirectory() as folder:
        return to_html(title, _blocks(audit, title, Path(folder)))


def _blocks(audit: Audit, title: str, folder: Path) -> Iterator[Block]:
    method = f"frequencies of {audit.family}, derivatives by {audit.response.method}"
    yield from (Heading(1, title), Text(f"{audit.model}, {audit.n_nodes} nodes, {method}.", literal=True))
    yield Text(audit.verdict, literal=True, emphasis=True)
    for number, (name, draw) in enumerate(PICTURES.items()):
        yield from (Heading(2, name), _picture(audit, draw, folder / f"{number}.png", name))
    for name, (rows, caption) in TABLES.items():
        yield from (Heading(2, name), Text(caption), Table.from_records(rows(audit)))


def _picture(audit: Audit, draw: Callable[[Audit, Any], Any], path: Path, name: str) -> Figure:
    picture = figure(size=(7.0, 3.6))
    draw(audit, picture.subplots())
    picture.savefig(path, dpi=160)
    return Figure(path, name)
