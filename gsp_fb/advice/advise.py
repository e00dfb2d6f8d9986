"""Recommend channels and a filter from training information, with the record of the advisor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .._document import facts_html
from ..datasets.splits import class_codes
from ..errors import ParameterError
from ..graph import Graph
from .advisor import ANSWERS, Record, advisors
from .evidence import CANDIDATES, Evidence, gather

__all__ = ["Advice", "advise"]

# What to state first, and what to train, by answer.
_SHORT = dict(zip(ANSWERS, ("yes", "no, an identity path suffices", "no, the graph does not help"), strict=True))
_LINES = (
    "fb-gcn {source} --family {family}",
    """gcn {source} --family {family} --set 'channels=["low", "identity"]'""",
    "mlp {source}",
)


@dataclass(frozen=True)
class Advice:
    """A recommendation of channels and filter, with its evidence.

    Parameters
    ----------
    answer : {'high-pass channel', 'identity path suffices', 'graph does not help'}
        What training would show: a high channel gains more than a point over a network of low and identity; that
        network is as good; a multilayer perceptron is.
    probabilities : mapping of str to float
        Of each answer.
    family : str
        Operator family of the filter.
    record : Record
        How often the advisor is right on graphs that it has not seen.
    evidence : Evidence
        All measures.

    See Also
    --------
    advise : Computes it.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.1, degree=8, rng=0)
    >>> found = advise(data.graph, data.x, data.y, range(0, 300, 2))
    >>> found.text.partition(" ")[0], found.channels in ("both", "low")
    ('High', True)
    """

    answer: str
    probabilities: Mapping[str, float]
    family: str
    record: Record
    evidence: Evidence = field(repr=False)

    def _repr_html_(self) -> str:
        facts = {
            "high channel": _SHORT[self.answer],
            "filter": self.family,
            "probability": f"{self.probabilities[self.answer]:.2f}",
            "correct on real data sets": f"{self.record.right} of {self.record.of}",
        }
        return facts_html("Advice", facts)

    @property
    def channels(self) -> str:
        """``"both"`` where the high channel is recommended, ``"low"`` otherwise."""
        return "both" if self.answer == ANSWERS[0] else "low"

    def command(self, source: str = "DATA") -> str:
        """Return the command line that trains what is recommended, on data that it names ``source``.

        In Python :func:`gsp_fb.nn.build` with ``channels=`` is the same.

        >>> from gsp_fb.datasets import contextual_sbm
        >>> advise(contextual_sbm(300, rng=0)).command("texas").split()[:2]
        ['gsp-fb', 'train']
        """
        line = _LINES[ANSWERS.index(self.answer)].format(source=source, family=self.family)
        return f"gsp-fb train {line}"

    @property
    def text(self) -> str:
        """The recommendation in sentences."""
        record, shares = self.record, "; ".join(f"{name} {share:.2f}" for name, share in self.probabilities.items())
        return (
            f"High channel: {_SHORT[self.answer]}. Probabilities: {shares}. The advisor, trained on {record.generated} "
            f"generated graphs, is right on {record.right} of {record.of} real data sets (95 % interval "
            f"{record.low:.2f} to {record.high:.2f}; always answering {record.common!r}: {record.common_right}). "
            f"Filter: {self.family}."
        )

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """One row per answer: its probability and, at the answer given, a mark."""
        return tuple(
            {"answer": name, "probability": share, "given": "*" if name == self.answer else ""}
            for name, share in self.probabilities.items()
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all fields, the channels, the text and the command as JSON holds them.

        >>> from gsp_fb.datasets import contextual_sbm
        >>> sorted(advise(contextual_sbm(300, rng=0)).as_dict())[:3]
        ['answer', 'channels', 'command']
        """
        return {**asdict(self), "channels": self.channels, "text": self.text, "command": self.command()}


def advise(graph: Any, x: Any = None, y: Any = None, train_mask: Any = None, *, rng: Any = 0) -> Advice:
    """Recommend a high-pass channel, an identity path or no graph for a two-layer network, and its filter.

    A logistic regression, fitted on generated graphs whose arms were trained, reads the homophily of the training
    labels and the accuracy of linear probes. The filter is the family whose two channels a linear probe reads best.

    Parameters
    ----------
    graph : Graph or Dataset
        A data set brings its features, labels and, as ``train_mask``, the training nodes of its first split.
    x : array_like, sparse or None, shape (n_nodes, n_features)
        Features; without them an advisor that reads labels alone answers.
    y : array_like of int, shape (n_nodes,)
        Labels; only those of training nodes are read.
    train_mask : array_like
        Boolean mask or indices of the training nodes.
    rng : None, int or Generator
        Randomness of the permutations and of the sample on which a large training set is probed.

    Returns
    -------
    Advice
        Recommendation, probabilities, record of the advisor and evidence.

    Raises
    ------
    ParameterError
        There are fewer than two training nodes, no two of them are adjacent, or those that are have one class.
    SignalError
        ``x`` or ``y`` does not have one row per node.

    See Also
    --------
    gsp_fb.advice.gather : The evidence alone.
    gsp_fb.advice.advisors : The advisors and their record.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.9, degree=8, rng=0)
    >>> advise(data.graph, data.x, data.y, range(0, 300, 2)).channels
    'low'
    """
    if not isinstance(graph, Graph):
        x, y = (graph.x if x is None else x), (class_codes(graph.y) if y is None else y)
        train_mask = graph.splits[0].train if train_mask is None else train_mask
        graph = graph.graph
    if y is None or train_mask is None:
        missing = "y, the labels" if y is None else "train_mask, the nodes whose labels are known"
        raise ParameterError(f"advise needs {missing}; give it, or a Dataset with labels and splits")
    evidence = gather(graph, x, y, train_mask, rng=rng)
    advisor = advisors()["labels" if x is None else "features"]
    shares = advisor.probabilities(evidence.measures)
    # Without features all are equal, and the first is that of the baseline.
    family = max(CANDIDATES, key=lambda family: evidence.readout.get(family, {}).get("both", 0.0))
    return Advice(max(shares, key=lambda name: shares[name]), shares, family, advisor.record, evidence)
