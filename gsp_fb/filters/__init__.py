"""Filters: kernels on the frequency axis, banks of them, and what they are used for.

>>> from gsp_fb import Graph, operator
>>> path = Graph.from_edges([(0, 1), (1, 2)])
>>> FilterBank(operator(path, "sym", channel="high"), [heat(5.0), *meyer(3)])
FilterBank(Operator(sym, high, n_nodes=3), [heat(5), meyer/low, meyer/1, meyer/2], tol=0.0001)
"""

from . import kernels
from .achieved import AchievedError
from .bank import FilterBank
from .denoise import Denoised, denoise
from .kernels import *  # noqa: F403  # the module lists them
from .plan import METHODS, Plan
from .sampled import Sampling
from .solve import classify, interpolate, tikhonov, wiener
from .stationarity import Stationarity, stationarity
from .two_channel import TwoChannelBank, two_channel

__all__ = ["METHODS", "AchievedError", "Denoised", "FilterBank", "Plan", "Sampling", "Stationarity", "TwoChannelBank"]
__all__ += ["classify", "denoise", "interpolate", "stationarity", "tikhonov", "two_channel", "wiener"]
__all__ += kernels.__all__
