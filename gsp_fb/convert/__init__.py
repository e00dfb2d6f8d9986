"""Graphs from and to other libraries; each is imported only by the function that needs it."""

from ._networkx import from_networkx, to_networkx
from ._pandas import from_pandas, to_pandas
from ._pyg import from_pyg, to_pyg
from ._pygsp import from_pygsp, to_pygsp

__all__ = [
    "from_networkx",
    "from_pandas",
    "from_pyg",
    "from_pygsp",
    "to_networkx",
    "to_pandas",
    "to_pyg",
    "to_pygsp",
]
