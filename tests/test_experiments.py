"""The experiments as data, the choice of hyperparameters, and the tests behind the verdicts."""

import csv
import itertools
import json
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from gsp_fb import Graph
from gsp_fb.datasets import Split, info, load, random_splits
from gsp_fb.datasets.splits import SPLIT_SEED, stored_splits
from gsp_fb.errors import GspWarning, ParameterError
from paper import paper_numbers, training
from paper.catalogue import EXPERIMENTS, PAPER_NAMES
from paper.cells import cells, select
from paper.claims import CLAIMS, UNPRINTED
from paper.costs import expected_seconds
from paper.presets import listed, preset
from paper.protocols import PROTOCOLS, plan, space
from paper.significance import corrected_t_test, holm
from paper.store import Store
from paper.verdicts import over_data_sets, summaries, verdicts
from tests.support.cells import fake_cell
from tests.support.real_data import DATA, needs_data

EVERY = [cell for row in EXPERIMENTS.values() for protocol in PROTOCOLS for cell in cells(row, protocol)]


def synthetic(name="texas", *, y=None, n_splits=3, **options):
    """A ring of 60 nodes whose test nodes are the same in every split."""
    rng = np.random.default_rng(1)
    truth = np.arange(60) // 20
    graph = Graph.from_edges([(k, (k + 1) % 60) for k in range(60)])
    x = np.eye(3)[truth] + 0.5 * rng.random((60, 3))
    test, rest = np.arange(0, 60, 5), np.setdiff1d(np.arange(60), np.arange(0, 60, 5))
    orders = [rng.permutation(rest) for _ in range(n_splits)]
    splits = tuple(Split(np.sort(order[:30]), np.sort(order[30:]), test) for order in orders)
    return SimpleNamespace(name=name, graph=graph, x=x, y=truth if y is None else y, splits=splits)


def test_every_data_set_and_model_of_the_table_exists():
    nn = pytest.importorskip("gsp_fb.nn")
    for cell in EVERY:
        assert info(cell.dataset).name == cell.dataset
        if cell.row.model:
            known = {*nn.MODELS[cell.row.model].options, *nn.TrainConfig().as_dict()}
            assert {*cell.row.options, *cell.space} <= known


def test_every_path_and_spec_is_one_cells_own():
    by_path = {cell.path: cell for cell in EVERY}
    for cell in EVERY:
        assert by_path[cell.path].digest == cell.digest
    assert len({cell.digest for cell in by_path.values()}) == len(by_path)


STORED = Path(__file__).parents[1] / "paper" / "results"


@pytest.mark.parametrize("table", ["table1", "table3"])
def test_the_stored_s_values_are_those_of_their_table(table):
    for cell in select([table], protocols=["paper"], models=["S-values"]):
        values = Store(STORED).read(cell)["values"]
        assert {row["table"] for row in values} == {table}
        assert [row["signal"] for row in values] == ["features", "labels"]
        assert all(abs(row["as_printed"] - row["paper"]) <= 0.002 for row in values)


def test_protocols_never_share_a_path():
    paths = {protocol: {cell.path for cell in select(protocols=[protocol])} for protocol in PROTOCOLS}
    assert not paths["paper"] & paths["tuned"]


def test_every_printed_row_that_we_train_is_found_among_the_papers_numbers():
    printed = {(row.table, row.model, row.dataset) for row in paper_numbers()}
    for experiment in EXPERIMENTS.values():
        if experiment.measure not in ("score", "search") or not experiment.printed:
            continue
        for row, dataset in itertools.product(experiment.rows, experiment.datasets):
            key = (experiment.printed, row.printed or row.label, PAPER_NAMES.get(dataset, dataset))
            assert key in printed, key


def test_the_listed_hyperparameters_are_the_papers_files():
    text = files("paper").joinpath("data", "hyperparameters.csv").read_text(encoding="utf-8")
    assert len(listed()) == len(list(csv.DictReader(text.splitlines()))) == 174
    assert preset("squirrel", "GraphSAGE")["hidden"] == 32  # printed as c32
    assert preset("coauthor_physics", "GCN")["dropout"] == 0.1  # printed as 0.1(0.3)
    assert preset("MUTAG", "FB-GIN-0", "") == {
        "lr": 0.036104,
        "weight_decay": 0.0001034,
        "dropout": 0.75127,
        "hidden": 128,
        "batch_size": 32,
        "concat": False,
        "gamma": -0.48239,
    }
    assert preset("amazon_photo", "GraphSAGE") is None


