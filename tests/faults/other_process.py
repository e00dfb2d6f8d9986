"""Send graphs and operators to other processes and compare what comes back; run by test_fault_107 as a script.

A script of its own, because a spawned process imports the main module anew.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings

import numpy as np

from gsp_fb._kernels import fast, threads
from gsp_fb.graph import Graph
from gsp_fb.operators import Operator, operator

# Threads run on graphs of this size too.
fast.THREADS_FROM, threads.BLOCK_WORK = 0, 1000
X = np.random.default_rng(1).standard_normal((400, 24))


def make_graph(*, directed=False, weighted=True):
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(400, size=(3000, 2)), axis=0)
    pairs = pairs if directed else np.unique(np.sort(pairs, axis=1), axis=0)
    weights = rng.random(len(pairs)) + 0.5 if weighted else None
    return Graph.from_edges(pairs, weights, n_nodes=400, directed=directed, nodes=tuple(f"v{k}" for k in range(400)))


def arrays(thing):
    if isinstance(thing, Operator):
        return [*arrays(thing.graph), thing.left, thing.right, thing.diag, thing.scale]
    return [a for a in (thing.indptr, thing.indices, thing.weights) if a is not None]


def facts(thing):
    graph = thing.graph if isinstance(thing, Operator) else thing
    return (graph.directed, graph.labels, repr(thing), [a.dtype for a in arrays(thing)])


def look_at(things):
    """Run in the other process: hand back what came, whether it is read-only there, and what it computes there."""
    products = [thing @ X if isinstance(thing, Operator) else thing.degrees for thing in things]
    return things, [not a.flags.writeable for thing in things for a in arrays(thing)], products


def send(things, method):
    with warnings.catch_warnings():
        # From 3.12 on Python warns of every fork beside any thread, those that BLAS keeps included.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            return pool.map(look_at, [things, things])


def main(method):
    graphs = [make_graph(), make_graph(weighted=False), make_graph(directed=True)]
    things = [*graphs, *(operator(g, "renorm_rw", channel="high", gamma=0.3) for g in graphs)]
    here = look_at(things)[2]  # threads have run in this process before it forks
    for back, read_only, there in send(things, method):
        assert all(read_only)
        for sent, received in zip(things, back, strict=True):
            assert facts(sent) == facts(received)
            assert all(np.array_equal(a, b) for a, b in zip(arrays(sent), arrays(received), strict=True))
            assert not any(a.flags.writeable for a in arrays(received))
        assert all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))
    print("equal and read-only")


if __name__ == "__main__":
    main(sys.argv[1])
