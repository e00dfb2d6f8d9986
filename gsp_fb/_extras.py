"""The one place where an optional library is imported, or its absence explained."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["EXTRAS", "has", "require"]

EXTRAS = {
    "networkx": "graphs",
    "pandas": "graphs",
    "pyarrow": "graphs",
    "matplotlib": "plot",
    "pooch": "data",
    "tqdm": "data",
    "jinja2": "report",
    "sklearn": "ml",
    "torch": "nn",
    "safetensors": "nn",
    "optuna": "nn",
    "filelock": "nn",
    "numba": "fast",
    "pyamg": "fast",
    "approx_chol": "fast",
    "threadpoolctl": "fast",
    "cupy": "gpu",
    "cupyx": "gpu",
    "petsc4py": "mpi",
    "slepc4py": "mpi",
    "mpi4py": "mpi",
}


def has(module: str) -> bool:
    """Return whether ``module`` can be imported, without importing it."""
    return find_spec(module.partition(".")[0]) is not None


def require(module: str, what: str) -> Any:
    """Import and return ``module``, or say which extra of gsp_fb brings it.

    Parameters
    ----------
    module : str
        Dotted name; its first part is looked up in the table of extras.
    what : str
        What the user asked for, as the subject of the message ("plotting", "reading Parquet").

    Examples
    --------
    >>> require("scipy.sparse", "a product").__name__
    'scipy.sparse'
    """
    root = module.partition(".")[0]
    if not has(root):
        line = f"pip install 'gsp-fb[{EXTRAS[root]}]'" if root in EXTRAS else f"pip install {root}"
        raise ImportError(f"{what} needs {root}: {line}", name=root)
    return import_module(module)