def test_claims_name_rows_and_data_sets_of_their_experiment():
    for claim in CLAIMS:
        experiment = EXPERIMENTS[claim.experiment]
        assert set(claim.datasets) <= set(experiment.datasets)
        assert {label for pair in claim.pairs for label in pair} <= {row.label for row in experiment.rows}


def test_the_grid_is_the_papers():
    grid = space("fb-gcn")
    assert (len(grid["lr"]), len(grid["weight_decay"]), len(grid["dropout"])) == (3, 9, 10)
    assert set(grid["normalize"]) == {True, False}
    assert 64 in grid["hidden"]


@needs_data
def test_the_stored_splits_are_those_of_the_seed():
    data = load("amazon_photo", data_dir=DATA)
    for kept, drawn in zip(data.splits, random_splits(data.y, rng=SPLIT_SEED), strict=True):
        assert all(np.array_equal(getattr(kept, part), getattr(drawn, part)) for part in ("train", "val", "test"))
    assert {name for name in EXPERIMENTS["table10"].datasets if stored_splits(name)} == set(
        EXPERIMENTS["table10"].datasets
    )


def job_of(monkeypatch, **changes):
    monkeypatch.setattr(training, "load", lambda name, **options: synthetic(name, **changes))
    (cell,) = select(["table9"], protocols=["tuned"], datasets=["texas"], models=["fb-gcn-lazy"], quick=True)
    return training.Job.of(cell)


def test_permuting_test_labels_leaves_the_choice_unchanged(monkeypatch, tmp_path):
    choice, journal = (
        pytest.importorskip("paper.choice"),
        pytest.importorskip("paper.journal"),
    )
    pytest.importorskip("optuna")
    truth = synthetic().y
    test = synthetic().splits[0].test
    other = truth.copy()
    other[test] = (truth[test] + 1) % 3
    found, scores = [], []
    for number, y in enumerate((truth, other)):
        job = job_of(monkeypatch, y=y)
        kept = journal.Journal(tmp_path / f"{number}.jsonl", {})
        found.append(choice.choose(job, kept))
        scores.append([run["scores"]["test"] for run in job.runs(found[-1].values, kept)])
    assert found[0] == found[1]
    assert found[0].score is not None
    assert scores[0] != scores[1]  # the labels did change


def test_a_proposal_depends_on_the_finished_trials_and_the_seed_alone():
    proposals = pytest.importorskip("gsp_fb.tuning.race")
    pytest.importorskip("optuna")
    grid = space("fb-gcn")
    done = []
    for seed in range(12):
        tried = [values for values, _ in done]
        values = proposals.propose("tpe", grid, done, tried, seed=seed)
        assert values == proposals.propose("tpe", grid, list(done), tried, seed=seed)
        assert values not in [earlier for earlier, _ in done]
        assert all(values[name] in choices for name, choices in grid.items())
        done.append((values, values["dropout"]))


def test_the_race_keeps_the_best_and_counts_what_diverged(monkeypatch, tmp_path):
    choice, journal = (
        pytest.importorskip("paper.choice"),
        pytest.importorskip("paper.journal"),
    )
    pytest.importorskip("optuna")
    search = sys.modules["gsp_fb.nn.search"]
    job, asked = job_of(monkeypatch), []

    def validation(wanted):
        asked.extend((trial.number, split) for trial, split in wanted)
        table = {(False, 0.3): 0.9, (True, 0.3): 0.2}
        return [table.get((trial.values["normalize"], trial.values["dropout"])) for trial, _ in wanted]

    race = search.Race
    monkeypatch.setattr(
        search, "Race", lambda journal, space, trained, *rest, **given: race(journal, space, validation, *rest, **given)
    )
    found = choice.choose(job, journal.Journal(tmp_path / "a.jsonl", {}))
    assert (found.values["normalize"], found.score, found.n_trials) == (False, 0.9, 3)
    assert found.n_failed == 1
    # The second rung sees the two best, on the split they had not seen.
    assert [trial for trial, split in asked if split == 1] == [0, 1]
    assert [len(trial["scores"]) for trial in found.trials] == [2, 2, 1]
    assert [trial["scores"][0] for trial in found.trials] == [0.9, 0.2, None]
    assert found.trials[0]["values"] == found.values


