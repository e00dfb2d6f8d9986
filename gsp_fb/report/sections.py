"""A report in its order: sections of sentences, figures and tables that every renderer walks through."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._document import Table, records
from ..variants import VARIANTS
from . import figures
from . import sentences as say
from .facts import Report, RunFacts, SignificanceRow
from .figures import Chart, Frame, Section, curves, line, steps

if TYPE_CHECKING:
    from ..nn import Audit
__all__ = ["audit_sections", "sections"]

# Fields of a section; empty where it does not apply.
Contents = dict[str, Any]
# Titles of the fields of an EnergyRow, in their order.
ENERGIES = ("signal", "family", "S", "expected S", "energy", "Dirichlet energy", "non-smooth energy")


def sections(report: Report) -> Iterator[Section]:
    """Yield the sections that apply."""
    yield from _parts(report, "advice", "energies", "homophily", "profiles", "density", "gaps")
    if report.audit is not None:
        yield from audit_sections(report.audit)
    yield from _runs(report)
    yield from _parts(report, "claims")


def _table(rows: Sequence[Mapping[str, Any]], math: str = "") -> Table | None:
    return Table.from_records(rows, absent="undecided", math=math) if rows else None


def _energies(report: Report) -> Contents:
    shown = [family for family, row in VARIANTS.items() if row.norm != "none"]
    rows = {family: [row for row in report.energies if row.family == family] for family in shown}
    measured = {family: {row.signal: row.s_value for row in found} for family, found in rows.items()}
    expected = {family: {row.signal: row.expected for row in found} for family, found in rows.items()}
    listed = [dict(zip(ENERGIES, astuple(row), strict=True)) for row in report.energies]
    tested = [_tested(row, row.signal) for row in report.significance]
    tested += [_tested(row, f"{row.signal}, less its mean") for row in report.columns]
    left_out = "comb is not in the figure: its S has no fixed upper end."
    made = " ".join(f"{signal.name.capitalize()}: {signal.preparation}." for signal in report.signals)
    figure = figures.dots(
        "S of every signal", measured, xlabel="S: 0 is the smoothest, 2 the roughest", top=2.0, expected=expected
    )
    note = " ".join(filter(None, [made, left_out, report.notes.get("energies", "")]))
    tables = {"table": _table(tested), "details": _table(listed)}
    return {"reading": say.about_energies(report), "figures": (figure,), **tables, "note": note}


def _tested(row: SignificanceRow, name: str) -> dict[str, Any]:
    numbers = {"signal": name, "S": row.s_value, "expected": row.expected, "std": row.std, "z": row.z_score}
    return {**numbers, "p": say.p_value(row).removeprefix("p ").removeprefix("= ")}


def _homophily(report: Report) -> Contents:
    facts = report.homophily
    if facts is None:
        return {}
    found = {"edges": facts.edge, "nodes": facts.node, "class-insensitive": facts.class_insensitive}
    rows = {name: {"measured": value} for name, value in found.items()}
    expected = {"edges": {"measured": facts.expected}}
    figure = figures.dots("Homophily", rows, xlabel="homophily: 1 is all alike", top=1.0, expected=expected)
    listed = [
        {"measure": "edge homophily", "value": facts.edge},
        {"measure": "edge homophily, expected under random permutation", "value": facts.expected},
        {"measure": "node homophily", "value": facts.node},
        {"measure": "class-insensitive homophily", "value": facts.class_insensitive},
    ]
    reading = say.about_homophily(facts, report.graph.directed)
    shown = () if math.isnan(facts.edge) else (figure,)
    note = (
        "Edges: the share of edges within a class, those of a node to itself not counted. "
        "Nodes: the mean over nodes of the share of like neighbours. "
        "Class-insensitive: 0 where no class meets itself more often than its size explains."
    )
    return {"reading": reading, "figures": shown, "table": _table(listed), "note": note}


def _profiles(report: Report) -> Contents:
    if not report.profiles:
        return {}
    shares = {profile.signal: profile.fraction for profile in report.profiles}
    edges = report.profiles[0].edges
    figure = figures.steps(f"Energy by frequency of {report.family}", edges, shares, ylabel="share of the energy")
    bands = zip(edges[:-1], edges[1:], *shares.values(), strict=True)
    rows = [dict(zip(("from", "to", *shares), band, strict=True)) for band in bands]
    reading = say.about_profiles(report.profiles, report.family)
    return {"reading": reading, "figures": (figure,), "details": _table(rows)}


def _density(report: Report) -> Contents:
    found = report.density
    if found is None:
        return {}
    shares = {"frequencies": found.fraction}
    figure = figures.steps(f"Frequencies of {report.family}", found.edges, shares, ylabel="share of frequencies")
    return {"reading": say.about_density(found, report), "figures": (figure,)}


def _gaps(report: Report) -> Contents:
    if not report.gaps:
        return {}
    shown = {row.family: {"ratio": row.ratio} for row in report.gaps if VARIANTS[row.family].norm != "none"}
    figure = figures.dots("Eigengaps", shown, xlabel="second eigenvalue of the low channel", top=1.0)
    rows = records(report.gaps, {"family": "family", "λ₂ / λ₁": "ratio", "error": "error", "proof": "proof"})
    return {"reading": say.about_gaps(report), "figures": (figure,), "details": _table(rows)}


def _claims(report: Report) -> Contents:
    """Return the claims: those that fail, are undecided or do not apply in sight, all of them folded away."""
    if not report.claims:
        return {"reading": say.about_first_theorem(report)}
    titles = {"claim": "claim", "statement": "statement", "applies": "applicable", "holds": "holds"}
    rows = records(report.claims, {**titles, "needs": "condition", "residual": "residual"})
    open_ = [row for row in rows if not row["applies"] or row["holds"] is not True]
    shown, folded = (_table(some, math="statement") for some in (open_, rows))
    return {"reading": say.about_claims(report), "table": shown, "details": folded}


def _advice(report: Report) -> Contents:
    if report.advice is None:
        return {}
    note = "Probabilities of a logistic regression that was fitted on generated graphs whose networks were trained."
    used = f" Labels read: those of {report.advice.nodes}." if report.advice.nodes else ""
    text, rows = report.advice.text + used, report.advice.rows
    return {"reading": text, "table": _table(rows), "note": note if rows and "answer" in rows[0] else ""}


# Title and contents by anchor.
PARTS: dict[str, tuple[str, Callable[[Report], Contents]]] = {
    "advice": ("What to try", _advice),
    "energies": ("How smooth the signals are", _energies),
    "homophily": ("Whether neighbours are alike", _homophily),
    "profiles": ("Where the energy lies", _profiles),
    "density": ("The frequencies of the graph", _density),
    "gaps": ("Mixing rate", _gaps),
    "claims": ("Claims of the paper, checked here", _claims),
}
HALF = ("homophily", "profiles", "density", "gaps")


def _parts(report: Report, *anchors: str) -> Iterator[Section]:
    """Yield those of ``PARTS`` that have contents, or a note why there are none."""
    for anchor in anchors:
        title, contents = PARTS[anchor]
        found = {"note": report.notes.get(anchor, ""), **contents(report)}
        if any(found.values()):
            yield Section(anchor, title, half=anchor in HALF, **found)


def _runs(report: Report) -> Iterator[Section]:
    for position, run in enumerate(report.runs):
        title, note = f"Training: {run.model}, {run.name}", report.notes.get("runs", "")
        reading = " ".join(filter(None, [say.about_run(run), say.about_embeddings(run.embeddings)]))
        yield Section(f"run-{position}", title, reading, tuple(_run_figures(run)), note=note)


def _run_figures(run: RunFacts) -> Iterator[Chart]:
    epochs, parts = run.curves["epoch"], ("train", "val", "test")
    measures = dict.fromkeys(name.partition("_")[2] for name in run.curves if name.partition("_")[0] in parts)
    for measure in measures:
        series = {part: run.curves[f"{part}_{measure}"] for part in parts if f"{part}_{measure}" in run.curves}
        top = None if measure == "loss" else 1.0
        yield figures.lines(measure.capitalize(), epochs, series, ylabel=measure, top=top, chosen=run.best_epoch)
    columns = {name: name.split("_") for name in run.curves if name.startswith("alpha_")}
    alphas = {f"{channel}, layer {layer}": run.curves[name] for name, (_, channel, layer) in columns.items()}
    if alphas:
        top = max(1.0, *(max(curve, default=0.0) for curve in alphas.values()))
        yield figures.lines("Mixing weights", epochs, alphas, ylabel="alpha", top=top, chosen=run.best_epoch)
    for part in run.embeddings:
        if part.points:
            yield figures.clouds(f"Embedding: {part.channel}", part.points, part.classes)


HEIGHT = 230.0


def audit_sections(audit: Audit) -> Iterator[Section]:
    """Yield the section of the whole network and that of its layers."""
    from ..nn.auditing.page import TABLES

    tables = {name: Table.from_records(rows(audit)) for name, (rows, _) in TABLES.items()}
    notes = {name: note for name, (_, note) in TABLES.items()}
    title, gains, layers = f"What the network keeps: {audit.model}", (_gains(audit),), tuple(_layer_figures(audit))
    peaks = "In the figure each line is relative to its peak."
    centred = "The S of the labels here is that of the labels less their mean."
    note = f"{notes['Response']} {peaks} {centred} The numbers: {notes['Dependence']}"
    yield Section("audit", title, audit.verdict, gains, tables["Response"], tables["Dependence"], note)
    title, note = "The layers of the network", f"{notes['Layers']} The numbers: {notes['Over-smoothing']}"
    yield Section("audit-layers", title, "", layers, tables["Layers"], tables["Over-smoothing"], note)


def _gains(audit: Audit) -> Chart:
    """Return the gain per band of the network, with standard errors, and of its layers, each relative to its peak."""
    responses = {"network": audit.response}
    responses |= {layer.name: layer.response for layer in audit.layers if layer.response is not None}
    edges = audit.response.edges.tolist()
    centres = [(a + b) / 2 for a, b in pairwise(edges)]
    gains = {name: filter(math.isfinite, found.gain.tolist()) for name, found in responses.items()}
    peaks = {name: max(finite, default=0.0) or 1.0 for name, finite in gains.items()}
    scaled = {name: (found.gain / peaks[name]).tolist() for name, found in responses.items()}
    bars = (audit.response.error / peaks["network"]).tolist()
    frame = Frame((edges[0], edges[-1]), (0.0, 1.1), HEIGHT)
    axes = frame.axes("frequency λ", "gain relative to its peak")
    for at, gain, error in zip(centres, scaled["network"], bars, strict=True):
        if math.isfinite(gain) and error > 0:
            axes.append(line("curve c0", *frame.at(at, gain - error), *frame.at(at, gain + error)))
    return curves("Gain per band", frame, axes, centres, scaled, dotted=True)


def _layer_figures(audit: Audit) -> Iterator[Chart]:
    rows = (audit.input, *audit.layers)
    shares = {row.name: row.profile.fraction.tolist() for row in rows if row.profile is not None}
    if shares:
        edges = audit.response.edges.tolist()
        yield steps(f"Energy by frequency of {audit.family}", edges, shares, ylabel="share of the energy")
    found = audit.oversmoothing
    depth = [float(k) for k in range(len(found.names))]
    frame = Frame((0.0, max(depth[-1], 1.0)), (0.0, 1.05), HEIGHT)
    series = {"network": found.differences, "linear network": found.linear, "eigengap": found.predicted}
    axes = frame.axes("layer", "norm outside frequency 0")
    axes = [mark for mark in axes if mark.style != "tick middle" or "." not in mark.text]  # no numbers between layers
    values = {name: column.tolist() for name, column in series.items()}
    yield curves("Differences with depth", frame, axes, depth, values, dotted=True)
