"""gsp_fb: measure which half of a signal a graph network throws away, prove it, and keep it."""

from importlib import import_module
from typing import Any

from . import convert, datasets, energy, errors, filters, learning, reduction, sampling, variants
from ._kernels import set_threads
from ._version import __version__
from .advice import Advice, advise
from .calculus import divergence, gradient, incidence, total_variation
from .convert import *  # noqa: F403  # public as a whole: the names are those of its __all__
from .datasets import from_anndata
from .eigengap import Eigengap, eigengap
from .energy import *  # noqa: F403
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

__all__ = ["__version__", "datasets", "errors", "filters", "learning", "reduction", "sampling", "variants"]
__all__ += ["Advice", "ClaimResult", "Eigengap", "FilterBank", "Graph", "Operator", "Reordered", "Spectrum"]
__all__ += ["StreamingEnergy"]
__all__ += ["advise", "cartesian_product", "divergence", "eigengap", "explore", "from_anndata", "gradient", "incidence"]
__all__ += ["joint_filter", "joint_gft", "joint_igft", "laplacian_pe", "learn_graph", "line_graph", "open_graph"]
__all__ += ["operator", "read_graph", "resistance", "set_threads", "spectrum", "strong_product", "tensor_product"]
__all__ += ["total_variation", "verify", "write_graph"]
__all__ += convert.__all__
__all__ += energy.__all__


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
