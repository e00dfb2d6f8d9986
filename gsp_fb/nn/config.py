"""How a model is trained and what it reached: frozen objects that are stored beside each other."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .._arguments import check_choice, check_count, check_number, check_positive
from .._atomic import finite
from ..errors import ParameterError
from .targets import METRICS

__all__ = ["TrainConfig", "TrainResult"]

CHOICES = {"monitor": ("loss", "score"), "metric": ("auto", *METRICS), "batch": ("none", "cluster")}


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Adam with early stopping on validation.

    Parameters
    ----------
    lr, weight_decay : float
        Of Adam [1]_; mixing weights are never decayed.
    epochs : int
        Largest number of epochs. A stored run is extended by giving more.
    patience : int
        Stop when validation has not improved for so many epochs.
    monitor : {'loss', 'score'}
        What of validation counts: the loss, or the metric.
    metric : {'auto', 'accuracy', 'roc_auc', 'micro_f1', 'r2'}
        ``auto`` is accuracy for classes, micro-F1 for several labels and R2 for numbers.
    normalize : bool
        Divide every row of the features by its sum.
    batch : {'none', 'cluster'}
        Node tasks: one step on the whole graph, or steps on clusters of about ``batch_size`` nodes whose operator is
        cut out of the whole graph's [2]_, so that degrees are those of the whole graph; attention is that among the
        nodes of the batch. Models with a sampler of their own (GraphSAINT) use that one.
    batch_size : int
        Graphs, or nodes of a cluster batch, a step.
    eval_every : int
        Epochs between evaluations; the chosen epoch is one of those evaluated.
    checkpoint_every : int
        Epochs between checkpoints, where a run directory is given.
    compile : bool
        Let ``torch.compile`` translate the forward pass. The first epoch waits for a C++ compiler, and numbers may
        differ by rounding.

    See Also
    --------
    train : Train a model with a configuration.
    search : Choose the values by validation.

    References
    ----------
    .. [1] D. P. Kingma and J. Ba, "Adam: A method for stochastic optimization", ICLR 2015.
    .. [2] W.-L. Chiang et al., "Cluster-GCN: An efficient algorithm for training deep and large graph convolutional
       networks", KDD 2019.

    Examples
    --------
    >>> TrainConfig(lr=0.05).lr
    0.05
    >>> TrainConfig(lr=-1)
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: lr must be finite and > 0, not -1
    """

    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 1000
    patience: int = 100
    monitor: str = "loss"
    metric: str = "auto"
    normalize: bool = True
    batch: str = "none"
    batch_size: int = 32
    eval_every: int = 1
    checkpoint_every: int = 50
    compile: bool = False

    def __post_init__(self) -> None:
        check_positive(self.lr, "lr")
        if check_number(self.weight_decay, "weight_decay") < 0:
            raise ParameterError(f"weight_decay must be finite and >= 0, not {self.weight_decay!r}")
        for name in ("epochs", "patience", "batch_size", "eval_every", "checkpoint_every"):
            check_count(getattr(self, name), name)
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), choices, name)
        for name in ("normalize", "compile"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False, not {getattr(self, name)!r}")

    def as_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON holds it."""
        return asdict(self)


@dataclass(frozen=True)
class TrainResult:
    """Result of a training run; ``scores`` and ``losses`` are those of the epoch that validation chose.

    Parameters
    ----------
    best_epoch, epochs : int
        The chosen epoch, and how many were run; epochs count from 1.
    scores, losses : dict
        By part: ``train``, ``val``, ``test``; nan for an empty part.
    s_value, s_value_probabilities : float
        Smoothness of the chosen output on the graph: of logits, and of class probabilities (nan for regression).
    expected_s_value : float
        Expectation of that of the logits under random permutation of the nodes.
    alphas : list
        Mixing weights of the chosen state, one row a layer.
    seconds : float
        Wall time of training, earlier sessions of a resumed run included; of a batch, the run's equal share.
    memory : float
        Peak memory in MB: of the process, or on a GPU of torch's allocations.
    shares : list
        Mean shares of the channels in the chosen state, one row a layer; empty for one channel.
    history : list of dict
        One row an evaluated epoch, as in ``metrics.csv``.

    See Also
    --------
    train, train_splits : The functions that return it.
    read_metrics : The history of a stored run.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> result = train(build("fb-gcn", data), data, data.splits[0], TrainConfig(epochs=3))
    >>> result.epochs, sorted(result.scores), len(result.alphas), len(result.history)
    (3, ['test', 'train', 'val'], 2, 3)
    """

    best_epoch: int
    epochs: int
    scores: dict[str, float]
    losses: dict[str, float]
    s_value: float
    s_value_probabilities: float
    expected_s_value: float
    alphas: list[list[float]]
    seconds: float
    memory: float
    shares: list[list[float]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(repr=False, default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON holds it, without the history."""
        facts = {name: value for name, value in asdict(self).items() if name != "history"}
        for name in ("scores", "losses"):
            facts[name] = {part: finite(value) for part, value in facts[name].items()}
        return {**facts, **{name: finite(facts[name]) for name in facts if "s_value" in name}}
