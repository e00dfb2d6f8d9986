"""The advisor: a logistic regression from measures of a graph to what training on it shows, and its record.

Its weights are data (``data/advisor.json``, written by ``python -m paper.advisor --report``): fitted on generated
graphs alone, so that the record on real data sets is one of data that it has not seen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np

from ..errors import ParameterError

__all__ = ["ANSWERS", "Advisor", "Record", "advisors"]

ANSWERS = ("high-pass channel", "identity path suffices", "graph does not help")


@dataclass(frozen=True)
class Record:
    """How often an advisor is right on graphs that it has not seen, with exact 95 % intervals.

    Parameters
    ----------
    right, of : int
        Correct answers on real data sets, and their number.
    low, high : float
        Interval of the share of correct answers on real data sets; nan without any.
    generated_right, generated : int
        The same on the generated graphs, each answered without the fifth of them that holds it.
    generated_low, generated_high : float
    common, common_right : str and int
        The commonest answer on generated graphs, and on how many real data sets it is right.

    See Also
    --------
    Advisor : What has this record.

    Examples
    --------
    >>> record = advisors()["features"].record
    >>> 0 < record.right <= record.of, record.low < record.right / record.of < record.high
    (True, True)
    """

    right: int
    of: int
    low: float
    high: float
    generated_right: int
    generated: int
    generated_low: float
    generated_high: float
    common: str
    common_right: int


@dataclass(frozen=True)
class Advisor:
    """Probabilities of the three answers from measures of a graph and its training labels.

    Parameters
    ----------
    measures : tuple of str
        Keys of :attr:`Evidence.measures` that it reads.
    mean, scale : tuple of float
        Of each measure over the generated graphs.
    answers : tuple of str
        Of ``ANSWERS``, in the order of the weights.
    weights : tuple of tuple of float
        One row an answer, one column a standardised measure.
    intercepts : tuple of float
    record : Record

    See Also
    --------
    advisors : Those of the package.
    gsp_fb.advise : Applies them.

    References
    ----------
    .. [1] S. Luan et al., "When do graph neural networks help with node classification? Investigating the homophily
       principle on node distinguishability", NeurIPS 2023.

    Examples
    --------
    >>> advisor = advisors()["labels"]
    >>> shares = advisor.probabilities(dict(zip(advisor.measures, advisor.mean, strict=True)))
    >>> sorted(shares) == sorted(ANSWERS), round(sum(shares.values()), 12)
    (True, 1.0)
    """

    measures: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    answers: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    intercepts: tuple[float, ...]
    record: Record

    def probabilities(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the probability of each answer.

        Raises
        ------
        ParameterError
            A measure is not finite: the training edges join nodes of one class alone.
        """
        absent = [name for name in self.measures if not math.isfinite(values[name])]
        if absent:
            reason = "every edge between training nodes joins nodes of one class; label more nodes"
            raise ParameterError(f"{', '.join(absent)} cannot be computed: {reason}")
        z = (np.array([values[name] for name in self.measures]) - self.mean) / self.scale
        logits = np.asarray(self.weights) @ z + self.intercepts
        shares = np.exp(logits - logits.max())
        found = dict(zip(self.answers, (shares / shares.sum()).tolist(), strict=True))
        return {name: found.get(name, 0.0) for name in ANSWERS}


@cache
def advisors() -> Mapping[str, Advisor]:
    """Return the advisor that reads features and labels (``features``), and the one that reads labels (``labels``).

    Returns
    -------
    mapping of str to Advisor

    See Also
    --------
    gsp_fb.advise : Applies them.

    Examples
    --------
    >>> sorted(advisors())
    ['features', 'labels']
    """
    text = files("gsp_fb").joinpath("data", "advisor.json").read_text(encoding="utf-8")
    return MappingProxyType({name: _advisor(row) for name, row in json.loads(text)["advisors"].items()})


def _advisor(row: Mapping[str, Any]) -> Advisor:
    lists: dict[str, Any] = {name: tuple(row[name]) for name in ("measures", "mean", "scale", "answers", "intercepts")}
    record: dict[str, Any] = {name: math.nan if value is None else value for name, value in row["record"].items()}
    return Advisor(**lists, weights=tuple(map(tuple, row["weights"])), record=Record(**record))
