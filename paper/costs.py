"""What the missing cells would cost, learned from those that have been measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gsp_fb.backend import FloatArray
from gsp_fb.datasets import info

from .cells import Cell

__all__ = ["expected_seconds"]

# How strongly the parts of single models and data sets are drawn to zero, beside one measured cell of weight one.
RIDGE = 0.1


def expected_seconds(measured: Sequence[tuple[Cell, float]], missing: Iterable[Cell]) -> dict[str, float | None]:
    """Return the expected processor seconds of each missing cell by path.

    None for a model that is nowhere measured and where data is not at hand.

    The logarithm of what one training takes is a line in the logarithms of the graph's size and the network's depth,
    plus a part of the model's and a part of the data set's, by ridge regression.

    Examples
    --------
    >>> from paper import select
    >>> table = {cell.dataset: cell for cell in select(["table9"], protocols=["paper"], models=["GCN"])}
    >>> measured = [(table[name], seconds) for name, seconds in (("texas", 2.0), ("cora", 20.0), ("pubmed", 100.0))]
    >>> (squirrel,) = expected_seconds(measured, [table["squirrel"]]).values()
    >>> 20.0 < squirrel < 400.0
    True
    """
    missing, known = list(missing), {cell.row.model for cell, _ in measured}
    if not known:
        return {cell.path: None for cell in missing}
    names = sorted({name for cell, _ in measured for name in _parts(cell)})
    target = np.log([max(seconds, 0.01) / cell.plan.trainings for cell, seconds in measured])
    weights = _ridge(np.array([_features(cell, names) for cell, _ in measured]), target)
    return {
        cell.path: cell.plan.trainings * math.exp(float(_features(cell, names) @ weights))
        if cell.row.model in known and not cell.absent_data
        else None
        for cell in missing
    }


def _parts(cell: Cell) -> tuple[str, ...]:
    channels = len(cell.row.options.get("channels", (1, 2) if cell.row.model.startswith("fb-") else (1,)))
    return f"model {cell.row.model}", f"data {cell.dataset}", f"{channels} channels"


def _features(cell: Cell, names: Sequence[str]) -> FloatArray:
    """Return a one, the logarithms of size and depth, and which model and data set it is."""
    row, own = info(cell.dataset), _parts(cell)
    options = cell.row.options
    # Depth in units of a two-layer network.
    size, depth = (row.nodes or 0) + (row.edges or 1), options.get("depth", options.get("layers", 2) / 2)
    return np.array([1.0, math.log(size), math.log(depth), *(float(name in own) for name in names)])


def _ridge(features: FloatArray, target: FloatArray) -> FloatArray:
    """Return the weights of least squares, those of models and data sets drawn to zero."""
    penalties = np.full(features.shape[1], RIDGE)
    # The line is hardly drawn at all, but stays defined where all cells are of one size.
    penalties[:3] = 1e-6
    weights: FloatArray = np.linalg.solve(features.T @ features + np.diag(penalties), features.T @ target)
    return weights
