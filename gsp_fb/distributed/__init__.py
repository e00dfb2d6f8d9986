"""Graphs on MPI ranks: matrix-vector products by PETSc, eigenpairs, partitioning and components.

Every rank runs the same program. :func:`gsp_fb.open_graph` gives each rank its rows of a graph in a folder, and the
functions of gsp_fb take the result. They are collective: every rank calls them. Arrays over nodes are given and
returned as the local rows of a rank, numbers are the same on every rank.

This package runs with the NumPy 1.24 and SciPy 1.10 that Debian's PETSc comes with.
"""

from __future__ import annotations

from . import spectra as _spectra  # noqa: F401  # registers spectrum and eigengap for the storage of ranks
from .opening import local_rows, on_root

__all__ = ["local_rows", "on_root"]
