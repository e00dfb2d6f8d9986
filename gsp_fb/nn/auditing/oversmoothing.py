"""Over-smoothing: decay of differences with depth beside a linear network's, and collapse of the rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...backend import FloatArray, freeze
from ...eigengap import eigengap
from ...errors import ConvergenceError, ParameterError
from ...operators import Operator
from .bands import Bands, ExactBands
from .statistics import LayerAudit, block_rank, difference

__all__ = ["Oversmoothing", "measure_oversmoothing"]

# Share of the rank that an output may lose: (rank - 1) / (width - 1) below it is a collapse. Two columns are not
# judged: a softmax ignores their sum, so rank 1 is all that two classes need.
COLLAPSE, MIN_WIDTH = 0.25, 3
# Effort for the eigengap of a large graph; two digits are enough for a rate.
GAP_TOL = 1e-2
# Frequencies below this are 0 up to rounding.
ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class Oversmoothing:
    """Differences between nodes with depth: one entry for the ``input``, then one a layer, by ``names``.

    ``differences`` are norms outside the space of frequency 0, relative to the whole, and ``linear`` the same for the
    linear network ``low^k x`` without weights. ``rate`` is the largest eigenvalue of the low channel below 1, the
    eigengap's ratio within components: the factor by which each linear layer shrinks the differences in the end, nan
    where it was not found. ``predicted`` is ``differences[0] * rate**k``. ``ranks`` are effective ranks,
    ``output_rank`` that of the network's output. ``collapsed`` states whether the output has lost its rank: ``(rank -
    1) / (width - 1) < 0.25``; it is False below three columns, where rank 1 is all that two classes need.
    """

    names: tuple[str, ...]
    differences: FloatArray
    linear: FloatArray
    rate: float
    predicted: FloatArray
    ranks: FloatArray
    output_rank: float
    collapsed: bool

    def __post_init__(self) -> None:
        for array in (self.differences, self.linear, self.predicted, self.ranks):
            freeze(array)


def measure_oversmoothing(
    bands: Bands, x: FloatArray, before: LayerAudit, layers: Sequence[LayerAudit], output: FloatArray
) -> Oversmoothing:
    """Return the decay of differences from the input ``x`` over the layers."""
    rows = [before, *layers]
    differences = np.array([row.difference for row in rows])
    rate, rank, width = _rate(bands), block_rank(output), min(output.shape)
    return Oversmoothing(
        names=tuple(row.name for row in rows),
        differences=differences,
        linear=_linear(bands.op, x, len(layers)),
        rate=rate,
        predicted=differences[0] * rate ** np.arange(len(rows)),
        ranks=np.array([row.effective_rank for row in rows]),
        output_rank=rank,
        collapsed=bool(width >= MIN_WIDTH and (rank - 1) / (width - 1) < COLLAPSE),
    )


def _linear(op: Operator, x: FloatArray, depth: int) -> FloatArray:
    low, h, found = op.complement(), x.astype(np.float64), []
    for step in range(depth + 1):
        h = low @ h if step else h
        found.append(difference(op, h))
    return np.array(found)


def _rate(bands: Bands) -> float:
    if isinstance(bands, ExactBands):
        varying = bands.modes.frequencies[bands.modes.frequencies > ZERO]
        return float(1.0 - varying[0]) if varying.size else float("nan")
    try:
        found = eigengap(bands.op, tol=GAP_TOL, certify=False)
    except (ConvergenceError, ParameterError):
        return float("nan")
    # A ratio of 1 states that there are several components, not how fast one of them mixes.
    return found.ratio if bands.op.graph.n_components == 1 else float("nan")
