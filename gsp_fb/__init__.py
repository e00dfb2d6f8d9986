"""gsp_fb: measure which half of a signal a graph network throws away, prove it, and keep it."""

from ._version import __version__
from .eigengap import Eigengap, eigengap
from .energy import (
    Significance,
    aggregation_similarity,
    class_homophily,
    col_diff,
    dirichlet_energy,
    edge_homophily,
    node_homophily,
    nonsmooth_energy,
    one_hot,
    row_diff,
    s_value,
    s_value_significance,
    signal_energy,
)
from .graph import Graph
from .operators import Operator, operator
from .spectrum import Spectrum, spectrum

__all__ = [
    "Eigengap",
    "Graph",
    "Operator",
    "Significance",
    "Spectrum",
    "__version__",
    "aggregation_similarity",
    "class_homophily",
    "col_diff",
    "dirichlet_energy",
    "edge_homophily",
    "eigengap",
    "node_homophily",
    "nonsmooth_energy",
    "one_hot",
    "operator",
    "row_diff",
    "s_value",
    "s_value_significance",
    "signal_energy",
    "spectrum",
]
