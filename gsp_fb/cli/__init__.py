"""The command line: ``gsp-fb COMMAND SOURCE``, tables for people and ``--json`` for programs.

Exit codes: 0 done; 1 done, and the answer is no (a claim fails, a figure differs); 2 wrong usage; 3 the data is not
what it should be; 4 a file, download or optional library could not be had; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from .._version import __version__
from ..errors import GspError, ParameterError
from .advise import COMMANDS as ADVISE
from .analyse import COMMANDS as ANALYSE
from .catalogue import COMMANDS as CATALOGUE
from .command import Command
from .demo import COMMANDS as DEMO
from .filtering import COMMANDS as FILTERING
from .learning import COMMANDS as LEARNING
from .parallel import check_parallel, one_voice, together
from .report import COMMANDS as REPORT
from .reproduce import COMMANDS as REPRODUCE

__all__ = ["COMMANDS", "main"]

COMMANDS: tuple[Command, ...] = (*ANALYSE, *REPORT, *ADVISE, *FILTERING, *LEARNING, *REPRODUCE, *CATALOGUE, *DEMO)

USAGE, BAD_DATA, UNAVAILABLE, INTERRUPTED = 2, 3, 4, 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gsp-fb", description="Spectral graph-signal processing with filterbanks.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"gsp-fb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.help, description=command.help, allow_abbrev=False)
        sub.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        command.configure(sub)
        sub.set_defaults(action=command.run, chosen=command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    with one_voice(), warnings.catch_warnings():
        args = _parser().parse_args(argv)
        warnings.showwarning = _show_warning
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        check_parallel(args.chosen, getattr(args, "source", None), COMMANDS)
        with together():
            code: int = args.action(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough; keep Python from complaining again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stop:
        return _fail(str(stop) or "interrupted", INTERRUPTED)
    except ParameterError as wrong:
        return _fail(wrong, USAGE)
    except (OSError, ImportError) as absent:
        return _fail(absent, UNAVAILABLE)
    except (GspError, MemoryError) as wrong:
        return _fail(wrong, BAD_DATA)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning as a line for a person: no file name, no source line."""
    sys.stderr.write(f"gsp-fb: note: {message}\n")


def _fail(reason: object, code: int) -> int:
    sys.stderr.write(f"gsp-fb: {reason}\n")
    return code
