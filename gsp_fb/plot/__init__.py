"""Plots of graphs, signals, spectra and filters with matplotlib.

Every function draws into the axes ``ax``, or into those of a new figure, and returns them; nothing is shown and no
global style is changed. Non-negative values use the colour map viridis, signed values a diverging map centred at 0,
categories the palette of Okabe and Ito: all three are distinguishable with colour-vision deficiencies.
"""

from ._style import figure
from .energies import energy_profile, energy_split, s_values
from .frequency import gft, kernel, response, spectrogram, spectrum
from .layouts import LAYOUTS, positions
from .networks import alphas, tsne
from .nodes import filtered, graph, labels, signal

__all__ = [
    "LAYOUTS",
    "alphas",
    "energy_profile",
    "energy_split",
    "figure",
    "filtered",
    "gft",
    "graph",
    "kernel",
    "labels",
    "positions",
    "response",
    "s_values",
    "signal",
    "spectrogram",
    "spectrum",
    "tsne",
]
