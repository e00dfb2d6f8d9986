"""How a command ends: exit codes, one line an error, and under ``mpirun`` what happens when one process fails alone."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from ..distributed._mpi import abort
from ..errors import GspError, ParameterError
from ..opening import n_ranks, rank
from ..outofcore import is_folder_name
from .source import Command

__all__ = ["check_parallel", "collective_exit", "command_words", "exit_code", "root_only_output"]

QUOTES = "'\""
USAGE, BAD_DATA, UNAVAILABLE, INTERRUPTED = 2, 3, 4, 130


def command_words(message: str, help_text: str) -> str:
    """Return a message with Python's options as they are typed on the command line.

    >>> command_words("give symmetrize='max' or directed=True", "--symmetrize RULE --directed")
    'give --symmetrize max or --directed'
    """
    known = set(re.findall(r"--[a-z][a-z-]*", help_text))

    def typed(option: re.Match[str]) -> str:
        name, value = "--" + option[1].replace("_", "-"), option[2]
        if option[1] == "on" and "--node-names" in known:
            name = "--node-names"
        if name not in known:
            return option[0]
        if value == "False":
            return f"--no-{name[2:]}"
        return name if value == "True" else f"{name} {'none' if value == 'None' else value.strip(QUOTES)}"

    return re.sub(r"\b([a-z_]+)=(None|True|False|'[^']*'|\"[^\"]*\"|[\w.]*)", typed, message)


def exit_code(action: Callable[[], int], program: str = "gsp-fb", help_text: str = "") -> int:
    """Run ``action`` and return its exit code, or that of the error it raises; warnings are one line each."""

    def fail(reason: object, code: int) -> int:
        sys.stderr.write(f"{program}: {command_words(str(reason), help_text)}\n")
        return code

    def show_warning(message: Warning | str, *_: object, **__: object) -> None:
        sys.stderr.write(f"{program}: note: {message}\n")

    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            code = action()
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            # The reader has closed the pipe; keep Python from reporting it again when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt as stop:
            return fail(str(stop) or "interrupted", INTERRUPTED)
        except ParameterError as wrong:
            return fail(wrong, USAGE)
        except (OSError, ImportError) as absent:
            return fail(absent, UNAVAILABLE)
        except (GspError, MemoryError) as wrong:
            return fail(wrong, BAD_DATA)


FAILED = 3


@contextlib.contextmanager
def root_only_output() -> Iterator[None]:
    """Let only the first process print; all of them would print the same."""
    if rank() == 0:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
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
