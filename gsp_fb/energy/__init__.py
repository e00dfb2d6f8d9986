"""Energies: how much of a signal is smooth on a graph, how much is not, and whether that is chance."""

from .density import SpectralDensity, lambda_max, lambda_max_bounds, spectral_density
from .dirichlet import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from .homophily import (
    adjusted_homophily,
    aggregation_similarity,
    class_homophily,
    col_diff,
    edge_homophily,
    label_informativeness,
    node_homophily,
    row_diff,
)
from .permutation import expected_s_value
from .profile import EnergyProfile, energy_profile
from .rank import effective_rank
from .signals import one_hot, row_normalized
from .significance import Significance, s_value_significance
from .spatial import gearys_c, morans_i
from .variable import SpatialTests, spatially_variable

__all__ = [
    "EnergyProfile",
    "Significance",
    "SpatialTests",
    "SpectralDensity",
    "adjusted_homophily",
    "aggregation_similarity",
    "class_homophily",
    "col_diff",
    "dirichlet_energy",
    "edge_homophily",
    "effective_rank",
    "energy_profile",
    "expected_s_value",
    "gearys_c",
    "label_informativeness",
    "lambda_max",
    "lambda_max_bounds",
    "morans_i",
    "node_homophily",
    "nonsmooth_energy",
    "one_hot",
    "row_diff",
    "row_normalized",
    "s_value",
    "s_value_significance",
    "signal_energy",
    "spatially_variable",
    "spectral_density",
]
