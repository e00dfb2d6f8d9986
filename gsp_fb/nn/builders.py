"""How a row of the model table becomes a network: one builder for each kind of propagation."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from .. import datasets
from .._arguments import check_count, check_host
from .._kernels.attention import EdgeList
from .._kernels.torch_matrix import SparseMatrix
from ..datasets.divisions import N_DIVISIONS, relation_matrix
from ..errors import ParameterError
from ..filters.heat_basis import heat_wavelets
from ..graph import Graph
from ..operators import operator
from ..sampling.subgraphs import mean_matrix
from ..variants import VARIANTS
from .channels import channel_names
from .deep import DeepNetwork, ResidualBlock
from .graphs import GinNetwork
from .layer import FilterBankLayer
from .network import Network
from .parts import Dropout, Linear
from .propagation.attention import Attention
from .propagation.operators import Complement, RelationPropagation, Spatial, Wavelet, operator_propagation
from .propagation.polynomial import PolynomialFilter, PolynomialPropagation
from .samplers import NeighbourSampler, SaintSampler

__all__ = ["BuildContext"]


@dataclass(frozen=True, eq=False)
class BuildContext:
    """What a builder knows: the data's shape, the options, and the streams that weights and dropout come from."""

    graph: Graph
    n_features: int
    n_classes: int
    options: Mapping[str, Any]
    generator: torch.Generator
    noise: torch.Generator
    relations: Any
    data_dir: str | os.PathLike[str] | None
    name: str | None
    copies: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device

    @property
    def place(self) -> dict[str, Any]:
        """Precision and device, as keyword arguments."""
        return {"dtype": self.dtype, "device": self.device}

    @property
    def weights(self) -> dict[str, Any]:
        """Random stream and number of parameter sets, as keyword arguments."""
        return {"generator": self.generator, "copies": self.copies}

    def pick(self, *names: str) -> dict[str, Any]:
        """Return those of the named options that the row has, as keyword arguments."""
        return {name: self.options[name] for name in names if name in self.options}

    def dropout(self, name: str = "dropout") -> Dropout:
        """Return the dropout of the named option."""
        return Dropout(float(self.options[name]), self.noise, copies=self.copies)

    def single(self) -> None:
        """Refuse several parameter sets where a propagation has parameters of its own."""
        if self.copies:
            raise ParameterError("this model cannot train several parameter sets as one batch; give copies=()")


def _stack(
    plan: BuildContext,
    factory: Callable[[int, bool], Any],
    *,
    sampler: Any = None,
    hidden: int | None = None,
    filtering: PolynomialPropagation | None = None,
    **layer: Any,
) -> Network:
    """Return layers of the row's options; ``factory(width, last)`` makes the propagation of each.

    With residuals the layers keep their width, between a map of the features and a map to the classes.
    """
    count, residual, norm = plan.options["layers"], plan.options["residual"], plan.options["norm"]
    hidden = plan.options["hidden"] if hidden is None else hidden
    inner = [hidden] * (count - 1)
    widths = [hidden, *inner, hidden] if residual else [plan.n_features, *inner, plan.n_classes]
    lift = Linear(plan.n_features, hidden, bias=True, **plan.weights) if residual else None
    shared = {**plan.pick("channels", "mixing", "transformation", "order"), **layer, **plan.weights}
    layers = []
    for position, (n_in, n_out) in enumerate(pairwise(widths), 1):
        last = position == count and not residual
        output = "identity" if last else layer.get("activation", "relu")
        own: dict[str, Any] = {"output": output, "norm": "none" if last else norm, **shared}
        layers.append(FilterBankLayer(n_in, n_out, factory(n_out, last), **own))
    head = Linear(hidden, plan.n_classes, bias=True, **plan.weights) if residual else None
    entering = None if plan.options["input_dropout"] is None else plan.dropout("input_dropout")
    maps: dict[str, Any] = {"input_dropout": entering, "lift": lift, "head": head}
    return Network(layers, plan.dropout(), residual=residual, filtering=filtering, sampler=sampler, **maps)


def perceptron(plan: BuildContext) -> nn.Module:
    """Return a multilayer perceptron: the stack without a graph."""
    return _stack(plan, lambda width, last: Complement(torch.positive), channels="low")


def _operator(plan: BuildContext) -> Complement:
    """Return the pair of the graph's operator, or with the option ``q`` of the magnetic graph of its arcs."""
    graph, q = plan.graph, plan.options.get("q")
    if q is not None and not graph.directed:
        raise ParameterError(f"q={q!r} is for directed graphs and this one is not; load the data with directed=True")
    phased = graph if q is None else graph.magnetic(q)
    return operator_propagation(phased, **plan.pick("family", "gamma", "isolated"), **plan.place)


def operator_stack(plan: BuildContext) -> nn.Module:
    """Return the stack over one operator family (GCN, ACM-GCN)."""
    shared = _operator(plan)
    return _stack(plan, lambda width, last: shared)


