"""Tests that several MPI ranks run together; `make test-mpi` runs them on 1, 2 and 4."""

import io
import os
import shutil
import tempfile

import numpy as np
import pytest

import gsp_fb as gf

# What mpirun starts and a test kills; it is no test itself.
collect_ignore = ["victim.py"]

MISSING = "petsc4py is not installed here; `make test-mpi` installs what is needed and runs this on 1, 2 and 4 ranks"
RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "-1")))  # -1: no launcher


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """End the whole job when a test fails on one rank: the others would wait for it in the next collective call."""
    outcome = yield
    report = outcome.get_result()
    if report.failed and RANK >= 0:
        from mpi4py import MPI

        os.write(2, f"rank {MPI.COMM_WORLD.rank}: {item.nodeid} failed\n{report.longreprtext}\n".encode())
        MPI.COMM_WORLD.Abort(1)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    # One rank's dots are enough; what fails on another is written where it happens.
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    if RANK > 0 and reporter is not None:
        reporter._tw._file = io.StringIO()


@pytest.fixture(scope="session")
def comm():
    return pytest.importorskip("mpi4py.MPI", reason=MISSING).COMM_WORLD


@pytest.fixture(scope="session")
def shared(comm):
    """A folder that all ranks see."""
    path = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) if comm.rank == 0 else None
    path = comm.bcast(path)
    yield path
    comm.barrier()
    if comm.rank == 0:
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def spread(comm, shared):
    """Write a graph of the memory to a folder and open it on all ranks."""
    pytest.importorskip("petsc4py", reason=MISSING)
    pytest.importorskip("slepc4py", reason=MISSING)
    from gsp_fb import distributed
    from gsp_fb.outofcore import write_folder

    made = {}

    def opened(graph, cuts=None):
        if graph.sha256 not in made:
            path = made[graph.sha256] = f"{shared}/{len(made)}.npyd"
            if comm.rank == 0:
                write_folder(graph, path)
            comm.barrier()
        return distributed.open_graph(made[graph.sha256], cuts=cuts)

    return opened


def make_random(n_nodes, n_edges, seed, *, directed=False, weighted=True, connected=False):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n_nodes, (n_edges, 2))
    if connected:
        edges[: n_nodes - 1] = np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1)
    weights = 10.0 ** rng.uniform(-3, 3, n_edges) if weighted else None
    return gf.Graph.from_edges(edges, weights, n_nodes, directed=directed, duplicates="first")


@pytest.fixture(scope="session")
def random_graph():
    return make_random


# Each reaches something: one node, none connected, isolated nodes, loops, two components, bipartite, weights over six
# orders of magnitude, arcs, a hub.
GRAPHS = {
    "one node": lambda: gf.Graph.from_edges(np.empty((0, 2), dtype=int), n_nodes=1),
    "no edges": lambda: gf.Graph.from_edges(np.empty((0, 2), dtype=int), n_nodes=5),
    "one edge": lambda: gf.Graph.from_edges([(0, 1)]),
    "loops and isolated nodes": lambda: gf.Graph.from_edges([(1, 1), (1, 2), (4, 4), (2, 6)], n_nodes=9),
    "two rings": lambda: gf.Graph.from_edges(
        [(i, (i + 2) % 14) for i in range(14)], weights=0.5 + np.arange(14), duplicates="first"
    ),
    "star": lambda: gf.Graph.from_edges([(0, i) for i in range(1, 12)]),
    "grid": lambda: gf.datasets.grid(9, 7),
    "random weights": lambda: make_random(40, 120, 1),
    "arcs": lambda: make_random(30, 90, 2, directed=True),
}


@pytest.fixture(params=GRAPHS, scope="session")
def graph(request):
    return GRAPHS[request.param]()


@pytest.fixture(params=[name for name in GRAPHS if name != "arcs"], scope="session")
def undirected(request):
    return GRAPHS[request.param]()
