r"""Graphs from smooth signals: weights that make the observed signals vary little over heavy edges.

With squared distances :math:`z_{ij} = |x_i - x_j|^2` over candidate edges and the degrees :math:`d = Sw`,

.. math:: \min_{w \ge 0}\; 2 z^T w + \beta |w|^2 + \sum_i g(d_i), \qquad
          g(d) = -\log d \;(\text{log}), \quad g(d) = \tfrac{a}{2} d^2,\ 2 \cdot 1^T w = n,\ \beta = a \;(\text{l2}).

The dual has one variable a node. Accelerated proximal gradients with a step for each node (``S S' <= 2 D``) solve it;
the weights follow from the dual variables. The duality gap is a sum over nodes, and as the objective is strongly
convex, ``beta |w - w*|^2 <= gap``.
"""

from .learn import LearnedGraph, learn_graph, learn_weights
from .models import MODELS

__all__ = ["MODELS", "LearnedGraph", "learn_graph", "learn_weights"]
