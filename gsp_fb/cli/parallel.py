"""Commands under ``mpirun``: which rank this is, who may speak, and what happens when one of them fails alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from ..distributed._mpi import abort
from ..errors import GspError, ParameterError
from ..outofcore import is_folder_name
from .command import Command

__all__ = ["check_parallel", "n_ranks", "root_only_output", "together"]

FAILED = 3

# What launchers tell each process: its number, and how many there are.
LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI, srun --mpi=pmi2
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),  # srun --mpi=pmix
)


def _place() -> tuple[int, int]:
    """Return the number of this process and how many there are; 0 and 1 without a launcher."""
    for rank, size in LAUNCHERS:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def n_ranks() -> int:
    """Return how many processes share the command."""
    return _place()[1]


@contextlib.contextmanager
def root_only_output() -> Iterator[None]:
    """Let only the first process print; all of them would say the same."""
    if _place()[0] == 0:
        yield
        return
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def check_parallel(command: Command, source: Any, commands: Iterable[Command]) -> None:
    """Raise ParameterError if several processes were started for what one process does."""
    if n_ranks() > 1 and not (command.parallel and source is not None and is_folder_name(source)):
        shared = ", ".join(row.name for row in commands if row.parallel)
        raise ParameterError(
            f"`gsp-fb {command.name}` was started {n_ranks()} times by an MPI launcher; several processes can share "
            f"these commands on a stored graph (.npyd, see `gsp-fb convert`): {shared}"
        )


@contextlib.contextmanager
def together() -> Iterator[None]:
    """End the whole job if this process fails in a way that the others do not know of: they would wait forever.

    What the library refuses, all processes refuse together, and each of them ends by itself.
    """
    try:
        yield
    except (GspError, OSError, ImportError, KeyboardInterrupt):
        raise
    except BaseException as alone:
        if n_ranks() > 1:
            # Past the silence of all processes but the first.
            os.write(2, f"gsp-fb: rank {_place()[0]}: {type(alone).__name__}: {alone}\n".encode())
            abort(FAILED)
        raise
