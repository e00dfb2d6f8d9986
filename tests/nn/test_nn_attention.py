"""Attention in one compiled pass is attention made of torch's operations: values, gradients and drawn masks."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gsp_fb import Graph, datasets, set_threads
from gsp_fb._kernels import attention, threads
from gsp_fb._kernels.attention import EdgeList, Scoring, attend, plain_attend
from gsp_fb.errors import ParameterError
from gsp_fb.nn import build
from gsp_fb.nn.inputs import features

pytest.importorskip("numba")

SLOPE = 0.2
# One-way edges, a loop, a node that nobody hears, a node on its own.
ONE_WAY = Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 1), (3, 3), (0, 4)], n_nodes=6, directed=True)


def case(graph, shape, dropped, dtype=torch.float64):
    channels, heads, size = shape
    edges, rng = EdgeList(graph.adjacency), np.random.default_rng(3)
    shapes = (graph.n_nodes, heads), (graph.n_nodes, heads), (graph.n_nodes, channels, heads, size)
    given = [torch.from_numpy(rng.normal(size=shape)).to(dtype).requires_grad_() for shape in shapes]
    mask = torch.from_numpy(2.0 * (rng.random((edges.indices.numel(), heads)) < 0.5)).to(dtype) if dropped else None
    return given, Scoring(edges, SLOPE, mask)


def outcome(function, given, scoring):
    result = function(*given, scoring)
    weights = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).reshape(result.shape)
    return [result, *torch.autograd.grad((result * weights).sum(), given)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1, 5), (2, 8, 8), (2, 3, 11), (1, 2, 16)])
@pytest.mark.parametrize("dropped", [False, True])
def test_both_engines_agree(dtype, shape, dropped):
    for graph in (ONE_WAY, datasets.contextual_sbm(60, rng=0).graph):
        given = case(graph, shape, dropped, dtype)
        for ours, plain in zip(outcome(attend, *given), outcome(plain_attend, *given), strict=True):
            assert torch.allclose(ours, plain, atol=64 * torch.finfo(dtype).eps * float(1 + plain.detach().abs().max()))


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 2, 2)])
@pytest.mark.parametrize("dropped", [False, True])
def test_gradcheck_of_the_compiled_pass(shape, dropped):
    given, scoring = case(ONE_WAY, shape, dropped)
    assert torch.autograd.gradcheck(lambda *x: attend(*x, scoring), given)
    assert torch.autograd.gradgradcheck(lambda *x: attend(*x, scoring), given)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(attention, "SHARED_FROM", 0)
    monkeypatch.setattr(threads, "BLOCK_WORK", 100)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    given = case(datasets.contextual_sbm(60, rng=0).graph, (2, 8, 8), True, torch.float32)
    try:
        set_threads(1)
        alone = outcome(attend, *given)
        set_threads(3)
        shared = outcome(attend, *given)
    finally:
        set_threads(None)
    assert all(torch.equal(one, other) for one, other in zip(alone, shared, strict=True))


@pytest.mark.parametrize("scale", [1e-3, 30.0, 1e4])
def test_single_precision_weighs_scores_of_any_size(scale):
    given, scoring = case(datasets.contextual_sbm(60, rng=0).graph, (1, 4, 8), False)
    with torch.no_grad():
        coarse = [(part * scale).float() for part in given[:2]]
        exact = plain_attend(*(part.double() for part in coarse), given[2], scoring)
        assert torch.allclose(attend(*coarse, given[2].float(), scoring).double(), exact, atol=1e-5)


def test_what_is_not_a_number_stays_so():
    (receiving, sending, h), scoring = case(ONE_WAY, (1, 2, 8), False, torch.float32)
    with torch.no_grad():
        sending[1, 0] = torch.nan
        hears = attend(receiving, sending, h, scoring).isnan()
    assert hears[:, 0, 0].all(-1).tolist() == [True, True, False, True, False, False]
    assert not hears[:, 0, 1].any()


@pytest.mark.parametrize("name", ["gat", "fb-gat"])
def test_a_seed_drops_the_same_coefficients_in_both_engines(name, monkeypatch):
    data = datasets.contextual_sbm(40, rng=0)
    x = features(data.x)
    found = []
    for engine in ("auto", "scipy"):
        monkeypatch.setenv("GSP_FB_ENGINE", engine)
        found.append(build(name, data, seed=5).train()(x))
    assert torch.allclose(*found, atol=1e-5)


@pytest.mark.parametrize("name", ["gat", "fb-gat", "geom-gcn-p"])
@pytest.mark.parametrize("n_rows", [10, 61])
def test_features_of_another_number_of_nodes_are_refused(name, n_rows):
    """The compiled loops read rows that are not there: the process ended in ``munmap_chunk(): invalid pointer``."""
    data = datasets.contextual_sbm(60, rng=0)
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 60, (2, 200)), axis=1)
    space, relation = rng.integers(0, 2, pairs.shape[1]), rng.integers(0, 4, pairs.shape[1])
    relations = SimpleNamespace(pairs=pairs, space=space, relation=relation)
    model = build(name, data, relations=relations)
    with pytest.raises(ParameterError, match="60 nodes"):
        model(torch.ones(n_rows, data.x.shape[1]))


def test_attention_of_another_width_is_refused():
    model = build("gat", datasets.contextual_sbm(60, rng=0))
    with pytest.raises(ParameterError, match="takes features of shape"):
        model(torch.ones(60, model.layers[0].lift.weight.shape[0]), propagation=model.layers[0].propagation)


def test_a_negative_loop_does_not_cancel_the_one_that_is_added():
    graph = Graph.from_edges([(0, 0), (1, 1)], [-1.0, 1.0], n_nodes=2, signed=True)
    assert EdgeList(graph.adjacency).indices.tolist() == [0, 1]