@pytest.mark.parametrize("damage", ["garbage\n", "", '{"op": 1}\n'])
def test_fault_146_a_damaged_journal_is_set_aside_and_measured_again(tmp_path, damage):
    journal = pytest.importorskip("paper.journal")
    path = tmp_path / "a.jsonl"
    journal.Journal(path, {"cell": 1}).step("square", lambda: 9)
    path.write_text(damage + path.read_text()[5:])
    with pytest.warns(GspWarning, match="set aside, and measured again"):
        again = journal.Journal(path, {"cell": 1})
    assert again.step("square", lambda: 16) == 16
    assert (tmp_path / "a.jsonl.damaged-1").exists()
    with pytest.warns(GspWarning, match="cell: 1 stored, 2 given"):
        journal.Journal(path, {"cell": 2})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "cornell"}, "dataset is 'cornell', not 'texas'"),
        ({"test": [0.5, float("nan")]}, "test score nan"),
        ({"test": [7.0]}, "test score 7.0"),
        ({"protocol": {}}, "KeyError"),
        ({"seconds": "x"}, "ValueError"),
        (None, "JSONDecodeError"),
    ],
)
def test_fault_146_a_damaged_or_foreign_result_is_set_aside(tmp_path, change, message):
    (cell,) = select(["table9"], protocols=["tuned"], datasets=["texas"], models=["gcn"])
    store = Store(tmp_path)
    facts = store.write(cell, fake_cell(cell, [0.5, 0.6]), 1.0)
    path = tmp_path / cell.path
    path.write_text(path.read_text()[:-40] if change is None else json.dumps({**facts, **change}))
    with pytest.warns(GspWarning, match=message):
        assert not Store(tmp_path).has(cell)
    assert len(list(path.parent.glob("*.damaged-1"))) == 1
    assert not store.has(cell)
    store.write(cell, fake_cell(cell, [0.5, 0.6]), 1.0)
    assert store.has(cell)


def test_plans_grow_with_the_protocol_alone():
    for n_nodes in (183, 3000, 7600, 19717):
        # Raw and row-normalised features on the ten splits, then the ten that are tested.
        assert plan("paper", n_nodes=n_nodes).trainings == 2 * 10 + 10
        assert plan("tuned", n_nodes=n_nodes).rungs[0].candidates >= 16
        assert plan("tuned", n_nodes=n_nodes).epochs == plan("paper", n_nodes=n_nodes).epochs == 2000
    for n_nodes, candidates in ((183, 64), (890, 64), (2708, 32)):
        assert plan("tuned", n_nodes=n_nodes).rungs[0].candidates == candidates


def test_without_shared_nodes_the_corrected_test_is_the_paired_one():
    rng = np.random.default_rng(3)
    a, b = rng.random(10), rng.random(10)
    assert corrected_t_test(a - b, test_share=0.0) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert corrected_t_test(a - b, test_share=0.4) > stats.ttest_rel(a, b).pvalue
    assert corrected_t_test([0.0, 0.0], test_share=0.4) == 1.0
    with pytest.raises(ParameterError, match="at least two"):
        corrected_t_test([0.1], test_share=0.4)


def test_the_corrected_test_keeps_its_level_on_overlapping_splits():
    # Two equal classifiers scored on ten random fifths of 100 items: the paired t-test rejects far too often.
    rng = np.random.default_rng(0)
    plain, corrected = 0, 0
    for _ in range(400):
        gain = rng.choice([-1.0, 0.0, 1.0], size=100, p=[0.2, 0.6, 0.2])
        d = np.array([gain[rng.permutation(100)[:20]].mean() for _ in range(10)])
        plain += stats.ttest_1samp(d, 0.0).pvalue < 0.05
        corrected += corrected_t_test(d, test_share=0.25) < 0.05
    assert corrected / 400 < 0.1 < plain / 400


def test_holm_is_monotone_bounded_and_never_below_the_raw_value():
    p = np.random.default_rng(0).random(20) ** 3
    adjusted = np.array(holm(p.tolist()))
    assert np.all(adjusted >= p)
    assert np.all(adjusted <= 1)
    assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)
    assert adjusted.min() == pytest.approx(min(1.0, 20 * p.min()))
    assert holm([]) == []


