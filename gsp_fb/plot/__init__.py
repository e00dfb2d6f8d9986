"""Pictures of graphs, signals and filters: ``ax`` in, ``ax`` out, nothing shown and no style changed.

Every function draws on the axes it is given, or on those of a new figure, and returns them. Amounts are coloured by
viridis, signed values by a diverging map with 0 in its middle, categories by Okabe and Ito's colours: all three can be
told apart with any kind of colour vision.
"""

from ._style import figure
from .embedding import tsne
from .energies import energy_profile, energy_split, s_values
from .frequency import gft, kernel, response, spectrum
from .layouts import LAYOUTS, positions
from .nodes import filtered, labels, signal
from .training import alphas

__all__ = [
    "LAYOUTS",
    "alphas",
    "energy_profile",
    "energy_split",
    "figure",
    "filtered",
    "gft",
    "kernel",
    "labels",
    "positions",
    "response",
    "s_values",
    "signal",
    "spectrum",
    "tsne",
]
