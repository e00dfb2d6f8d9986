"""Train the advisor on generated graphs and test it on the real ones: ``python -m paper.advisor``."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from gsp_fb._atomic import atomic_write, write_json
from gsp_fb._extras import has, require
from gsp_fb.cli.exits import exit_code
from gsp_fb.cli.render import emit
from gsp_fb.datasets import load
from gsp_fb.errors import ParameterError

from .advising import ANSWERS, ARMS, SETTINGS, SPACE, answer, measures, scores
from .contrasts import control_cells
from .control import Arm
from .fingerprint import fingerprint
from .generated import N_SPLITS, GraphSpec, grid, make
from .journal import Journal, OutOfTimeError
from .store import Store
from .training import one_thread

__all__ = ["CANDIDATES", "Row", "evaluate", "main"]

PROGRAM = "python -m paper.advisor"
RESULTS = Path("paper/results")
# Sets of measures that the choice compares; each is a way in which the question was asked before.
CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "edge homophily": ("edge homophily",),
    "adjusted homophily": ("adjusted homophily",),
    "label informativeness": ("label informativeness",),
    "S-values": ("label S-value", "feature S-value"),
    "probes": ("probe of low", "probe of both", "probe of features"),
    "gains of probes": ("both over low", "low over features", "both over features"),
    "labels and probes": ("adjusted homophily", "label informativeness", "both over low", "low over features"),
    "all": (
        "adjusted homophily",
        "label informativeness",
        "label S-value",
        "feature S-value",
        "both over low",
        "low over features",
        "both over features",
        "log degree",
    ),
}
FOLDS, STRENGTHS = 5, (0.1, 1.0, 10.0)
Row = Mapping[str, Any]


def _model(strength: float) -> Any:
    preprocessing = require("sklearn.preprocessing", "the advisor")
    linear = require("sklearn.linear_model", "the advisor")
    pipeline = require("sklearn.pipeline", "the advisor")
    return pipeline.make_pipeline(preprocessing.StandardScaler(), linear.LogisticRegression(C=strength, max_iter=2000))


def _table(rows: Sequence[Row], names: Sequence[str]) -> Any:
    return np.array([[row["measures"][name] for name in names] for row in rows])


def choose(rows: Sequence[Row]) -> tuple[str, float]:
    """Return the measures and the penalty with the smallest cross-validated log loss."""
    selection = require("sklearn.model_selection", "the advisor")
    y = [row["answer"] for row in rows]
    folds = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    losses = {
        (name, strength): -selection.cross_val_score(
            _model(strength), _table(rows, names), y, cv=folds, scoring="neg_log_loss"
        ).mean()
        for name, names in CANDIDATES.items()
        for strength in STRENGTHS
    }
    return min(losses, key=lambda key: losses[key])


def evaluate(generated: Sequence[Row], real: Sequence[Row]) -> dict[str, Any]:
    """Return the advisor and its record: nested over generated graphs, and on the real ones, which it never saw.

    Parameters
    ----------
    generated, real : sequence of dict
        ``name``, ``measures`` and ``answer``.

    Raises
    ------
    ParameterError
        An answer has fewer generated graphs than there are folds.
    """
    counts = {name: sum(row["answer"] == name for row in generated) for name in ANSWERS}
    if min(count for count in counts.values() if count) < FOLDS or sum(map(bool, counts.values())) < 2:
        raise ParameterError(f"the generated graphs have too few of an answer: {counts}; generate more")
    name, strength = choose(generated)
    model = _model(strength).fit(_table(generated, CANDIDATES[name]), [row["answer"] for row in generated])
    shares = model.predict_proba(_table(real, CANDIDATES[name])) if real else np.zeros((0, len(model.classes_)))
    predicted = [dict(zip(model.classes_.tolist(), map(float, row), strict=True)) for row in shares]
    rows = [
        {"data set": row["name"], "answer": row["answer"], "advice": max(odds, key=lambda key: odds[key]), **odds}
        for row, odds in zip(real, predicted, strict=True)
    ]
    nested = _nested(generated)
    return {
        "measures": list(CANDIDATES[name]),
        "penalty": strength,
        "generated": counts,
        "nested": {"right": int(sum(one["right"] for one in nested)), **_interval([one["right"] for one in nested])},
        "calibration": _calibration(nested),
        "real": {"right": sum(row["answer"] == row["advice"] for row in rows), **_real_interval(rows)},
        "always": _always(generated, real),
        "rows": rows,
    }


def _always(generated: Sequence[Row], real: Sequence[Row]) -> dict[str, Any]:
    """Return how often the commonest answer of the generated graphs is right on the real ones."""
    found = [row["answer"] for row in generated]
    common = max(ANSWERS, key=found.count)
    return {"answer": common, "right": sum(row["answer"] == common for row in real)}


def _nested(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return probability and truth of every generated graph, by an advisor that was chosen without its fold."""
    selection = require("sklearn.model_selection", "the advisor")
    y, found = np.array([row["answer"] for row in rows]), []
    for train, test in selection.StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(y, y):
        rest = [rows[k] for k in train]
        name, strength = choose(rest)
        model = _model(strength).fit(_table(rest, CANDIDATES[name]), y[train])
        shares = model.predict_proba(_table([rows[k] for k in test], CANDIDATES[name]))
        best = shares.argmax(axis=1)
        found += [
            {"share": float(share[k]), "right": bool(model.classes_[k] == truth)}
            for share, k, truth in zip(shares, best, y[test], strict=True)
        ]
    return found


