"""Energies: how much of a signal is smooth on a graph, how much is not, and whether that is chance."""

from . import homophily
from .density import SpectralDensity, lambda_max, lambda_max_bounds, spectral_density
from .dirichlet import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from .homophily import *  # noqa: F403  # the module lists them
from .permutation import expected_s_value
from .profile import EnergyProfile, energy_profile
from .signals import one_hot, row_normalized
from .significance import Significance, s_value_significance
from .spatial import gearys_c, morans_i
from .spread import col_diff, effective_rank, row_diff
from .variable import SpatialTests, spatially_variable

__all__ = ["EnergyProfile", "Significance", "SpatialTests", "SpectralDensity", "col_diff", "dirichlet_energy"]
__all__ += ["effective_rank", "energy_profile", "expected_s_value", "gearys_c", "lambda_max", "lambda_max_bounds"]
__all__ += ["morans_i", "nonsmooth_energy", "one_hot", "row_diff", "row_normalized", "s_value", "s_value_significance"]
__all__ += ["signal_energy", "spatially_variable", "spectral_density"]
__all__ += homophily.__all__
