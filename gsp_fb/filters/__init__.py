"""Filters: kernels on the frequency axis, banks of them, and what they are used for.

>>> from gsp_fb import Graph, operator
>>> path = Graph.from_edges([(0, 1), (1, 2)])
>>> FilterBank(operator(path, "sym", channel="high"), [heat(5.0), *meyer(3)])
FilterBank(Operator(sym, high, n_nodes=3), [heat(5), meyer/low, meyer/1, meyer/2], tol=0.0001)
"""

from .achieved import AchievedError
from .bank import FilterBank
from .denoise import Denoised, denoise
from .kernels import (
    KERNELS,
    TIGHT,
    Kernel,
    abspline,
    as_kernel,
    exponential_window,
    gabor,
    half_cosine,
    heat,
    held,
    high_pass,
    ideal,
    itersine,
    low_pass,
    mexican_hat,
    meyer,
    papadakis,
    ppr,
    rational,
    regular,
    simoncelli,
    simple_tight,
    wave,
)
from .plan import METHODS, Plan
from .sampled import Sampling
from .solve import classify, interpolate, tikhonov, wiener
from .stationarity import Stationarity, stationarity
from .two_channel import TwoChannelBank, two_channel

__all__ = [
    "KERNELS",
    "METHODS",
    "TIGHT",
    "AchievedError",
    "Denoised",
    "FilterBank",
    "Kernel",
    "Plan",
    "Sampling",
    "Stationarity",
    "TwoChannelBank",
    "abspline",
    "as_kernel",
    "classify",
    "denoise",
    "exponential_window",
    "gabor",
    "half_cosine",
    "heat",
    "held",
    "high_pass",
    "ideal",
    "interpolate",
    "itersine",
    "low_pass",
    "mexican_hat",
    "meyer",
    "papadakis",
    "ppr",
    "rational",
    "regular",
    "simoncelli",
    "simple_tight",
    "stationarity",
    "tikhonov",
    "two_channel",
    "wave",
    "wiener",
]
