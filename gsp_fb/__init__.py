"""gsp_fb: measure which half of a signal a graph network throws away, prove it, and keep it."""

from . import datasets, errors, variants
from ._version import __version__
from .convert import (
    from_networkx,
    from_pandas,
    from_pyg,
    from_pygsp,
    to_networkx,
    to_pandas,
    to_pyg,
    to_pygsp,
)
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
    row_normalized,
    s_value,
    s_value_significance,
    signal_energy,
)
from .files import read_graph, write_graph
from .graph import Graph
from .operators import Operator, operator
from .spectrum import Spectrum, spectrum
from .theory import ClaimResult, verify

__all__ = [
    "ClaimResult",
    "Eigengap",
    "Graph",
    "Operator",
    "Significance",
    "Spectrum",
    "__version__",
    "aggregation_similarity",
    "class_homophily",
    "col_diff",
    "datasets",
    "dirichlet_energy",
    "edge_homophily",
    "eigengap",
    "errors",
    "from_networkx",
    "from_pandas",
    "from_pyg",
    "from_pygsp",
    "node_homophily",
    "nonsmooth_energy",
    "one_hot",
    "operator",
    "read_graph",
    "row_diff",
    "row_normalized",
    "s_value",
    "s_value_significance",
    "signal_energy",
    "spectrum",
    "to_networkx",
    "to_pandas",
    "to_pyg",
    "to_pygsp",
    "variants",
    "verify",
    "write_graph",
]
