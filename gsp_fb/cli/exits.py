"""Exit codes of a command: an error becomes one line on standard error and a number."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable

from ..errors import GspError, ParameterError

__all__ = ["BAD_DATA", "INTERRUPTED", "UNAVAILABLE", "USAGE", "exit_code"]

USAGE, BAD_DATA, UNAVAILABLE, INTERRUPTED = 2, 3, 4, 130


def exit_code(action: Callable[[], int], program: str = "gsp-fb") -> int:
    """Run ``action`` and return its exit code, or that of the error it raises; warnings are one line each."""

    def fail(reason: object, code: int) -> int:
        sys.stderr.write(f"{program}: {reason}\n")
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