def polynomial_stack(plan: BuildContext) -> nn.Module:
    """Return a perceptron whose output a learnable filter of the operator propagates (GPRGNN and its kin)."""
    if VARIANTS[plan.options["family"]].norm == "none":
        raise ParameterError("a polynomial filter needs frequencies in [0, 2]; take a normalised family, not 'comb'")
    own = {"dropout": plan.dropout("filter_dropout"), "width": plan.n_classes, **plan.pick("basis", "a", "b", "scale")}
    order, rate = plan.options["degree"], plan.options["filter_rate"]
    learned = PolynomialFilter(order=order, rate=rate, copies=plan.copies, **own)
    filtering = PolynomialPropagation(_operator(plan), learned)
    return _stack(plan, lambda width, last: Complement(torch.positive), channels="low", filtering=filtering)


def attention_stack(plan: BuildContext) -> nn.Module:
    """Return the stack over attention (GAT): heads side by side, their mean in the last layer."""
    plan.single()
    check_host(plan.graph.device, "lists of edges for attention are made")
    edges = EdgeList(plan.graph.adjacency)
    heads, noise = plan.options["heads"], plan.dropout("attention_dropout")

    def factory(width: int, last: bool) -> Attention:
        return Attention(edges, width, plan.generator, heads=1 if last else heads, average=last, dropout=noise)

    return _stack(plan, factory, hidden=plan.options["hidden"] * heads, activation="elu")


def mean_stack(plan: BuildContext) -> nn.Module:
    """Return the stack over the neighbour mean with a root map (GraphSAGE), ``fanout`` neighbours sampled if given.

    The low channel is the published ``M h``; only beside a high channel it is the sum of the paper's sum and
    difference pair. With ``h + M h`` alone the same functions are trained along other directions: whatever moves the
    map of a node's own features moves that of its neighbours, and on WebKB the test accuracy falls by 14 to 19 points,
    at every learning rate, with either initialisation and with or without weight decay.
    """
    pair = Spatial if "high" in channel_names(plan.options["channels"]) else Complement
    shared = pair(SparseMatrix.from_scipy(mean_matrix(plan.graph), **plan.place))
    sampler = None
    if plan.options["fanout"] is not None:
        plan.single()
        sampler = NeighbourSampler(plan.graph, check_count(plan.options["fanout"], "fanout"), plan.noise, pair)
    return _stack(plan, lambda width, last: shared, sampler=sampler, root=True)


def saint_stack(plan: BuildContext) -> nn.Module:
    """Return the stack over the neighbour mean, trained on random-walk subgraphs (GraphSAINT)."""
    plan.single()
    sampler = SaintSampler(plan.graph, plan.noise, **plan.pick("n_roots", "length", "coverage"))
    shared = Complement(SparseMatrix.from_scipy(sampler.subgraphs.mean, **plan.place))
    return _stack(plan, lambda width, last: shared, sampler=sampler, root=True)


def relation_stack(plan: BuildContext) -> nn.Module:
    """Return the stack over the relations of a latent space (Geom-GCN): divisions joined, in the end averaged."""
    relations = plan.relations
    if relations is None:
        if plan.name is None:
            raise ParameterError("Geom-GCN needs relations of the nodes in a latent space; give relations=")
        relations = datasets.relations(plan.name, plan.options["method"], data_dir=plan.data_dir)
    matrix = SparseMatrix.from_scipy(relation_matrix(relations, plan.graph.n_nodes), **plan.place)
    inner, final = RelationPropagation(matrix), RelationPropagation(matrix, average=True)
    return _stack(plan, lambda width, last: final if last else inner, hidden=N_DIVISIONS * plan.options["hidden"])


def wavelet_stack(plan: BuildContext) -> nn.Module:
    """Return the stack over heat wavelets (GWNN), with a gain of its own per node and layer."""
    bases = heat_wavelets(plan.graph, **plan.pick("scale", "threshold", "family", "inverse"))
    symmetric = operator(plan.graph, plan.options["family"]).is_symmetric
    forward, inverse = (SparseMatrix.from_scipy(basis, symmetric=symmetric, **plan.place) for basis in bases)
    return _stack(plan, lambda width, last: Wavelet(forward, inverse, plan.generator, copies=plan.copies))


def deep_network(plan: BuildContext) -> nn.Module:
    """Return GCNII or GCNII* over one operator family."""
    hidden, propagation = plan.options["hidden"], _operator(plan)
    lift = Linear(plan.n_features, hidden, bias=True, **plan.weights)
    block = {**plan.pick("alpha", "star", "channels", "mixing"), **plan.weights}
    thetas = [math.log(plan.options["lambda_"] / position + 1.0) for position in range(1, plan.options["depth"] + 1)]
    layers = [ResidualBlock(hidden, propagation, theta=theta, **block) for theta in thetas]
    head = Linear(hidden, plan.n_classes, bias=True, **plan.weights)
    return DeepNetwork(layers, plan.dropout(), lift=lift, head=head)


def gin_network(plan: BuildContext) -> nn.Module:
    """Return GIN for whole graphs."""
    plan.single()
    options = plan.pick("hidden", "layers", "concat", "channels", "mixing", "learned", "gamma")
    return GinNetwork(plan.n_features, plan.n_classes, plan.dropout(), plan.generator, **options)
