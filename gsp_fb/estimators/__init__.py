"""scikit-learn estimators on graphs: a row of ``X`` is a node.

The parameters determine the meaning of the rows:

``graph=g``
    ``X`` has one row per node, in node order (transductive: ``fit_transform`` on all nodes; unlabelled ones are -1).
``graph=g, features=F``
    ``X`` is a column of node numbers and ``F`` holds the features of all nodes, so that ``GridSearchCV`` and other
    tools that select rows work.
``graph=None``
    A nearest-neighbour graph of ``X``: each row, also a new one, has arcs to its nearest training rows.
"""

from . import _guard as _guard
from .classifier import FilterBankClassifier
from .embedding import GraphSpectralEmbedding
from .transformer import FilterBankTransformer

__all__ = ["FilterBankClassifier", "FilterBankTransformer", "GraphSpectralEmbedding"]