def test_verdicts_follow_the_differences(tmp_path):
    store, rng = Store(tmp_path), np.random.default_rng(0)
    base = 0.6 + 0.01 * rng.random(10)
    gain = {"cornell": 0.2, "wisconsin": 0.0, "texas": -0.2}
    for cell in select(["table9"], protocols=["tuned"], datasets=list(gain), models=["gcn", "fb-gcn-sym"]):
        shift = gain[cell.dataset] if cell.row.label == "FB-GCN-sym" else 0.0
        store.write(cell, fake_cell(cell, base + shift + 0.01 * rng.random(10)), 1.0)
    found = {
        row.dataset: row
        for row in verdicts(store, ["table9"])
        if row.claim.name == "FB-GCN-sym beats GCN" and row.protocol == "tuned"
    }
    assert found["cornell"].verdict == "helps"
    assert found["cornell"].estimate.effect == pytest.approx(20, abs=1)
    assert found["wisconsin"].verdict == "equal"
    assert found["texas"].verdict == "harms"
    assert found["cora"].verdict == "not testable here"
    assert found["cora"].reason == "not measured"
    assert all(row.adjusted >= row.p for row in found.values() if row.p is not None)
    (summary,) = [row for row in summaries(list(found.values())) if row.claim.name == "FB-GCN-sym beats GCN"]
    assert {name: count for name, count in summary.counts.items() if count} == {
        "helps": 1,
        "equal": 1,
        "harms": 1,
        "not testable here": 6,
    }
    assert summary.mean is summary.new is None  # one family of data sets


def test_data_sets_of_one_source_are_one_observation():
    def row(dataset, gain):
        return SimpleNamespace(dataset=dataset, differences=(gain - 0.1, gain, gain + 0.1), test_share=0.4)

    others = [row("cora", 0.0), row("actor", 0.0), row("minesweeper", 0.0)]
    alone, both = (
        over_data_sets([*others, *rows]) for rows in ([row("texas", 4.0)], [row("texas", 8.0), row("cornell", 0.0)])
    )
    for one, other in zip(alone, both, strict=True):  # cornell carries the nodes of texas: their mean counts
        assert vars(one) == pytest.approx(vars(other))
    assert over_data_sets(others[:2]) == (None, None)


def test_what_the_paper_does_not_print_has_no_verdict(tmp_path):
    store = Store(tmp_path)
    for cell in select(["table9"], datasets=["citeseer"], models=["gcn", "fb-gcn-sym"]):
        shift = 0.54 if cell.row.label == "GCN" else 0.0
        store.write(cell, fake_cell(cell, 0.2 + shift + 0.001 * np.arange(10)), 1.0)
    assert {row.verdict for row in verdicts(store, ["table9"]) if row.estimate and row.claim.quantity == "score"} == {
        "not testable as printed",
        "harms",
    }
    printed = [row for row in verdicts(store, ["table9"]) if row.verdict == "not testable as printed"]
    assert {(row.protocol, row.claim.quantity) for row in printed} >= {("paper", "score"), ("tuned", "s_value")}
    assert all(row.reason and row.estimate for row in printed)
    assert all(summary.mean is None for summary in summaries(printed))
    for start in {row.claims for row in UNPRINTED}:
        assert any(claim.name.startswith(start) for claim in CLAIMS), start


def test_a_stale_comparison_has_no_verdict(tmp_path, monkeypatch):
    store = Store(tmp_path)
    for cell in select(["table9"], protocols=["tuned"], datasets=["texas", "cora", "actor", "squirrel"]):
        if cell.row.label in ("GCN", "FB-GCN-sym"):
            shift = 0.1 if cell.row.label == "GCN" else 0.2
            store.write(cell, fake_cell(cell, shift + 0.001 * np.arange(10)), 1.0)

    def of(rows):
        return [row for row in rows if (row.claim.name, row.protocol) == ("FB-GCN-sym beats GCN", "tuned")]

    current = [row for row in of(verdicts(store, ["table9"])) if row.estimate]
    assert {row.verdict for row in current} == {"helps"}
    monkeypatch.setattr(Store, "is_stale", lambda self, cell: cell.dataset == "texas")
    found = [row for row in of(verdicts(store, ["table9"])) if row.estimate]
    assert {row.dataset: row.verdict for row in found if row.stale} == {"texas": "stale"}
    (summary,) = summaries(found)
    assert summary.counts["stale"] == 1
    assert summary.counts["helps"] == len(found) - 1
    stale = [replace(row, verdict="stale", stale=True) for row in found]
    assert summaries(stale)[0].mean is None


