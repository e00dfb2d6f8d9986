"""Recommend channels and a filter from training information, with the record of the rule that decides."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._document import facts_html
from ..datasets.splits import class_codes
from ..errors import ParameterError
from ..graph import Graph
from .evidence import CANDIDATES, Evidence, gather
from .record import HELPS, RULES, Verdict, measured, threshold, verdicts

__all__ = ["Advice", "advise"]


@dataclass(frozen=True)
class Advice:
    """A recommendation of channels and filter, with its evidence.

    Parameters
    ----------
    channels : {'both', 'low'}
        Whether to add the high channel.
    family : str
        Operator family of the filter.
    rule : str
        The rule that decides: the one with the best record among those that can be computed.
    score, threshold : float
        Score of the rule on this data set; the high channel is recommended above the threshold.
    record : Verdict
        Leave-one-out record of the rule on the measured data sets.
    evidence : Evidence
        All measures.

    See Also
    --------
    advise : Computes it.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.5, degree=8, rng=0)
    >>> found = advise(data.graph, data.x, data.y, range(0, 300, 2))
    >>> found.text.partition(".")[0]
    'High channel: yes'
    """

    channels: str
    family: str
    rule: str
    score: float
    threshold: float
    record: Verdict
    evidence: Evidence

    def _repr_html_(self) -> str:
        facts = {
            "high channel": "yes" if self.channels == "both" else "no",
            "filter": self.family,
            "rule": f"{self.rule}: {self.score:.3f}, threshold {self.threshold:.3f}",
            "correct on held-out data sets": f"{self.record.right} of {self.record.of}",
        }
        return facts_html("Advice", facts)

    @property
    def text(self) -> str:
        """The recommendation in sentences."""
        found = "yes" if self.channels == "both" else "no"
        return (
            f"High channel: {found}. Rule '{self.rule}' ({RULES[self.rule].condition}) has score {self.score:.3f}, "
            f"threshold {self.threshold:.3f}; the rule is correct on {self.record.right} of {self.record.of} "
            f"held-out data sets. Filter: {self.family}."
        )

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """One row per applicable rule: score here, leave-one-out record, rank correlation with the gain."""
        return tuple(
            {
                "rule": row.rule,
                "score here": float(RULES[row.rule].score(self.evidence)),
                "right": f"{row.right}/{row.of}",
                "rank corr.": row.rank_correlation,
                "used": "*" if row.rule == self.rule else "",
            }
            for row in verdicts()
            if self.evidence.readout or not RULES[row.rule].needs_features
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the recommendation as plain data for JSON.

        Returns
        -------
        dict
            All fields, the text and the table of rules.

        See Also
        --------
        advise : Computes the recommendation.

        Examples
        --------
        >>> from gsp_fb.datasets import contextual_sbm
        >>> data = contextual_sbm(300, homophily=0.5, degree=8, rng=0)
        >>> advise(data.graph, data.x, data.y, range(0, 300, 2)).as_dict()["channels"]
        'both'
        """
        return {**asdict(self), "text": self.text, "rules": self.rows}


def advise(graph: Any, x: Any = None, y: Any = None, train_mask: Any = None, *, rng: Any = 0) -> Advice:
    """Recommend whether to add a high-pass channel to a two-layer network, and with which filter.

    The score of the rule with the best record is compared with the threshold that separates the measured data sets
    best. The filter is the family whose two channels a linear probe reads best.

    Parameters
    ----------
    graph : Graph or Dataset
        A data set brings its features, labels and, as ``train_mask``, the training nodes of its first split.
    x : array_like, sparse or None, shape (n_nodes, n_features)
        Features; without them fewer rules apply.
    y : array_like of int, shape (n_nodes,)
        Labels; only those of training nodes are read.
    train_mask : array_like
        Boolean mask or indices of the training nodes.
    rng : None, int or Generator
        Randomness of the permutations and of the sample on which a large training set is probed.

    Returns
    -------
    Advice
        Recommendation, deciding rule and evidence.

    Raises
    ------
    ParameterError
        There are fewer than two training nodes, or no two of them are adjacent.
    SignalError
        ``x`` or ``y`` does not have one row per node.

    See Also
    --------
    gsp_fb.advice.gather : The evidence alone.
    gsp_fb.advice.verdicts : The record of every rule.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022, Tables 1 and 3 (the rule ``paper``).

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.5, degree=8, rng=0)
    >>> advise(data.graph, data.x, data.y, range(0, 300, 2)).channels
    'both'
    """
    if not isinstance(graph, Graph):
        x, y = (graph.x if x is None else x), (class_codes(graph.y) if y is None else y)
        train_mask = graph.splits[0].train if train_mask is None else train_mask
        graph = graph.graph
    if y is None or train_mask is None:
        missing = "y, the labels" if y is None else "train_mask, the nodes whose labels are known"
        raise ParameterError(f"advise needs {missing}; give it, or a Dataset with labels and splits")
    evidence = gather(graph, x, y, train_mask, rng=rng)
    record = next(row for row in verdicts() if x is not None or not RULES[row.rule].needs_features)
    rows = measured()
    cut = threshold([row.scores[record.rule] for row in rows], [row.gain > HELPS for row in rows])
    score = float(RULES[record.rule].score(evidence))
    # The family whose two channels the probe reads best; that of the baseline without features.
    best = max(CANDIDATES, key=lambda family: evidence.readout.get(family, {}).get("both", 0.0))
    return Advice("both" if score > cut else "low", best, record.rule, score, cut, record, evidence)
