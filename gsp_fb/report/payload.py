"""What the page's script reads: arrays as base64 of their bytes, and the table of families."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..variants import VARIANTS
from .facts import Drawing
from .responses import RESPONSES

__all__ = ["pack", "payload"]


def pack(array: Any, kind: str) -> dict[str, str]:
    """Return an array as base64 of its little-endian bytes, for a typed array of JavaScript.

    Examples
    --------
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
