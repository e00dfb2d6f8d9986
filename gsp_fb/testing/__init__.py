"""Hypothesis strategies for graphs, signals and operators, and the oracles to compare with.

A law is one function: draw an operator and a signal, assert a property.

>>> from hypothesis import given
>>> from gsp_fb.testing import assert_close, operators, paper_matrix, signals, size_of
>>> @given(operators(), signals())
... def an_operator_is_the_papers_matrix(op, signal):
...     x = signal(op.graph)
...     matrix = paper_matrix(op)
...     assert_close(op @ x, matrix @ x, scale=(1 + size_of(matrix)) * size_of(x))
>>> an_operator_is_the_papers_matrix()

This package needs hypothesis; no other package of gsp_fb imports it.
"""

from __future__ import annotations

from ..theory.dense import paper_dense, paper_matrix
from ..theory.tolerance import tolerance
from ._adjacencies import adjacencies
from ._closeness import assert_close, size_of
from ._graphs import SHAPES, graphs
from ._operators import channels, families, gammas, isolated_policies, operators
from ._signals import KINDS, SignalRecipe, graphs_with_signals, signals
from ._signed import magnetic_graphs, signed_graphs

__all__ = [
    "KINDS",
    "SHAPES",
    "SignalRecipe",
    "adjacencies",
    "assert_close",
    "channels",
    "families",
    "gammas",
    "graphs",
    "graphs_with_signals",
    "isolated_policies",
    "magnetic_graphs",
    "operators",
    "paper_dense",
    "paper_matrix",
    "signals",
    "signed_graphs",
    "size_of",
    "tolerance",
]
