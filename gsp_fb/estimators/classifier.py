"""Graph neural networks with the interface of scikit-learn: the models and the trainer of :mod:`gsp_fb.nn`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arguments import check_choice, check_rng
from ..backend import FloatArray, IntArray
from ..errors import ParameterError
from ._rows import PRECISIONS, Rows, RowsEstimator

__all__ = ["FilterBankClassifier"]

UNLABELLED = -1


@dataclass(eq=False, repr=False)
class FilterBankClassifier(ClassifierMixin, RowsEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Classify nodes with any node model of ``gsp_fb.nn.MODELS``, trained by :func:`gsp_fb.nn.train`.

    Parameters
    ----------
    graph : Graph, adjacency matrix or None
        With a graph ``X`` has one row per node. None: each row has arcs to its ``n_neighbors`` nearest training rows.
    model : str
        A row of ``MODELS`` that classifies nodes.
    hidden, dropout : int, and float
        Width of the hidden layers, and dropout probability.
    model_options : dict, optional
        Further options of the model: ``family``, ``gamma``, ``channels``, ``layers``, ...; see
        :func:`gsp_fb.nn.describe`.
    lr, weight_decay : float
        Learning rate and weight decay of :class:`gsp_fb.nn.TrainConfig`.
    epochs, patience : int
        Maximal number of epochs, and epochs without improvement before training stops.
    normalize : bool
        Divide each row of the features by its sum.
    validation_fraction : float, optional
        Stratified share of the labelled rows that is held out to choose the epoch and stop early. By default none is,
        and the last epoch is used.
    features, n_neighbors
        As of :class:`FilterBankTransformer`.
    random_state : int, RandomState, Generator or None
        Randomness of weights, dropout and held-out rows; None draws anew each time.

    Attributes
    ----------
    classes_ : array
    transduction_ : array, shape (n_nodes,)
        Predicted class of every node of the training graph, labelled or not.
    alphas_ : array, shape (n_layers, 2)
        Mixing weights of the low and the high channel; no rows for one-channel models.
    result_ : TrainResult
    n_iter_ : int
        Number of epochs run.

    See Also
    --------
    FilterBankTransformer : The channels as features of any classifier.
    gsp_fb.nn.train : The trainer.

    Notes
    -----
    The label -1 means unlabelled, as in ``sklearn.semi_supervised``: such rows contribute their features and edges.
    Labels that are strings may be mixed with -1 in an object array.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> x, y = [[1.0], [-1.0]] * 4, [0, 1, 0, 1, -1, -1, -1, -1]
    >>> FilterBankClassifier(ring(8), epochs=50, dropout=0.0).fit(x, y).predict(x).tolist()
    [0, 1, 0, 1, 0, 1, 0, 1]
    """

    graph: Any = None
    _: KW_ONLY
    model: str = "fb-gcn"
    hidden: int = 32
    dropout: float = 0.5
    model_options: Mapping[str, Any] | None = None
    lr: float = 0.05
    weight_decay: float = 5e-4
    epochs: int = 200
    patience: int = 100
    normalize: bool = False
    validation_fraction: float | None = None
    features: Any = None
    n_neighbors: int = 10
    random_state: Any = 0

    def fit(self, X: Any, y: Any) -> FilterBankClassifier:
        """Train the network.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
            Features, or a column of node numbers.
        y : array_like, shape (n_samples,)
            Classes; -1 where unlabelled.

        Returns
        -------
        FilterBankClassifier
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=PRECISIONS)
        self.classes_, codes = _encode_labels(y)
        rows = self._train_rows(X)
        labels = _labels_of_nodes(codes, rows.nodes, rows.graph.n_nodes)
        self._seed = _seed_of(self.random_state)
        self._train(rows, labels)
        return self

    def _train(self, rows: Rows, labels: IntArray) -> None:
        from .. import nn

        names = ("lr", "weight_decay", "epochs", "patience", "normalize")
        config = nn.TrainConfig(**{name: getattr(self, name) for name in names})
        network = self._network(rows)
        data = SimpleNamespace(graph=rows.graph, x=rows.signal, y=labels)
        self.result_ = nn.train(network, data, self._split(labels), config)
        self.n_iter_ = self.result_.epochs
        self.alphas_ = np.array(self.result_.alphas).reshape(-1, 2)
        # Plain arrays can be pickled; a network with sparse tensors cannot.
        self._weights = {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}
        self.transduction_ = self.classes_[self._probabilities(rows).argmax(axis=1)]

    def _split(self, labels: IntArray) -> SimpleNamespace:
        known, held = np.flatnonzero(labels >= 0), np.zeros(0, dtype=np.int64)
        if self.validation_fraction is not None:
            known, held = train_test_split(
                known, test_size=self.validation_fraction, stratify=labels[known], random_state=self._seed
            )
        return SimpleNamespace(train=known, val=held, test=np.zeros(0, dtype=np.int64))

    def _network(self, rows: Rows, **place: Any) -> Any:
        from .. import nn

        check_choice(self.model, [name for name, row in nn.MODELS.items() if row.task == "node"], "node model")
        data = SimpleNamespace(graph=rows.graph, x=rows.signal, y=np.arange(len(self.classes_)))
        options = {"hidden": self.hidden, "dropout": self.dropout, **(self.model_options or {})}
        return nn.build(self.model, data, seed=self._seed, **options, **place)

    def _probabilities(self, rows: Rows) -> FloatArray:
        """Return the probabilities of all nodes of the rows' graph."""
        import torch

        from .. import nn

        # Double precision keeps the influence of the other rows on a row below the tolerance of scikit-learn's checks.
        network = self._network(rows, dtype=torch.float64)
        network.load_state_dict({name: torch.from_numpy(value) for name, value in self._weights.items()})
        network.eval()
        with torch.no_grad():
            logits = network(nn.features(rows.signal, normalize=self.normalize, dtype=torch.float64))
        found: FloatArray = torch.softmax(logits, dim=-1).numpy()
        return found

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every class, shape (n_samples, n_classes), in the order of ``classes_``."""
        check_is_fitted(self, "classes_")
        rows = self._rows(X)
        return self._probabilities(rows)[rows.nodes]

    def predict(self, X: Any) -> Any:
        """Return the most probable class of every row, shape (n_samples,)."""
        chosen = self.predict_proba(X).argmax(axis=1)  # first, as it checks that the estimator is fitted
        return self.classes_[chosen]


def _encode_labels(y: Any) -> tuple[Any, IntArray]:
    """Return the classes and the class number of each row, -1 where it is unlabelled."""
    known = y != UNLABELLED if y.dtype.kind in "iufO" else np.ones(len(y), dtype=bool)
    if not np.any(known):
        raise ParameterError("every label is -1 (unlabelled); there is nothing to learn")
    check_classification_targets(y[known])
    codes = np.full(len(y), UNLABELLED)
    classes, codes[known] = np.unique(y[known], return_inverse=True)
    return classes, codes


def _labels_of_nodes(codes: IntArray, nodes: IntArray, n_nodes: int) -> IntArray:
    """Return the labels of all nodes: those of the listed ones, and -1 for the rest."""
    labels = np.full(n_nodes, UNLABELLED)
    labels[nodes] = codes
    torn = np.flatnonzero(labels[nodes] != codes)
    if torn.size:
        raise ParameterError(f"node {nodes[torn[0]]} is listed more than once, with different labels")
    return labels


def _seed_of(random_state: Any) -> int:
    """Return an integer seed: ``random_state`` itself, or a number drawn from a ``RandomState`` or ``Generator``."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    # scikit-learn interprets None as the global state; here it is a fresh generator.
    return int(check_rng(random_state).integers(2**31 - 1))
