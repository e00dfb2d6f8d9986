"""Commands that filter: filter and profile."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from .. import distributed, plot
from .._arguments import check_choice
from .._atomic import atomic_write
from ..energy import energy_profile, signal_energy
from ..errors import ParameterError
from ..filters import KERNELS, FilterBank, Kernel
from ..graph import Graph
from ..operators import operator
from .source import Command, add_operator, add_source, chosen_signal, option, read_source

__all__ = ["COMMANDS", "parse_kernel"]


def parse_kernel(text: str) -> tuple[Kernel, ...]:
    """Return the kernels of a specification ``name`` or ``name:option=value,...``."""
    name, _, options = text.partition(":")
    make = KERNELS[check_choice(name, KERNELS, "kernel")]
    try:
        pairs = dict(option.split("=", 1) for option in options.split(",") if option)
        made = make(**{key: json.loads(value) for key, value in pairs.items()})
    except (TypeError, ValueError) as wrong:
        raise ParameterError(f"kernel {text!r} is not name:option=value,...: {wrong}") from None
    return (made,) if isinstance(made, Kernel) else tuple(made)


def _filter(args: argparse.Namespace) -> dict[str, Any]:
    source = read_source(args)
    x = chosen_signal(source, args.on)
    op = operator(source.graph, args.family, channel=args.channel, gamma=args.gamma)
    kernels = [kernel for text in args.kernel or ["heat:tau=5"] for kernel in parse_kernel(text)]
    bank = FilterBank(op, kernels, args.tol)
    plan = bank.plan(x)
    filtered = bank.analyze(x)
    total = float(signal_energy(x, op))
    energies = [float(signal_energy(filtered[..., m], op)) for m in range(len(bank))]
    rows = [
        {"filter": kernel.name, "energy": energy, "share": energy / total if total else float("nan")}
        for kernel, energy in zip(bank.kernels, energies, strict=True)
    ]
    if args.output is not None:
        source.graph.storage.save(filtered, args.output)
    least, greatest = bank.frame_bounds()
    _save_figure(source.graph, args.plot, lambda ax: plot.response(bank, ax=ax))
    facts = {"source": source.name, "signal": args.on, "method": plan.method, "order": plan.order}
    promise = {"error bound": plan.error_bound, "matvecs": plan.matvecs, "frame A": least, "frame B": greatest}
    return {**facts, **promise, "filters": rows}


def _profile(args: argparse.Namespace) -> dict[str, Any]:
    source = read_source(args)
    op = operator(source.graph, args.family, channel=args.channel, gamma=args.gamma)
    profile = energy_profile(op, chosen_signal(source, args.on), bins=args.bins, matvecs=args.matvecs)
    total, edges = profile.total, profile.edges
    columns = {"from": edges[:-1], "to": edges[1:], "energy": profile.energy, "share": profile.energy / total}
    columns |= {"below, at least": profile.lower[1:] / total, "below, at most": profile.upper[1:] / total}
    rows = [dict(zip(columns, map(float, row), strict=True)) for row in zip(*columns.values(), strict=True)]
    title = f"{args.on} of {source.name} on the frequencies of {op.family}, {op.channel} channel"
    _save_figure(source.graph, args.plot, lambda ax: plot.energy_profile(profile, ax=ax).set_title(title))
    mean = float(profile.moments[1] / profile.moments[0])
    facts = {"source": source.name, "signal": args.on, "total": profile.total, "mean frequency": mean}
    return {**facts, "matvecs": profile.matvecs, "bands": rows}


def _save_figure(graph: Graph, path: Path | None, draw: Any) -> None:
    """Draw on a figure of its own, without a display, and write it, if asked for; one process does it for all."""
    if path is None:
        return

    def write() -> None:
        figure = plot.figure()
        draw(figure.subplots())
        with atomic_write(path) as file:
            figure.savefig(file, format=path.suffix.lstrip(".") or "png")

    distributed.on_root(graph, write)


COMMON = (
    add_source,
    option("--on", choices=("features", "labels"), default="features", help="Choose the signal (default features)."),
    add_operator,
    option("--plot", type=Path, metavar="FILE", help="Draw the result as .png, .svg or .pdf."),
)
FILTER = "Filter a signal with a bank of kernels, to a promised error."
NAMED = f"Add a kernel, repeatable: {', '.join(KERNELS)}."
FILTER_OPTIONS = (
    option("--kernel", action="append", metavar="NAME[:OPTION=VALUE,...]", help=NAMED),
    option("--tol", type=float, default=1e-8, help="Bound the error relative to the signal (default 1e-8)."),
    option("-o", "--output", type=Path, metavar="FILE", help="Write the coefficients as .npy."),
)
PROFILE = "Print how the energy of a signal is distributed over the frequencies."
PROFILE_OPTIONS = (
    option("--bins", type=int, default=10, help="Set the number of equal bands (default 10)."),
    option("--matvecs", type=int, default=80, help="Limit the matrix-vector products per signal (default 80)."),
)
COMMANDS = (
    Command("filter", FILTER, _filter, (*COMMON, *FILTER_OPTIONS), parallel=True),
    Command("profile", PROFILE, _profile, (*COMMON, *PROFILE_OPTIONS), parallel=True),
)
