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

from gsp_fb._atomic import write_json
from gsp_fb._extras import has, require
from gsp_fb.advice import ANSWERS, Advisor, Record, gather
from gsp_fb.cli.exits import exit_code
from gsp_fb.cli.render import emit
from gsp_fb.datasets import load
from gsp_fb.errors import ParameterError

from .advising import ARMS, SETTINGS, SPACE, answer, scores
from .contrasts import control_cells
from .control import Arm
from .generated import N_SPLITS, GraphSpec, grid, make
from .journal import Journal, OutOfTimeError
from .store import Store, head_commit
from .training import one_thread

__all__ = ["CANDIDATES", "PACKAGED", "Row", "evaluate", "main"]

PROGRAM = "python -m paper.advisor"
RESULTS, PACKAGED = Path("paper/results"), Path(__file__).parents[1] / "gsp_fb/data/advisor.json"
# Sets of measures that the choice compares, by what an advisor may read.
CANDIDATES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "labels": {
        "edge homophily": ("edge homophily",),
        "adjusted homophily": ("adjusted homophily",),
        "label informativeness": ("label informativeness",),
        "label S-value": ("label S-value",),
        "labels": ("adjusted homophily", "label informativeness", "log degree"),
    },
    "features": {
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
    },
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


def choose(rows: Sequence[Row], candidates: Mapping[str, tuple[str, ...]]) -> tuple[str, float]:
    """Return the measures and the penalty with the smallest cross-validated log loss."""
    selection = require("sklearn.model_selection", "the advisor")
    y = np.array([row["answer"] for row in rows])
    folds = selection.StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    place = np.searchsorted(np.unique(y), y)[:, None]  # of the true answer among the columns of probabilities

    def loss(names: Sequence[str], strength: float) -> float:
        table, method = _table(rows, names), "predict_proba"
        shares = selection.cross_val_predict(_model(strength), table, y, cv=folds, method=method)
        return float(-np.log(np.maximum(np.take_along_axis(shares, place, axis=1), 1e-15)).mean())

    losses = {(name, strength): loss(names, strength) for name, names in candidates.items() for strength in STRENGTHS}
    return min(losses, key=lambda key: losses[key])


def evaluate(generated: Sequence[Row], real: Sequence[Row], reads: str = "features") -> dict[str, Any]:
    """Return an advisor as its file holds it: weights, record, calibration and its answer on every real data set.

    The record is nested over generated graphs: an advisor chosen and fitted without a fold answers the fold. On the
    real ones, which no advisor has seen, the one fitted on all generated graphs answers.

    Parameters
    ----------
    generated, real : sequence of dict
        ``name``, ``measures`` and ``answer``.
    reads : {'features', 'labels'}
        Row of ``CANDIDATES``.

    Raises
    ------
    ParameterError
        An answer has fewer generated graphs than there are folds.
    """
    counts = {name: sum(row["answer"] == name for row in generated) for name in ANSWERS}
    if min(count for count in counts.values() if count) < FOLDS or sum(map(bool, counts.values())) < 2:
        raise ParameterError(f"the generated graphs have too few of an answer: {counts}; generate more")
    name, strength = choose(generated, CANDIDATES[reads])
    found = _fitted(generated, CANDIDATES[reads][name], strength)
    nested = _nested(generated, CANDIDATES[reads])
    right, common = [one["right"] for one in nested], max(ANSWERS, key=lambda one: counts[one])
    advisor = Advisor(**found, record=Record(**_record(right, [], common)))
    rows = [{"data set": row["name"], "answer": row["answer"], **_advice(advisor, row)} for row in real]
    return {
        **found,
        "chosen": name,
        "penalty": strength,
        "generated": counts,
        "record": _record(right, rows, common),
        "calibration": _calibration(nested),
        "rows": rows,
    }


_WEIGHTS = ("measures", "mean", "scale", "answers", "weights", "intercepts")


def _fitted(rows: Sequence[Row], names: Sequence[str], strength: float) -> dict[str, Any]:
    """Return the weights of a logistic regression on all rows, one row an answer."""
    scaler, linear = (step for _, step in _model(strength).fit(_table(rows, names), [r["answer"] for r in rows]).steps)
    weights, intercepts = linear.coef_, linear.intercept_
    if len(linear.classes_) == 2:  # one row is the difference of two
        weights, intercepts = np.concatenate([-weights, weights]) / 2, np.concatenate([-intercepts, intercepts]) / 2
    values = (list(names), scaler.mean_, scaler.scale_, linear.classes_, weights, intercepts)
    return {key: np.asarray(value).tolist() for key, value in zip(_WEIGHTS, values, strict=True)}


