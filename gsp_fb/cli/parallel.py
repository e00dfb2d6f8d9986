"""Commands under ``mpirun``: which rank this is, who may speak, and what happens when one of them fails alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from ..distributed._mpi import abort
from ..errors import GspError, ParameterError
from ..opening import n_ranks, rank
from ..outofcore import is_folder_name
from .command import Command

__all__ = ["check_parallel", "collective_exit", "root_only_output"]

FAILED = 3


@contextlib.contextmanager
def root_only_output() -> Iterator[None]:
    """Let only the first process print; all of them would print the same."""
    if rank() == 0:
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
        if rank() > 0:
            # The launcher ends all processes with the first that fails: the first rank must not die before it prints.
            raise SystemExit(0)
        shared = ", ".join(row.name for row in commands if row.parallel)
        raise ParameterError(
            f"`gsp-fb {command.name}` was started {n_ranks()} times by an MPI launcher; several processes can share "
            f"these commands on a graph in a folder (.npyd, see `gsp-fb convert`): {shared}"
        )


@contextlib.contextmanager
def collective_exit() -> Iterator[None]:
    """End the whole job if this process fails in a way that the others do not know of: they would wait forever.

    What the library refuses, all processes refuse, and each of them ends by itself.
    """
    try:
        yield
    except (GspError, OSError, ImportError, KeyboardInterrupt):
        raise
    except BaseException as alone:
        if n_ranks() > 1:
            # Past the silence of all processes but the first.
            os.write(2, f"gsp-fb: rank {rank()}: {type(alone).__name__}: {alone}\n".encode())
            abort(FAILED)
        raise
