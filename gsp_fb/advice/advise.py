"""Do I need the high channel, and with which filter? An answer from training information, with its record."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .._document import facts_html
from ..graph import Graph
from .evidence import CANDIDATES, Evidence, gather
from .record import HELPS, Verdict, measured, threshold, verdicts
from .rules import RULES

__all__ = ["Advice", "advise"]


@dataclass(frozen=True)
class Advice:
    """A recommendation with what it rests on.

    Attributes
    ----------
    channels : {'both', 'low'}
    family : str
        The filter to use.
    rule : str
        The rule that decided: of those that can be computed here, the one with the best record.
    score, threshold : float
        Its score on this data and where it says yes.
    record : Verdict
        How often that rule was right on data sets it had not seen.
    evidence : Evidence

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
            "rule": f"{self.rule}: {self.score:.3f}, yes above {self.threshold:.3f}",
            "right so far": f"{self.record.right} of {self.record.of} data sets",
        }
        return facts_html("Advice", facts)

    @property
    def text(self) -> str:
        """The advice in sentences."""
        found = "yes" if self.channels == "both" else "no"
        return (
            f"High channel: {found}. The rule '{self.rule}' ({RULES[self.rule].says}) scores {self.score:.3f} and says "
            f"yes above {self.threshold:.3f}; it was right on {self.record.right} of {self.record.of} data sets "
            f"it had not seen. Filter: {self.family}."
        )

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """Every rule that applies here: its score, how often it was right on unseen data sets, its rank correlation."""
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
        """Return everything as JSON holds it.

        Examples
        --------
        >>> from gsp_fb.datasets import contextual_sbm
        >>> data = contextual_sbm(300, homophily=0.5, degree=8, rng=0)
        >>> advise(data.graph, data.x, data.y, range(0, 300, 2)).as_dict()["channels"]
        'both'
        """
        return {**asdict(self), "text": self.text, "rules": self.rows}


def advise(graph: Graph, x: Any, y: Any, train_mask: Any, *, rng: Any = 0) -> Advice:
    """Return whether a second, high-pass channel is likely to help a two-layer network, and with which filter.

    Parameters
    ----------
    graph : Graph
    x : array_like, sparse or None
        Features; without them fewer rules apply.
    y : array_like
        Labels; only those of training nodes are read.
    train_mask : array_like
        Boolean mask or indices of the training nodes.
    rng : optional
        Of the surrogates and of the sample that a large training set is probed on.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.5, degree=8, rng=0)
    >>> advise(data.graph, data.x, data.y, range(0, 300, 2)).channels
    'both'
    """
    evidence = gather(graph, x, y, train_mask, rng=rng)
    record = next(row for row in verdicts() if x is not None or not RULES[row.rule].needs_features)
    rows = measured()
    cut = threshold([row.scores[record.rule] for row in rows], [row.gain > HELPS for row in rows])
    score = float(RULES[record.rule].score(evidence))
    return Advice("both" if score > cut else "low", _family(evidence), record.rule, score, cut, record, evidence)


def _family(evidence: Evidence) -> str:
    """Return the filter whose two channels are read best; the baseline's where nothing can be read."""
    return max(CANDIDATES, key=lambda family: evidence.readout.get(family, {}).get("both", 0.0))