def _advice(advisor: Advisor, row: Row) -> dict[str, Any]:
    shares = advisor.probabilities(row["measures"])
    return {"advice": max(shares, key=lambda name: shares[name]), **shares}


def _record(nested: Sequence[bool], rows: Sequence[Mapping[str, Any]], common: str) -> dict[str, Any]:
    real, own = _interval([row["answer"] == row["advice"] for row in rows]), _interval(nested)
    return {
        **real,
        **{"generated_right": own["right"], "generated": own["of"]},
        **{f"generated_{end}": own[end] for end in ("low", "high")},
        **{"common": common, "common_right": sum(row["answer"] == common for row in rows)},
    }


def _nested(rows: Sequence[Row], candidates: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """Return probability and truth of every generated graph, by an advisor that was chosen without its fold."""
    selection = require("sklearn.model_selection", "the advisor")
    y, found = np.array([row["answer"] for row in rows]), []
    for train, test in selection.StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(y, y):
        rest = [rows[k] for k in train]
        name, strength = choose(rest, candidates)
        model = _model(strength).fit(_table(rest, candidates[name]), y[train])
        shares = model.predict_proba(_table([rows[k] for k in test], candidates[name]))
        best = shares.argmax(axis=1)
        found += [
            {"share": float(share[k]), "right": bool(model.classes_[k] == truth)}
            for share, k, truth in zip(shares, best, y[test], strict=True)
        ]
    return found


def _interval(right: Sequence[bool]) -> dict[str, Any]:
    """Return how many are right, of how many, and the exact interval of the share; none of nothing."""
    found = stats.binomtest(sum(right), len(right)).proportion_ci(method="exact") if right else None
    ends = {"low": None, "high": None} if found is None else {"low": float(found.low), "high": float(found.high)}
    return {"right": sum(right), "of": len(right), **ends}


def _calibration(nested: Sequence[Mapping[str, Any]], bins: int = 6) -> list[dict[str, float]]:
    """Return, for groups of equal size by given probability, its mean and the share of right advice."""
    order = sorted(nested, key=lambda one: one["share"])
    groups = [group for group in np.array_split(np.arange(len(order)), bins) if len(group)]
    return [
        {
            **_interval([order[k]["right"] for k in group]),
            "given": float(np.mean([order[k]["share"] for k in group])),
            "right": float(np.mean([order[k]["right"] for k in group])),
        }
        for group in groups
    ]


def real_rows(store: Store) -> list[dict[str, Any]]:
    """Return the real data sets whose four arms the control has stored, with their measures and answer."""
    labels = {Arm(name, inner="linear" if "+" not in name else "relu").label: name for name in ARMS}
    found: dict[str, dict[str, float]] = {}
    for cell in control_cells():
        if cell.row.label in labels and (facts := store.read(cell)):
            found.setdefault(cell.dataset, {})[labels[cell.row.label]] = float(facts["mean"])
    complete = {dataset: test for dataset, test in found.items() if len(test) == len(ARMS)}
    return [
        {"name": name, "answer": answer(test), "measures": _measures(load(name, loops="drop"))}
        for name, test in complete.items()
    ]


def _measures(data: Any) -> dict[str, float]:
    """Return what ``gsp-fb advise`` reads: the training nodes of the first split."""
    return gather(data.graph, data.x, data.y, data.splits[0].train).measures


def _journal(part: str, results: Path, deadline: float | None) -> Journal:
    results.mkdir(parents=True, exist_ok=True)
    identity = {"space": SPACE, "settings": SETTINGS, "splits": N_SPLITS}
    return Journal(results / f"advisor-{part.replace('/', '-of-')}.jsonl", identity, deadline=deadline)


def _row(spec: GraphSpec) -> dict[str, Any]:
    data = make(spec)
    test = scores(data)
    found = {"name": spec.name, "measures": _measures(data), "test": test, "answer": answer(test)}
    return {**found, "commit": head_commit()}


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
    generated, real = _rows_of(args.results), real_rows(Store(args.store))
    found = {reads: evaluate(generated, real, reads) for reads in CANDIDATES}
    write_json(args.output, {"command": f"{PROGRAM} --report", "commit": head_commit(), "advisors": found})
    shown = {f"{reads}, {key}": value for reads in found for key, value in found[reads]["record"].items()}
    emit({"written": str(args.output), **shown}, as_json=args.json)


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
    parser.add_argument(
        "--output", type=Path, default=PACKAGED, metavar="FILE", help="of --report (default: the data of the package)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    args = parser.parse_args(argv)
    return exit_code(lambda: _run(args), PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
