"""Tests that several MPI ranks run together; `make test-mpi` runs them on 1, 2 and 4."""

import io
import os
import shutil
import tempfile

import pytest

import gsp_fb as gf
from gsp_fb.outofcore import write_folder

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
def distribute(comm, shared):
    """Return a function that writes a graph in memory to a folder and opens it on all ranks."""
    pytest.importorskip("petsc4py", reason=MISSING)
    made = {}

    def opened(graph, cuts=None):
        if graph.sha256 not in made:
            path = made[graph.sha256] = f"{shared}/{len(made)}.npyd"
            if comm.rank == 0:
                write_folder(graph, path)
            comm.barrier()
        return gf.open_graph(made[graph.sha256], comm=comm, cuts=cuts)

    return opened


@pytest.fixture(scope="session")
def stored(distribute):
    """Return a function that takes a graph in memory to the ranks."""
    return distribute
