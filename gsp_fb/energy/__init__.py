"""Energies: how much of a signal is smooth on a graph, how much is not, and whether that is chance."""

from .density import SpectralDensity, lambda_max, spectral_density
from .dirichlet import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from .homophily import (
    aggregation_similarity,
    class_homophily,
    col_diff,
    edge_homophily,
    node_homophily,
    row_diff,
)
from .profile import EnergyProfile, energy_profile
from .rank import effective_rank
from .signals import one_hot, row_normalized
from .significance import Significance, s_value_significance

__all__ = [
    "EnergyProfile",
    "Significance",
    "SpectralDensity",
    "aggregation_similarity",
    "class_homophily",
    "col_diff",
    "dirichlet_energy",
    "edge_homophily",
    "effective_rank",
    "energy_profile",
    "lambda_max",
    "node_homophily",
    "nonsmooth_energy",
    "one_hot",
    "row_diff",
    "row_normalized",
    "s_value",
    "s_value_significance",
    "signal_energy",
    "spectral_density",
]