def _interval(right: Sequence[bool]) -> dict[str, Any]:
    found = stats.binomtest(sum(right), len(right)).proportion_ci(method="exact")
    return {"of": len(right), "low": float(found.low), "high": float(found.high)}


def _real_interval(rows: Sequence[Row]) -> dict[str, Any]:
    return _interval([row["answer"] == row["advice"] for row in rows]) if rows else {"of": 0}


def _calibration(nested: Sequence[Mapping[str, Any]], bins: int = 6) -> list[dict[str, float]]:
    """Return, for groups of equal size by given probability, its mean and how often the advice is right."""
    order = sorted(nested, key=lambda one: one["share"])
    groups = [group for group in np.array_split(np.arange(len(order)), bins) if len(group)]
    return [
        {
            "given": float(np.mean([order[k]["share"] for k in group])),
            "right": float(np.mean([order[k]["right"] for k in group])),
            **_interval([order[k]["right"] for k in group]),
        }
        for group in groups
    ]


def _draw(calibration: Sequence[Mapping[str, float]], path: Path) -> None:
    figures = require("matplotlib.figure", "drawing figures")
    figure = figures.Figure(figsize=(4.5, 4.2), layout="constrained")
    ax = figure.subplots()
    for one in calibration:
        ax.plot([one["given"]] * 2, [one["low"], one["high"]], color="tab:blue")
        ax.plot([one["given"]], [one["right"]], "o", color="tab:blue")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    ax.set(xlabel="probability given by the advisor", ylabel="share of correct advice, 95 % interval")
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=110, metadata={"Software": None})


def real_rows(store: Store) -> list[dict[str, Any]]:
    """Return the real data sets whose four arms the control has stored, with their measures and answer."""
    labels = {Arm(name, inner="linear" if "+" not in name else "relu").label: name for name in ARMS}
    found: dict[str, dict[str, float]] = {}
    for cell in control_cells():
        if cell.row.label in labels and (facts := store.read(cell)):
            found.setdefault(cell.dataset, {})[labels[cell.row.label]] = float(facts["mean"])
    complete = {dataset: test for dataset, test in found.items() if len(test) == len(ARMS)}
    return [{"name": name, "answer": answer(test), "measures": _real_measures(name)} for name, test in complete.items()]


def _real_measures(dataset: str) -> dict[str, float]:
    data = load(dataset, loops="drop")
    return measures(data, data.splits[:3])


def _journal(part: str, results: Path, deadline: float | None) -> Journal:
    results.mkdir(parents=True, exist_ok=True)
    identity = {"space": SPACE, "settings": SETTINGS, "splits": N_SPLITS, "code": fingerprint("nodes")}
    return Journal(results / f"advisor-{part.replace('/', '-of-')}.jsonl", identity, deadline=deadline)


def _row(spec: GraphSpec) -> dict[str, Any]:
    data = make(spec)
    test = scores(data)
    return {"name": spec.name, "measures": measures(data, data.splits[:3]), "test": test, "answer": answer(test)}


def _part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and 0 < int(number) <= int(parts)):
        raise ParameterError(f"--part is 1/1, 1/2, 2/2, ..., not {text!r}")
    return int(number), int(parts)


def _generate(args: argparse.Namespace) -> None:
    """Measure the graphs of a part of the grid; those of earlier runs are in its journal."""
    deadline = None if args.budget is None else time.monotonic() + 60 * args.budget
    number, parts = _part(args.part)
    journal = _journal(args.part, args.results, deadline)
    specs = grid(universe=has("graph_universe"))[number - 1 :: parts][: args.limit]
    with one_thread(), contextlib.suppress(OutOfTimeError):
        for spec in specs:
            journal.step(spec.name, partial(_row, spec))
    done = sum(spec.name in journal.steps for spec in specs)
    emit({"graphs": len(specs), "done": done, "core-seconds": round(journal.seconds, 1)}, as_json=args.json)


def _rows_of(results: Path) -> list[dict[str, Any]]:
    names = sorted(path.stem.removeprefix("advisor-").replace("-of-", "/") for path in results.glob("advisor-*.jsonl"))
    return [step["outcome"] for part in names for step in _journal(part, results, None).steps.values()]


def _report(args: argparse.Namespace) -> None:
    found = evaluate(_rows_of(args.results), real_rows(Store(args.store)))
    write_json(args.results / "advisor.json", found)
    if has("matplotlib"):
        _draw(found["calibration"], args.results / "advisor-calibration.png")
    emit({key: value for key, value in found.items() if key not in ("rows", "calibration")}, as_json=args.json)


def _run(args: argparse.Namespace) -> int:
    if args.report:
        _report(args)
    else:
        _generate(args)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__, allow_abbrev=False)
    parser.add_argument("--part", default="1/1", metavar="K/N", help="of the grid, for N processes side by side")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="stop after so long; a later run goes on")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N graphs alone")
    parser.add_argument("--results", type=Path, default=RESULTS / "advisor", metavar="DIR", help="journals and record")
    parser.add_argument("--store", type=Path, default=RESULTS, metavar="DIR", help="results of the control")
    parser.add_argument(
        "--report", action="store_true", help="fit on all graphs of the journals, test on the real sets"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    args = parser.parse_args(argv)
    return exit_code(lambda: _run(args), PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
