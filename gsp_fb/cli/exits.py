"""Exit codes of a command: an error becomes one line on standard error and a number."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable

from ..errors import GspError, ParameterError

__all__ = ["BAD_DATA", "INTERRUPTED", "UNAVAILABLE", "USAGE", "command_words", "exit_code"]

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
