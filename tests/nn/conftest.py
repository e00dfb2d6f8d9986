from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse

from gsp_fb import Graph


def block_dataset(n_nodes=60, n_classes=3, *, n_features=24, seed=0):
    """Two thirds of the edges within a class, informative sparse features, a loop and an isolated node."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_nodes) % n_classes
    pairs = {(0, 0)}
    while len(pairs) < 3 * n_nodes:
        i, j = rng.integers(1, n_nodes, 2)
        if i < j and (y[i] == y[j] or rng.random() < 0.3):
            pairs.add((int(i), int(j)))
    graph = Graph.from_edges(sorted(pairs), n_nodes=n_nodes + 1)
    y = np.append(y, 0)
    x = sparse.csr_array(
        (rng.random((n_nodes + 1, n_features)) < 0.05 + 0.4 * (np.arange(n_features) % 3 == y[:, None])) * 1.0
    )
    order = rng.permutation(n_nodes + 1)
    split = SimpleNamespace(train=order[:30], val=order[30:45], test=order[45:])
    near, far = np.stack(graph.adjacency.nonzero()), rng.integers(0, n_nodes, (2, 400))
    far = far[:, y[far[0]] == y[far[1]]]
    pairs = np.concatenate([near, far], axis=1)
    relations = SimpleNamespace(
        pairs=pairs, space=np.repeat([0, 1], [near.shape[1], far.shape[1]]), relation=2 * (pairs[0] < pairs[1])
    )
    return SimpleNamespace(name="blocks", graph=graph, x=x, y=y, splits=(split,), relations=relations)


def graph_dataset(n_graphs=40, seed=0):
    """Rings against stars, of six to ten nodes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(6, 11, n_graphs)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    y = np.arange(n_graphs) % 2
    edges = [
        (starts[g] + (i if y[g] else 0), starts[g] + (i + 1) % size)
        for g, size in enumerate(sizes)
        for i in range(size - 1 + y[g])
    ]
    graph = Graph.from_edges(edges, n_nodes=int(starts[-1]))
    order = rng.permutation(n_graphs)
    split = SimpleNamespace(train=order[:24], val=order[24:32], test=order[32:])
    label = np.zeros(int(starts[-1]), dtype=int)
    return SimpleNamespace(name="rings", graph=graph, graph_indptr=starts, node_label=label, y=y, splits=(split,))


@pytest.fixture(scope="session")
def blocks():
    return block_dataset()


@pytest.fixture(scope="session")
def rings():
    return graph_dataset()


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
