"""Generated graphs that the advisor is trained on: contextual block models on a grid, and graphs of GraphUniverse."""

from __future__ import annotations

import contextlib
import io
from dataclasses import asdict, dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from gsp_fb import Graph
from gsp_fb._extras import require
from gsp_fb.backend import IntArray
from gsp_fb.datasets import Split, contextual_sbm

__all__ = ["GraphSpec", "grid", "make"]

# Two classes with 32 features of signal 0.05 to 0.4 are separated in 60 to 95 % of the nodes without the graph.
# Test nodes are many, so that a gain of one point is above the noise of three splits.
N_NODES, N_FEATURES, N_SPLITS = 900, 32, 3
SHARES = (0.3, 0.2)
_HOMOPHILY = (0.02, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
_DEGREES, _SIGNALS, _BALANCES, _CLASSES = (3.0, 8.0, 20.0), (0.05, 0.1, 0.2, 0.4), (1.0, 0.5), (2, 5)
_UNIVERSE_HOMOPHILY, _UNIVERSE_SIGNALS = (0.05, 0.2, 0.4, 0.6, 0.8), (0.1, 0.2, 0.4)


@dataclass(frozen=True)
class GraphSpec:
    """One generated graph.

    Attributes
    ----------
    source : {'csbm', 'universe'}
    homophily, degree : float
    signal : float
        Ratio of class signal to noise in the features.
    balance : float
        Size of each class in units of the one before; 1 for equal classes.
    classes, seed : int
    """

    source: str
    homophily: float
    degree: float
    signal: float
    balance: float
    classes: int
    seed: int

    @property
    def name(self) -> str:
        """A name that no other graph has."""
        return " ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in asdict(self).values())


def grid(*, universe: bool = False) -> list[GraphSpec]:
    """Return the graphs in a random order, so that any beginning of the list covers the grid.

    Examples
    --------
    >>> len(grid()), len(grid(universe=True))
    (672, 852)
    """
    axes = product(_HOMOPHILY, _DEGREES, _SIGNALS, _BALANCES, _CLASSES, range(2))
    found = [GraphSpec("csbm", *values) for values in axes]
    if universe:
        rest = product(_UNIVERSE_HOMOPHILY, _DEGREES, _UNIVERSE_SIGNALS, (1.0,), _CLASSES, range(2))
        found += [GraphSpec("universe", *values) for values in rest]
    return [found[k] for k in np.random.default_rng(0).permutation(len(found))]


def make(spec: GraphSpec) -> Any:
    """Return the graph with features, labels and splits."""
    numbers = (spec.homophily, spec.degree, spec.signal, spec.balance)
    rng = np.random.default_rng([spec.seed, spec.classes, *(int(1000 * number) for number in numbers)])
    graph, x, y = (_block_model if spec.source == "csbm" else _universe)(spec, rng)
    return SimpleNamespace(name=spec.name, graph=graph, x=x, y=y, splits=tuple(_split(y, rng) for _ in range(N_SPLITS)))


def _block_model(spec: GraphSpec, rng: np.random.Generator) -> tuple[Graph, Any, IntArray]:
    """Return a contextual block model; unequal classes are parts of equal ones, in a graph that is as much larger."""
    sizes = spec.balance ** np.arange(spec.classes)
    share = sizes.mean()
    size = round(N_NODES / spec.classes / share) * spec.classes
    wanted = {"degree": spec.degree / share, "homophily": spec.homophily, "signal": spec.signal}
    data = contextual_sbm(size, spec.classes, n_features=N_FEATURES, n_splits=1, rng=rng, **wanted)
    each = np.bincount(data.y)
    kept = [
        rng.choice(np.flatnonzero(data.y == k), round(each[k] * sizes[k]), replace=False) for k in range(len(sizes))
    ]
    nodes = np.sort(np.concatenate(kept))
    return data.graph.subgraph(nodes), np.asarray(data.x)[nodes], data.y[nodes]


def _universe(spec: GraphSpec, rng: np.random.Generator) -> tuple[Graph, Any, IntArray]:
    """Return a graph of GraphUniverse: power-law degrees, communities of unequal propensity."""
    library = require("graph_universe", "graphs of GraphUniverse")
    seed = int(rng.integers(2**31))
    # Version 0.1.2 takes ``center_variance`` as the standard deviation of the centres.
    variances = {"center_variance": spec.signal, "cluster_variance": 1.0}
    # Relative propensities as version 0.1.2 draws them, but never 0: it would look for connected communities for ever.
    propensities = np.clip(rng.normal(1.0, 1.0, (spec.classes, spec.classes)), 0.1, 2.0)
    propensities = np.tril(propensities) + np.tril(propensities, -1).T
    shape = {"feature_dim": N_FEATURES, "P": propensities}
    universe = library.GraphUniverse(spec.classes, seed=seed, **shape, **variances)
    family = library.GraphFamilyGenerator(
        universe=universe,
        n_nodes_range=(N_NODES, N_NODES),
        n_communities_range=(spec.classes, spec.classes),
        homophily_range=(spec.homophily, spec.homophily),
        avg_degree_range=(spec.degree, spec.degree),
        seed=seed,
    )
    family.generate_family(n_graphs=1, show_progress=False)
    with contextlib.redirect_stderr(io.StringIO()):  # a progress bar of one step
        data = family.to_pyg_graphs(task="community_detection")[0]
    y = data.y.numpy()
    source, target = data.edge_index.numpy()
    edges = np.unique(np.sort(np.stack([source, target], axis=1), axis=1), axis=0)
    return Graph.from_edges(edges[edges[:, 0] != edges[:, 1]], n_nodes=len(y)), data.x.numpy().astype(np.float64), y


def _split(y: IntArray, rng: np.random.Generator) -> Split:
    order = rng.permutation(len(y))
    first, second = (int(share * len(y)) for share in (SHARES[0], sum(SHARES)))
    return Split(*(np.sort(part) for part in (order[:first], order[first:second], order[second:])))
