"""scikit-learn estimators on graphs: a row of ``X`` is a node.

What a row means is decided by the parameters, never guessed:

``graph=g``
    ``X`` has one row a node, in node order (transductive: ``fit_transform`` on all nodes; unlabelled ones are -1).
``graph=g, features=F``
    ``X`` is a column of node numbers and ``F`` holds the features of all nodes, so that ``GridSearchCV`` and every
    other tool that selects rows works.
``graph=None``
    The graph is made from ``X``: every row takes from its nearest training rows, also one that comes later.
"""

from . import _guard as _guard
from .classifier import FilterBankClassifier
from .embedding import GraphSpectralEmbedding
from .transformer import FilterBankTransformer

__all__ = ["FilterBankClassifier", "FilterBankTransformer", "GraphSpectralEmbedding"]
