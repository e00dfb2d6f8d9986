"""Tables 1 and 3 of the paper: S-values of features and labels on nine data sets.

Two conventions stand side by side. *As printed*: the arcs as listed, out-degrees on both sides, an isolated node's
Laplacian entry 1; this gives the paper's figures. *As defined*: the undirected graph that the paper's text defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gsp_fb.datasets import Dataset, load
from gsp_fb.energy import one_hot, row_normalized, s_value
from gsp_fb.operators import operator

from .printed import paper_numbers

__all__ = ["MEASURES", "SValueCell", "s_value_table"]

# Metric in the paper's table -> family of the Laplacian and the signal that is measured.
MEASURES = {
    "s_value_features_L_sym": ("sym", "features"),
    "s_value_labels_L_sym": ("sym", "labels"),
    "s_value_features_L_hat_sym": ("renorm_sym", "features"),
    "s_value_labels_L_hat_sym": ("renorm_sym", "labels"),
}


@dataclass(frozen=True)
class SValueCell:
    """One cell of Table 1 or 3: the printed value and ours under both conventions.

    Examples
    --------
    >>> cell = SValueCell("table1", "texas", "sym", "labels", paper=0.909, as_printed=0.9091, as_defined=0.927)
    >>> round(cell.difference, 4)
    0.0001
    """

    table: str
    dataset: str
    family: str
    signal: str
    paper: float
    as_printed: float
    as_defined: float

    @property
    def difference(self) -> float:
        """Ours minus the paper's, under the paper's convention."""
        return self.as_printed - self.paper


def _measure(data: Dataset, family: str, signal: str, isolated: str) -> float:
    x = row_normalized(data.x) if signal == "features" else one_hot(data.y)
    return float(s_value(operator(data.graph, family, channel="high", isolated=isolated), x))


def s_value_table(names: Iterable[str] | None = None) -> Iterator[SValueCell]:
    """Yield the cells of Tables 1 and 3, for all nine data sets or the named ones, measured as they are asked for.

    Examples
    --------
    >>> cell = next(s_value_table(["texas"]))  # doctest: +SKIP
    >>> cell.paper, round(cell.as_printed, 3), round(cell.as_defined, 3)  # doctest: +SKIP
    (0.854, 0.854, 0.787)
    >>> next(s_value_table(["my-own-graph"]), "not in the paper")
    'not in the paper'
    """
    wanted = None if names is None else set(names)
    printed = [row for row in paper_numbers() if row.metric in MEASURES]
    for name in dict.fromkeys(row.dataset for row in printed):
        if wanted is not None and name not in wanted:
            continue
        arcs, undirected = load(name, directed=True), load(name)
        for row in printed:
            if row.dataset == name:
                family, signal = MEASURES[row.metric]
                yield SValueCell(
                    table=row.table,
                    dataset=name,
                    family=family,
                    signal=signal,
                    paper=float(row.value),
                    as_printed=_measure(arcs, family, signal, "zero"),
                    as_defined=_measure(undirected, family, signal, "self"),
                )
