"""The result of an audit: numbers, a dictionary, a picture, a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._document import facts_html, plain
from ...backend import FloatArray
from .dependence import Dependence
from .oversmoothing import Oversmoothing
from .response import FrequencyResponse
from .statistics import LayerAudit

__all__ = ["Audit"]


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The frequency response of a trained network, measured at its input and at every layer.

    Parameters
    ----------
    model : str
        Name of the model in the table of this library, or its class.
    family : str
        Family whose frequencies are the axis.
    n_nodes : int
        Nodes of the graph.
    response : FrequencyResponse
        Of the whole network at its input: ``edges``, ``gain``, ``error``.
    input : LayerAudit
        The features as a signal.
    layers : tuple of LayerAudit
        One a call of a layer, in order.
    dependence : tuple of Dependence
        Change of the output when the low or the high half of the input, or of a layer's input, is removed or permuted.
    oversmoothing : Oversmoothing
        Differences between nodes and effective ranks, layer by layer.
    verdict : str
        Two sentences with their evidence, and what to try.
    suggestions : tuple of str
        Changes of the model to try.
    accuracy : float
        Of the unchanged model on the chosen nodes; nan without labels.

    See Also
    --------
    audit : The function that returns it.
    watch : Audits during training.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import audit, build
    >>> data = contextual_sbm(60, rng=0)
    >>> found = audit(build("gcn", data), data, bands=4, probes=4)
    >>> found
    Audit(gcn, 60 nodes, family='sym', 4 bands, 2 layers)
    >>> [layer.name for layer in found.layers]
    ['layers.0', 'layers.1']
    """

    model: str
    family: str
    n_nodes: int
    response: FrequencyResponse
    input: LayerAudit
    layers: tuple[LayerAudit, ...]
    dependence: tuple[Dependence, ...]
    oversmoothing: Oversmoothing
    verdict: str
    suggestions: tuple[str, ...]
    accuracy: float

    @property
    def mixing(self) -> FloatArray:
        """Shares of the output energy by output band (columns) for input in each band (rows)."""
        return self.response.mixing

    def __repr__(self) -> str:
        return (
            f"Audit({self.model}, {self.n_nodes} nodes, family={self.family!r}, {len(self.response.gain)} bands, "
            f"{len(self.layers)} layer{'s' * (len(self.layers) != 1)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, numbers and text, as JSON holds it; nan becomes None."""
        found: dict[str, Any] = plain(self)
        return found

    def plot(self, ax: Any = None) -> Any:
        """Draw the gain of the network per band with standard errors, and of each layer; return the axes."""
        from .page import draw_response

        return draw_response(self, ax)

    def _repr_html_(self) -> str:
        facts = {
            "model": self.model,
            "family": self.family,
            "gain on the low half": self.response.low,
            "gain on the high half": self.response.high,
            "layers": len(self.layers),
            "S of the last layer": self.layers[-1].s_value if self.layers else None,
            "expected under random permutation": self.layers[-1].expected_s_value if self.layers else None,
            "effective rank of the output": self.oversmoothing.output_rank,
            "accuracy": None if np.isnan(self.accuracy) else self.accuracy,
            "verdict": self.verdict,
        }
        return facts_html("Audit", facts)
