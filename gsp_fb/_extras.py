"""Import of optional libraries: the table of extras, and the error with the pip line where one is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["EXTRAS", "has", "require"]

# The optional libraries that each extra installs.
LIBRARIES = {
    "graphs": ("networkx", "pandas", "pyarrow"),
    "omics": ("anndata",),
    "plot": ("matplotlib",),
    "data": ("pooch", "tqdm"),
    "report": ("jinja2",),
    "notebook": ("anywidget", "traitlets"),
    "ml": ("sklearn",),
    "nn": ("torch", "safetensors", "optuna", "filelock"),
    "fast": ("numba", "pyamg", "approx_chol", "threadpoolctl"),
    "gpu": ("cupy", "cupyx"),
    "mpi": ("petsc4py", "mpi4py"),
}
EXTRAS = {library: extra for extra, libraries in LIBRARIES.items() for library in libraries}


def has(module: str) -> bool:
    """Return whether the package of a module is installed, without importing it."""
    return find_spec(module.partition(".")[0]) is not None


def require(module: str, what: str) -> Any:
    """Import an optional module; ImportError with the pip line where its library is not installed.

    ``what`` is the feature that needs it, as the subject of the message ("plotting", "reading Parquet").
    """
    root = module.partition(".")[0]
    if not has(root):
        line = f"pip install 'gsp-fb[{EXTRAS[root]}]'" if root in EXTRAS else f"pip install {root}"
        raise ImportError(f"{what} needs {root}: {line}", name=root)
    return import_module(module)
