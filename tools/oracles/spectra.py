"""Partial spectra against LAPACK and closed forms: every copy of a repeated eigenvalue, both ends, all families."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import gsp_fb as gf
from gsp_fb.variants import VARIANTS

from .graphs import CLOSED_FORM, DENSE
from .matrices import symmetric

__all__ = ["sweep"]

COUNTS = (2, 3, 5, 7, 10, 17, 30, 41)
# Relative to the largest eigenvalue.
WRONG = 1e-8
# Seconds from which a call is named on the terminal.
SLOW = 5.0


@dataclass(frozen=True)
class Case:
    """One call: an operator, its matrix and eigenvalues from elsewhere, how many are asked for, at which end."""

    graph: str
    op: gf.Operator
    matrix: Any
    eigenvalues: Any
    k: int
    which: str

    def run(self) -> tuple[float, str]:
        """Return the largest error of a value or a pair (infinite where the call fails), and the proof."""
        first = (self.which == "low") == (self.op.channel == "high")
        want = self.eigenvalues[: self.k] if first else self.eigenvalues[-self.k :]
        try:
            modes = gf.spectrum(self.op, self.k, self.which)
        except gf.errors.GspError as failed:
            return float("inf"), type(failed).__name__
        size = max(1.0, float(np.abs(self.eigenvalues).max()))
        basis, values = modes.symmetrized_basis, modes.frequencies
        residual = np.linalg.norm(self.matrix @ basis - basis * values, axis=0).max()
        defect = np.abs(basis.T @ basis - np.eye(self.k)).max()
        return max(float(np.abs(values - want).max()) / size, float(residual) / size, float(defect)), modes.proof


def cases() -> Iterator[Case]:
    """Yield every call of the sweep."""
    for name, make in DENSE.items():
        graph = make()
        for family in VARIANTS:
            matrix, _ = symmetric(graph.adjacency, family)
            op = gf.operator(graph, family, channel="high")
            yield from _calls(name, op, matrix, np.linalg.eigvalsh(matrix.toarray()))
    for name, closed in CLOSED_FORM.items():
        graph, eigenvalues = closed()
        comb, _ = symmetric(graph.adjacency, "comb")
        yield from _calls(name, gf.operator(graph, "comb", channel="high"), comb, eigenvalues)
        if graph.n_edges and len(np.unique(graph.degrees)) == 1:
            degree, low = float(graph.degrees[0]), gf.operator(graph, "lazy_rw")
            yield from _calls(name, gf.operator(graph, "sym", channel="high"), comb / degree, eigenvalues / degree)
            lazy = sparse.eye_array(graph.n_nodes) - comb / (2 * degree)
            yield from _calls(name, low, lazy, np.sort(1 - eigenvalues / (2 * degree)))


def _calls(name: str, op: gf.Operator, matrix: Any, eigenvalues: Any) -> Iterator[Case]:
    for k in COUNTS:
        for which in ("low", "high"):
            yield Case(name, op, matrix, eigenvalues, k, which)


def sweep() -> tuple[str, int]:
    """Return the section of the page and the number of wrong calls."""
    calls, wrong, proofs, begin = Counter[str](), Counter[str](), Counter[str](), time.process_time()
    worst: dict[str, float] = {}
    for case in cases():
        started = time.process_time()
        error, proof = case.run()
        if (took := time.process_time() - started) > SLOW:
            print(f"slow {case.graph} {case.op.family} k={case.k} {case.which}: {took:.1f} s ({proof})", flush=True)
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
        f"both ends; {wrong.total()} wrong (an eigenvalue, a residual or the orthogonality of the modes off by more "
        f"than {WRONG:g}, relative to the largest eigenvalue). Oracles: LAPACK on the paper's matrices (all families) "
        "and closed forms.",
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
