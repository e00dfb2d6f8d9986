"""The command line ``gsp-fb``: one row of COMMANDS a subcommand, tables for people and ``--json`` for programs.

Exit codes: 0 success; 1 success, but a claim fails or a figure differs; 2 wrong usage; 3 invalid data; 4 a file,
download or optional library is not available; 130 interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

from .._version import __version__
from .analyse import CATALOGUE
from .analyse import COMMANDS as ANALYSE
from .demo import COMMANDS as DEMO
from .exits import check_parallel, collective_exit, exit_code, root_only_output
from .filtering import COMMANDS as FILTERING
from .learning import COMMANDS as LEARNING
from .render import WIDTH, emit
from .reporting import AUDIT
from .reporting import COMMANDS as REPORT
from .source import Command

__all__ = ["COMMANDS", "main"]

COMMANDS: tuple[Command, ...] = (*ANALYSE, *REPORT, *FILTERING, *LEARNING, AUDIT, *CATALOGUE, *DEMO)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gsp-fb", description="Spectral graph-signal processing with filterbanks.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"gsp-fb {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.help, description=command.help, allow_abbrev=False)
        sub.formatter_class = partial(argparse.HelpFormatter, width=WIDTH - 1)
        sub.add_argument("--json", action="store_true", help="Print one JSON object and nothing else.")
        for add in command.arguments:
            add(sub)
        sub.set_defaults(action=command.run, chosen=command, help_text=sub.format_help)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    with root_only_output():
        args = _parser().parse_args(argv)
        return exit_code(lambda: _run(args), help_text=args.help_text())


def _run(args: argparse.Namespace) -> int:
    check_parallel(args.chosen, getattr(args, "source", None), COMMANDS)
    with collective_exit():
        found = args.action(args)
        if isinstance(found, Mapping):
            emit(found, as_json=args.json)
    return 0 if isinstance(found, Mapping) else int(found)
