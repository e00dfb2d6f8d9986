"""A command: a row with its name, help, arguments and action."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._arguments import check_choice
from ..errors import ParameterError
from ..variants import CHANNELS, VARIANTS

__all__ = ["Command", "add_family", "add_gamma", "add_operator", "one_of"]


@dataclass(frozen=True)
class Command:
    """One subcommand of ``gsp-fb``: what adds its arguments, and what runs it; a ``parallel`` one runs on MPI ranks.

    ``run`` returns the facts to print, or the exit code where it has printed them.
    """

    name: str
    help: str
    run: Callable[[argparse.Namespace], Mapping[str, Any] | int]
    arguments: tuple[Callable[[argparse.ArgumentParser], None], ...] = ()
    parallel: bool = False


def add_gamma(parser: argparse.ArgumentParser) -> None:
    """Add ``--gamma``; without it every family that has one uses 1."""
    parser.add_argument(
        "--gamma", type=float, help="Set the weight of the added self-loops, for families that have them (default 1)."
    )


def add_family(parser: argparse.ArgumentParser, what: str, *, default: str | None = "sym") -> None:
    """Add ``--family``, with ``what`` it is for as its help."""
    end = "." if default is None else f" (default {default})."
    parser.add_argument(
        "--family",
        type=one_of(VARIANTS, "family"),
        default=default,
        metavar="FAMILY",
        help=f"{what}: {', '.join(VARIANTS)}{end}",
    )


def add_operator(parser: argparse.ArgumentParser) -> None:
    """Add the three arguments that choose one operator."""
    add_family(parser, "Choose the family")
    parser.add_argument("--channel", choices=CHANNELS, default="high", help="Choose the channel (default high).")
    add_gamma(parser)


def one_of(choices: Iterable[str], what: str) -> Callable[[str], str]:
    """Return the type of an option with few values; an unknown one names the nearest.

    >>> one_of(["low", "high"], "channel")("low")
    'low'
    """

    def check(text: str) -> str:
        try:
            return check_choice(text, choices, what)
        except ParameterError as unknown:
            raise argparse.ArgumentTypeError(str(unknown)) from None

    return check
