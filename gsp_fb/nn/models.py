"""The table of models: a propagation, layer options, defaults and a search space a row; the rest is shared code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from torch import nn

from ..errors import ParameterError
from ..filters.heat_basis import PAIRS
from ..variants import VARIANTS
from . import builders
from .builders import BuildContext

__all__ = ["MODELS", "Model", "describe", "register_model", "takes_dense"]

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """A row of the model table: constructor, options with defaults, training defaults and search space.

    Parameters
    ----------
    name, title : str
        Key in ``MODELS``, and the name in tables and plots.
    construct : callable
        Makes the network from a ``BuildContext`` (data, options, random streams).
    options : mapping
        Every option of :func:`gsp_fb.nn.build` that the model knows, with its default.
    training : mapping
        Defaults of :class:`TrainConfig` that suit the model.
    space : mapping
        The values of options and of the training configuration that a search tries.
    extra : mapping
        Further choices that a search includes by ``also=``: the operator family where there is one, and
        GWNN's pair of wavelets.
    task : {'node', 'graph'}
        Whether nodes or whole graphs are classified.
    alternatives : tuple of mapping
        Options beside the defaults: where none is stated, ``gsp-fb train`` compares them by validation.

    See Also
    --------
    register_model : Add a row of your own.
    describe : All rows as plain dictionaries.
    build : Make the network of a row.

    Examples
    --------
    >>> MODELS["fb-gcn"].title, MODELS["fb-gcn"].options["channels"]
    ('FB-GCN', 'both')
    """

    name: str
    title: str
    construct: Callable[[BuildContext], nn.Module]
    options: Options
    training: Options = field(default_factory=dict)
    space: Options = field(default_factory=dict)
    extra: Options = field(default_factory=dict)
    task: str = "node"
    alternatives: tuple[Options, ...] = ()


# The grid of the paper's section on experiments, with the two choices that it leaves open: width and normalisation.
_GRID: Options = {
    "lr": (0.01, 0.05, 0.1),
    "weight_decay": (0.0, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2),
    "dropout": tuple(k / 10 for k in range(10)),
    "hidden": (16, 32, 64),
    "normalize": (True, False),
}
# Eigenvalues of an unnormalised operator grow with the degrees, and so would the activations.
_FAMILIES: Options = {"family": tuple(name for name, row in VARIANTS.items() if row.norm != "none")}
_GIN_GRID: Options = {
    "lr": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    "weight_decay": (1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2),
    "dropout": (0.0, 0.25, 0.5, 0.75, 0.9),
    "hidden": (8, 16, 32, 64, 128),
    "batch_size": (32, 128),
    "concat": (True, False),
}
_COMMON: Options = {"hidden": 32, "dropout": 0.5}
_DEPTH: Options = {"layers": 2, "residual": False, "norm": "none", "input_dropout": None}
_BANK: Options = {"channels": "low", "mixing": "scalar"}
# q: phase of an arc in turns; the operator is then that of graph.magnetic(q).
_OPERATOR: Options = {"family": "renorm_sym", "gamma": None, "isolated": "self", "q": None}
_STACK: Options = {**_COMMON, **_DEPTH, **_BANK, "transformation": None, "order": "before"}
_SAINT: Options = {**_STACK, "hidden": 512, "dropout": 0.1, "n_roots": 3000, "length": 2, "coverage": 50}
_DEEP: Options = {**_COMMON, "hidden": 64, "depth": 8, "alpha": 0.5, "lambda_": 1.5, **_BANK, **_OPERATOR}
_GIN: Options = {**_COMMON, "layers": 4, "concat": True, **_BANK, "learned": False, "gamma": 0.0}
_WAVELET: Options = {**_STACK, "scale": 1.0, "threshold": 1e-4, "family": "sym", "inverse": "exact"}
# Filters of degree 10 over the normalised adjacency, as published; GPRGNN's has self-loops.
_FILTER: Options = {"degree": 10, "filter_rate": 1.0, "filter_dropout": 0.0}
_POLYNOMIAL: Options = {**_COMMON, "hidden": 64, **_DEPTH, **_FILTER, **_OPERATOR, "family": "sym"}
_SAINT_GRID: Options = {**_GRID, "hidden": (64, 128, 256, 512)}
_WAVELETS: Options = {**_FAMILIES, "inverse": tuple(PAIRS)}
_DEEP_GRID: Options = {**_GRID, "alpha": (0.1, 0.2, 0.5), "lambda_": (0.5, 1.0, 1.5)}
_GAT: Options = {**_STACK, "hidden": 8, "heads": 8, "attention_dropout": 0.5}
_GAT_GRID: Options = {**_GRID, "lr": (0.005, 0.01, 0.05), "hidden": (4, 8, 16, 64)}
_GIN_GAMMAS: Options = {**_GIN_GRID, "gamma": (-0.5, 0.0, 0.5, 1.0, 1.5)}
_ADAM: Options = {"lr": 0.01}
_FAST: Options = {"lr": 0.05, "weight_decay": 5e-4}
_SLOW: Options = {"lr": 0.01, "weight_decay": 0.0}
# Under the weight decay of a GCN the weights of Geom-GCN shrink where they have to grow, and nothing is learned.
_GEOMETRIC: Options = {**_FAST, "weight_decay": 5e-6}
_METHODS = {"p": "poincare", "s": "struc2vec", "i": "MDS"}
_SPACES: Mapping[str, Options] = {letter: {**_STACK, "method": method} for letter, method in _METHODS.items()}
_BASELINES = (
    Model("mlp", "MLP", builders.perceptron, {**_COMMON, **_DEPTH}, _FAST, _GRID),
    Model("gcn", "GCN", builders.operator_stack, {**_STACK, **_OPERATOR}, _FAST, _GRID, _FAMILIES),
    Model("gat", "GAT", builders.attention_stack, _GAT, {"lr": 0.005, "weight_decay": 5e-4}, _GAT_GRID),
    Model("graphsage", "GraphSAGE", builders.mean_stack, {**_STACK, "fanout": None}, _FAST, _GRID),
    Model("graphsaint", "GraphSAINT", builders.saint_stack, _SAINT, _SLOW, _SAINT_GRID),
    *(
        Model(f"geom-gcn-{letter}", f"Geom-GCN-{letter.upper()}", builders.relation_stack, options, _GEOMETRIC, _GRID)
        for letter, options in _SPACES.items()
    ),
    Model("gwnn", "GWNN", builders.wavelet_stack, _WAVELET, _SLOW, _GRID, _WAVELETS),
    Model("gcnii", "GCNII", builders.deep_network, {**_DEEP, "star": False}, _ADAM, _DEEP_GRID, _FAMILIES),
    Model("gcnii*", "GCNII*", builders.deep_network, {**_DEEP, "star": True}, _ADAM, _DEEP_GRID, _FAMILIES),
    Model("gin-0", "GIN-0", builders.gin_network, {**_GIN, "learned": False}, _ADAM, _GIN_GAMMAS, task="graph"),
    Model("gin-eps", "GIN-eps", builders.gin_network, {**_GIN, "learned": True}, _ADAM, _GIN_GRID, task="graph"),
)

# Chosen by validation on WebKB and Chameleon, see docs/defaults.md (``python -m paper.defaults``): raw features under a
# larger weight decay, and a lazy walk, whose high channel keeps half of a node's own value.
_LAZY: Options = {"family": "lazy_rw", "dropout": 0.3}
_RAW: Options = {"lr": 0.01, "weight_decay": 5e-3, "normalize": False}
_NORMALIZED: Options = {"norm": "layer", "dropout": 0.7, "hidden": 64}
_CHOSEN: Mapping[str, Mapping[str, Any]] = {"gcn": {"options": _LAZY, "training": _RAW, "alternatives": (_NORMALIZED,)}}


def _filterbank(row: Model) -> Model:
    """Return the two-channel form of a baseline: one argument apart, and defaults of its own where some are chosen."""
    own = _CHOSEN.get(row.name, {})
    options = {**row.options, "channels": "both", **own.get("options", {})}
    name, title, other = f"fb-{row.name}", f"FB-{row.title}", {k: own[k] for k in own if k != "options"}
    return replace(row, name=name, title=title, options=options, **other)


_THREE: Options = {"channels": ("low", "high", "identity"), "mixing": "node", "order": "after"}
_ACM: Options = {**_STACK, **_OPERATOR, **_LAZY, **_THREE, "hidden": 64}


def _polynomial(name: str, title: str, basis: str, *, lr: float = 0.01, decay: float = 5e-4, **own: Any) -> Model:
    options, training = {**_POLYNOMIAL, "basis": basis, **own}, {"lr": lr, "weight_decay": decay}
    return Model(name, title, builders.polynomial_stack, options, training, _GRID, _FAMILIES)


_LEARNABLE = (
    Model("acm-gcn", "ACM-GCN", builders.operator_stack, _ACM, _RAW, _GRID, _FAMILIES),
    _polynomial("gprgnn", "GPRGNN", "monomial", family="renorm_sym"),
    _polynomial("bernnet", "BernNet", "bernstein"),
    _polynomial("chebnetii", "ChebNetII", "chebyshev"),
    # Linear, one map before the filter; the better of two settings on Texas and Cornell by validation, five splits.
    _polynomial("jacobiconv", "JacobiConv", "jacobi", lr=0.05, decay=5e-5, layers=1, a=1.0, b=1.0, scale=1.0),
)
_ROWS = (*_BASELINES, *(_filterbank(row) for row in _BASELINES if "channels" in row.options), *_LEARNABLE)
_TABLE = {row.name: row for row in _ROWS}
MODELS: Mapping[str, Model] = MappingProxyType(_TABLE)


def register_model(row: Model) -> Model:
    """Add a model of your own to ``MODELS``: it then builds, trains, searches, checkpoints and predicts by its name.

    Parameters
    ----------
    row : Model
        ``row.construct`` receives an object with ``graph``, ``n_features``, ``n_classes``, ``options`` and
        ``generator`` and returns a module whose ``forward(x)`` maps dense features to outputs, one row a node.

    Returns
    -------
    Model
        The row.

    Raises
    ------
    ParameterError
        No :class:`Model`, or a name that the package uses itself.

    See Also
    --------
    gsp_fb.nn.build : Build a model by its name.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import build
    >>> row = Model("linear", "Linear", lambda plan: nn.Linear(plan.n_features, plan.n_classes), {})
    >>> data = contextual_sbm(30, rng=0)
    >>> build(register_model(row).name, data).weight.shape[0] == len(set(data.y))
    True
    """
    if not isinstance(row, Model):
        raise ParameterError(f"register_model takes a gsp_fb.nn.Model, not {type(row).__name__}")
    if row.name in {known.name for known in _ROWS}:
        raise ParameterError(f"model {row.name!r} is one of the package's own; give yours another name")
    _TABLE[row.name] = row
    return row


def takes_dense(name: str) -> bool:
    """Return whether a model expects a dense feature matrix: all that users have registered."""
    return name not in {row.name for row in _ROWS}


def describe() -> list[dict[str, Any]]:
    """Return one dictionary a model: name, title, task, options, training defaults, search space and its extras.

    Returns
    -------
    list of dict
        In the order of ``MODELS``; serialisable as JSON.

    See Also
    --------
    Model : A row of the table.
    build : Make the network of a row.

    Examples
    --------
    >>> [row["name"] for row in describe()][:3]
    ['mlp', 'gcn', 'gat']
    """
    rows = []
    for row in MODELS.values():
        facts = {"name": row.name, "title": row.title, "task": row.task}
        facts["channels"] = row.options.get("channels", "none")
        choices = {kind: {k: list(v) for k, v in getattr(row, kind).items()} for kind in ("space", "extra")}
        rows.append({**facts, "options": dict(row.options), "training": dict(row.training), **choices})
    return rows
