"""Public numbers against formulas written out here, on degenerate, hub-heavy and badly scaled graphs."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb.variants import VARIANTS

from .of_graphs import GLOBAL
from .of_kernels import RESPONSES
from .of_operators import PER_FAMILY, sizes
from .truth import GRAPHS, Truth

__all__ = ["GLOBAL", "NOT_COMPARED", "PER_FAMILY", "RESPONSES", "comparisons", "sweep"]

# Relative to the size of the number.
WRONG = 1e-8
# Public functions without a row, and why.
NOT_COMPARED = {
    "from_anndata from_arrow from_igraph from_networkx from_pandas from_pyg from_pygsp from_torch": "conversion",
    "to_igraph to_networkx to_pandas to_pyg to_pygsp to_torch": "conversion, tested in tests/interop",
    "open_graph read_graph write_graph": "files; round trips in tests/test_files.py and tests/outofcore",
    "set_threads": "a setting",
    "explore": "a widget",
    "advise": "a recommendation; its evidence is made of numbers with a row",
    "verify verify_each": "yes or no for each theorem; tests/test_theory.py",
    "tolerance": "the tolerance of those answers, a formula of one line",
    "sampling_set": "node numbers; `condition` measures them",
    "learn_graph learn_weights": "a minimiser; its optimality conditions are tested in tests/test_learning.py",
    "coarsen sparsify": "graphs; their stated errors are tested in tests/test_multiresolution.py",
    "two_channel": "a bank; its channels are `operator @ x`, its inverse is tested in tests/test_two_channel.py",
}


@dataclass(frozen=True)
class Comparison:
    """A number of ours and the oracle's, the weights of the norm they are compared in, and their least size."""

    name: str
    graph: str
    ours: Callable[[], Any]
    oracle: Callable[[], Any]
    weights: Any = 1.0
    size: Callable[[], float] = float

    def error(self) -> float | None:
        """Return the relative error, None where the library refuses the input, or warns that it cannot be accurate."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", gf.errors.GspWarning)
            try:
                found = np.asarray(self.ours(), dtype=np.float64)
            except (gf.errors.GspError, gf.errors.GspWarning):
                return None
            try:
                want = np.asarray(self.oracle(), dtype=np.float64)
            except (ZeroDivisionError, np.linalg.LinAlgError):
                return None
            if want.size == 0 or not np.all(np.isfinite(want)):
                return None
            root = np.sqrt(self.weights / np.max(self.weights))
            size = max(float(np.abs((root * want.T).T).max()), self.size(), float(np.finfo(float).tiny))
            return float(np.abs((root * (found - want).T).T).max()) / size


# Compared in the inner product of the operator, in which their tolerance is stated.
WEIGHTED = {"tikhonov", "denoise", "FilterBank(heat)", "wiener", "joint_filter", "joint_igft", "recover"}


def comparisons() -> Iterator[Comparison]:
    """Yield every number on every graph."""
    for title, make in GRAPHS.items():
        graph = make()
        rng = np.random.default_rng(graph.n_nodes)
        truth = Truth(graph, 1.0 + rng.standard_normal(graph.n_nodes), rng.integers(0, 3, graph.n_nodes))
        for table in (GLOBAL, RESPONSES):
            for name, (ours, oracle) in table.items():
                yield Comparison(name, title, partial(ours, truth), partial(oracle, truth))
        for family in VARIANTS:
            for name, (ours, oracle) in PER_FAMILY.items():
                weights = truth.laplacian(family)[1] if name in WEIGHTED else 1.0
                runs = partial(ours, truth, family), partial(oracle, truth, family)
                yield Comparison(name, f"{title}, {family}", *runs, weights, partial(_size, name, truth, family))


def _size(name: str, truth: Truth, family: str) -> float:
    return sizes(truth, family).get(name, 0.0)


def sweep() -> tuple[str, int]:
    """Return the section of the page and the number of wrong numbers."""
    calls, refused, wrong, begin = Counter[str](), Counter[str](), Counter[str](), time.process_time()
    worst: dict[str, float] = {}
    for one in comparisons():
        error = one.error()
        calls[one.name] += 1
        refused[one.name] += error is None
        wrong[one.name] += error is not None and not error <= WRONG
        worst[one.name] = max(worst.get(one.name, 0.0), error or 0.0)
        if error is not None and not error <= WRONG:
            print(f"WRONG {one.name} of {one.graph}: {error:.1e}", flush=True)
    rows = [
        f"| {name} | {calls[name] - refused[name]} | {refused[name]} | {wrong[name]} | {worst[name]:.1e} |"
        for name in calls
    ]
    section = [
        "## Public numbers",
        "",
        f"`python -m tools.oracles numbers`: {calls.total()} numbers on {len(GRAPHS)} degenerate, hub-heavy and badly "
        f"scaled graphs against dense formulas; {wrong.total()} wrong (off by more than {WRONG:g}). Refused: the "
        "library raises an error or warns that rounding allows no such accuracy, or the number is not defined there. "
        f"{time.process_time() - begin:.0f} s of processor time.",
        "",
        "| number | compared | refused | wrong | largest error |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(section), wrong.total()
