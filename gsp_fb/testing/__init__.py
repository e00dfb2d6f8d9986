"""Hypothesis strategies for graphs, signals and operators.

A law is one function: draw an operator and a signal, assert a property. The paper's dense matrices and the rounding
tolerance to compare with are in :mod:`gsp_fb.theory`.

>>> import numpy as np
>>> from hypothesis import given
>>> from gsp_fb.testing import operators, signals
>>> from gsp_fb.theory import paper_matrix, tolerance
>>> @given(operators(), signals())
... def an_operator_is_the_papers_matrix(op, signal):
...     x, matrix = signal(op.graph), paper_matrix(op)
...     scale = (1 + np.abs(matrix).max()) * np.abs(x).max()
...     np.testing.assert_allclose(op @ x, matrix @ x, rtol=0, atol=tolerance(len(x), scale=scale))
>>> an_operator_is_the_papers_matrix()

This package needs hypothesis; no other package of gsp_fb imports it.
"""

from . import _guard as _guard
from ._graphs import adjacencies, graphs, magnetic_graphs, signed_graphs
from ._operators import channels, families, gammas, isolated_policies, operators
from ._signals import graphs_with_signals, signals

__all__ = ["adjacencies", "channels", "families", "gammas", "graphs", "graphs_with_signals", "isolated_policies"]
__all__ += ["magnetic_graphs", "operators", "signals", "signed_graphs"]
