"""Conversion of graphs from and to other libraries; each library is imported by the function that needs it."""

from ._attributed import from_igraph, from_networkx, to_igraph, to_networkx
from ._pygsp import from_pygsp, to_pygsp
from ._tables import from_arrow, from_pandas, to_pandas
from ._torch import from_pyg, from_torch, to_pyg, to_torch

__all__ = ["from_arrow", "from_igraph", "from_networkx", "from_pandas", "from_pyg", "from_pygsp", "from_torch"]
__all__ += ["to_igraph", "to_networkx", "to_pandas", "to_pyg", "to_pygsp", "to_torch"]
