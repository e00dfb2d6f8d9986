"""Partial spectra against LAPACK and closed forms: every copy of a repeated eigenvalue, both ends, all families."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb.variants import VARIANTS

from .graphs import CLOSED_FORM, DENSE

__all__ = ["sweep"]

COUNTS = (2, 3, 5, 7, 10, 17, 30, 41)
# Relative to the largest eigenvalue.
WRONG = 1e-8


@dataclass(frozen=True)
class Case:
    """One call: an operator, its eigenvalues, how many are asked for, at which end."""

    graph: str
    op: gf.Operator
    eigenvalues: Any
    k: int
    which: str

    def run(self) -> tuple[float, str]:
        """Return the largest relative error (infinite where the call fails) and the proof."""
        first = (self.which == "low") == (self.op.channel == "high")
        want = self.eigenvalues[: self.k] if first else self.eigenvalues[-self.k :]
        try:
            modes = gf.spectrum(self.op, self.k, self.which)
        except gf.errors.GspError as failed:
            return float("inf"), type(failed).__name__
        size = max(1.0, float(np.abs(self.eigenvalues).max()))
        basis = modes.symmetrized_basis
        defect = np.abs(basis.T @ basis - np.eye(self.k)).max()
        return max(float(np.abs(modes.frequencies - want).max()) / size, float(defect) / 100), modes.proof


def cases() -> Iterator[Case]:
    """Yield every call of the sweep."""
    for name, make in DENSE.items():
        graph = make()
        for family in VARIANTS:
            op = gf.operator(graph, family, channel="high")
            yield from _calls(name, op, np.linalg.eigvalsh(op.symmetrized.to_scipy().toarray()))
    for name, closed in CLOSED_FORM.items():
        graph, eigenvalues = closed()
        yield from _calls(name, gf.operator(graph, "comb", channel="high"), eigenvalues)
        if graph.n_edges and len(np.unique(graph.degrees)) == 1:
            degree = float(graph.degrees[0])
            yield from _calls(name, gf.operator(graph, "sym", channel="high"), eigenvalues / degree)
            yield from _calls(name, gf.operator(graph, "lazy_rw"), np.sort(1 - eigenvalues / (2 * degree)))


def _calls(name: str, op: gf.Operator, eigenvalues: Any) -> Iterator[Case]:
    for k in COUNTS:
        for which in ("low", "high"):
            yield Case(name, op, eigenvalues, k, which)


def sweep() -> tuple[str, int]:
    """Return the section of the page and the number of wrong calls."""
    calls, wrong, proofs, begin = Counter[str](), Counter[str](), Counter[str](), time.process_time()
    worst: dict[str, float] = {}
    for case in cases():
        error, proof = case.run()
        calls[case.graph] += 1
        proofs[proof] += 1
        wrong[case.graph] += error > WRONG
        worst[case.graph] = max(worst.get(case.graph, 0.0), error)
        if error > WRONG:
            print(f"WRONG {case.graph} {case.op.family} k={case.k} {case.which}: {error:.1e} ({proof})", flush=True)
    rows = [f"| {name} | {calls[name]} | {wrong[name]} | {worst[name]:.1e} |" for name in calls]
    section = [
        "## Partial spectra",
        "",
        f"`python -m tools.oracles spectra`: {calls.total()} calls of `gsp_fb.spectrum(op, k, which)`, k in {COUNTS}, "
        f"both ends; {wrong.total()} wrong (an eigenvalue off by more than {WRONG:g} of the largest). Oracles: LAPACK "
        "(all families) and closed forms.",
        "",
        f"Proofs: {', '.join(f'{proof} {n}' for proof, n in sorted(proofs.items()))}. "
        f"{time.process_time() - begin:.0f} s of processor time, {platform.machine()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}.",
        "",
        "| graph | calls | wrong | largest error |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(section), wrong.total()