def test_an_estimate_follows_model_and_data_set(tmp_path):
    store = Store(tmp_path)
    chosen = select(["table9"], protocols=["tuned"], datasets=["cornell", "texas"], models=["gcn", "mlp"])
    for cell, seconds in zip(chosen[:3], (10.0, 40.0, 10.0), strict=True):
        store.write(cell, fake_cell(cell, [0.5, 0.5]), seconds)
    (left,) = store.estimates(chosen).values()
    assert 20 < left < 80
    assert store.seconds(chosen) == {cell.path: s for cell, s in zip(chosen[:3], (10.0, 40.0, 10.0), strict=True)}


def planted_seconds(cell):
    """A cost that grows with the graph and the depth, three times as fast for a filterbank."""
    row = info(cell.dataset)
    factor = 3.0 if cell.row.model.startswith("fb-") else 1.0
    return cell.plan.trainings * factor * 1e-4 * (row.nodes + row.edges) ** 0.8 * cell.row.options.get("depth", 1)


def test_estimates_carry_over_to_other_sizes_and_depths():
    """What was measured on the smallest sets alone must not be taken for the price of every node."""
    everything = select(["table9", "table4"], protocols=["paper", "tuned"], models=["gcn", "fb-gcn", "gcnii"])
    small = ("cornell", "wisconsin", "texas", "cora")
    measured = [(cell, planted_seconds(cell)) for cell in everything if cell.dataset in small]
    missing = [cell for cell in everything if cell.dataset not in small]
    found = expected_seconds(measured, missing)
    assert len(found) == len(missing) > 20
    assert all(0.5 < found[cell.path] / planted_seconds(cell) < 2.0 for cell in missing)


def test_an_unknown_model_has_no_estimate():
    gcn, gat = (
        select(["table9"], protocols=["paper"], datasets=["texas"], models=[name])[0] for name in ("gcn", "gat")
    )
    assert expected_seconds([(gcn, 1.0)], [gat]) == {gat.path: None}
    assert expected_seconds([], [gcn]) == {gcn.path: None}


@pytest.mark.parametrize(
    ("experiment", "model", "there", "away", "file"),
    [
        ("table6", "gin-0", "MUTAG", "REDDIT-MULTI-5K", "REDDIT-MULTI-5K"),
        ("table2", "geom-gcn-p", "texas", "squirrel", "squirrel_geom_relations"),
    ],
)
def test_cells_whose_data_is_not_at_hand_have_no_estimate(experiment, model, there, away, file):
    cells = select([experiment], protocols=["paper"], datasets=[there, away], models=[model])
    assert [cell.absent_data for cell in cells] == [(), (file,)]
    assert expected_seconds([(cells[0], 10.0)], cells[1:]) == {cells[1].path: None}


def test_under_gins_protocol_one_epoch_counts_for_all_folds(monkeypatch, tmp_path):
    measures, journal = (
        pytest.importorskip("paper.measures"),
        pytest.importorskip("paper.journal"),
    )
    curves = [[0.1, 0.9, 0.5], [0.2, 0.5, 0.8]]
    known = {"scores": {}, "epochs": 3, "best_epoch": 2, "s_value": None, "s_value_probabilities": None, "alphas": []}
    runs = [{**known, "curve": curve} for curve in curves]
    (cell,) = select(["table6"], protocols=["paper"], datasets=["MUTAG"], models=["gin-0"])
    job = SimpleNamespace(runs=lambda values, kept: runs, splits=[], cell=cell)
    monkeypatch.setattr(measures.Job, "of", lambda cell: job)
    monkeypatch.setattr(measures, "choose", lambda job, kept: SimpleNamespace(values={}))
    monkeypatch.setattr(measures, "_described", lambda job, chosen: {})
    facts = measures.measure(cell, journal.Journal(tmp_path / "a.jsonl", {}))
    assert facts["test"] == [0.9, 0.5]
    assert facts["best_epochs"] == [2, 2]
