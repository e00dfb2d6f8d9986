"""Bindings of MPI and PETSc: the only module that imports them; and collective errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from .._extras import require
from ..errors import GspError

__all__ = ["abort", "collective_errors", "garbage_cleanup", "mpi", "petsc", "world"]

WHAT = "a graph spread over several processes"
# PETSc would answer the launcher's SIGTERM with a page of advice that hides why the job ended.
OPTIONS = ["gsp-fb", "-no_signal_handler"]


def mpi() -> Any:
    """Return the module of MPI, which its import starts."""
    return require("mpi4py.MPI", WHAT)


def world() -> Any:
    """Return the communicator of all processes that the launcher started."""
    return mpi().COMM_WORLD


def abort(code: int) -> None:
    """End all processes of the job at once, with this exit code: for what one rank alone knows of."""
    world().Abort(code)


@cache
def petsc() -> Any:
    """Return PETSc's module, initialised, or raise ImportError that names which build is needed."""
    require("petsc4py", WHAT).init(OPTIONS)
    module = require("petsc4py.PETSc", WHAT)
    if np.dtype(module.ScalarType) != np.float64:
        raise ImportError(f"{WHAT} needs a PETSc for real numbers in double precision, not {module.ScalarType}")
    return module


def garbage_cleanup(comm: Any) -> None:
    """Let PETSc free what every rank has dropped: from 3.18 on it waits to be asked by all of them. Collective."""
    clean = getattr(petsc(), "garbage_cleanup", None)
    if clean is not None:
        clean(comm)


@contextmanager
def collective_errors(comm: Any) -> Iterator[None]:
    """Raise on every rank what the block raised on any of them, the first rank's error if there are several.

    A rank that left alone would leave the others waiting for it. Collective calls have no place in the block.
    """
    mine: Exception | None = None
    try:
        yield
    except (GspError, OSError, MemoryError) as bad:
        mine = bad
    for error in comm.allgather(mine):
        if error is not None:
            raise error
