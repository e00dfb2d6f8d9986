"""Graphs on more than one machine: rows shared out among MPI ranks, products by PETSc, eigenpairs by SLEPc.

Every rank runs the same program. :func:`open_graph` gives each its rows of a graph in a folder; ``operator`` and
:class:`gsp_fb.FilterBank` take the result like any other graph, and the functions here do what needs all ranks.
Functions that say *collective* must be called on every rank.
Signals are given and returned as the rows of the own rank; numbers are the same on every rank.

This package runs with the NumPy 1.24 and SciPy 1.10 that Debian's PETSc comes with.
"""

from __future__ import annotations

from .energies import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from .filtering import analyze, energy_profile, plan
from .graph import DistributedGraph, open_graph
from .signals import local_rows, multiply, on_root, one_hot, operator, row_normalized, save
from .spectra import eigengap, gft, igft, spectrum

__all__ = [
    "DistributedGraph",
    "analyze",
    "dirichlet_energy",
    "eigengap",
    "energy_profile",
    "gft",
    "igft",
    "local_rows",
    "multiply",
    "nonsmooth_energy",
    "on_root",
    "one_hot",
    "open_graph",
    "operator",
    "plan",
    "row_normalized",
    "s_value",
    "save",
    "signal_energy",
    "spectrum",
]
