"""gsp_fb: measure which half of a signal a graph network throws away, prove it, and keep it."""

from importlib import import_module
from typing import Any

from . import datasets, errors, filters, learning, reduction, sampling, variants
from ._kernels import set_threads
from ._version import __version__
from .advice import Advice, advise
from .calculus import divergence, gradient, incidence, total_variation
from .convert import (
    from_arrow,
    from_igraph,
    from_networkx,
    from_pandas,
    from_pyg,
    from_pygsp,
    from_torch,
    to_igraph,
    to_networkx,
    to_pandas,
    to_pyg,
    to_pygsp,
    to_torch,
)
from .datasets import from_anndata
from .eigengap import Eigengap, eigengap
from .energy import (
    EnergyProfile,
    Significance,
    SpatialTests,
    SpectralDensity,
    adjusted_homophily,
    aggregation_similarity,
    class_homophily,
    col_diff,
    dirichlet_energy,
    edge_homophily,
    effective_rank,
    energy_profile,
    expected_s_value,
    gearys_c,
    label_informativeness,
    lambda_max,
    lambda_max_bounds,
    morans_i,
    node_homophily,
    nonsmooth_energy,
    one_hot,
    row_diff,
    row_normalized,
    s_value,
    s_value_significance,
    signal_energy,
    spatially_variable,
    spectral_density,
)
from .explore import explore
from .files import read_graph, write_graph
from .filters import FilterBank
from .graph import Graph
from .learning import learn_graph
from .opening import open_graph
from .operators import Operator, operator
from .positional import laplacian_pe
from .products import cartesian_product, line_graph, strong_product, tensor_product
from .reorder import Reordered
from .resistance import resistance
from .spectrum import Spectrum, spectrum
from .streaming import StreamingEnergy
from .theory import ClaimResult, verify
from .timevertex import joint_filter, joint_gft, joint_igft

# Packages that stand on libraries of their own: loaded when they are named.
_LATER = ("distributed", "estimators", "nn", "outofcore", "plot", "report", "testing", "theory")

__all__ = [
    "Advice",
    "ClaimResult",
    "Eigengap",
    "EnergyProfile",
    "FilterBank",
    "Graph",
    "Operator",
    "Reordered",
    "Significance",
    "SpatialTests",
    "SpectralDensity",
    "Spectrum",
    "StreamingEnergy",
    "__version__",
    "adjusted_homophily",
    "advise",
    "aggregation_similarity",
    "cartesian_product",
    "class_homophily",
    "col_diff",
    "datasets",
    "dirichlet_energy",
    "divergence",
    "edge_homophily",
    "effective_rank",
    "eigengap",
    "energy_profile",
    "errors",
    "expected_s_value",
    "explore",
    "filters",
    "from_anndata",
    "from_arrow",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "from_pyg",
    "from_pygsp",
    "from_torch",
    "gearys_c",
    "gradient",
    "incidence",
    "joint_filter",
    "joint_gft",
    "joint_igft",
    "label_informativeness",
    "lambda_max",
    "lambda_max_bounds",
    "laplacian_pe",
    "learn_graph",
    "learning",
    "line_graph",
    "morans_i",
    "node_homophily",
    "nonsmooth_energy",
    "one_hot",
    "open_graph",
    "operator",
    "read_graph",
    "reduction",
    "resistance",
    "row_diff",
    "row_normalized",
    "s_value",
    "s_value_significance",
    "sampling",
    "set_threads",
    "signal_energy",
    "spatially_variable",
    "spectral_density",
    "spectrum",
    "strong_product",
    "tensor_product",
    "to_igraph",
    "to_networkx",
    "to_pandas",
    "to_pyg",
    "to_pygsp",
    "to_torch",
    "total_variation",
    "variants",
    "verify",
    "write_graph",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
