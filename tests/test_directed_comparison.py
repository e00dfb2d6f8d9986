"""The comparison of directed, magnetic and undirected networks: rows that differ in the graph, equal budgets."""

import numpy as np
import pytest

from gsp_fb import Graph
from paper import training
from paper.__main__ import main
from paper.catalogue import EXPERIMENTS
from paper.cells import cells
from paper.choice import _starts
from paper.claims import CLAIMS
from paper.directed import CHARGES, FORMS
from paper.store import Store
from paper.training import Job
from paper.verdicts import verdicts
from tests.support.cells import fake_cell, synthetic

pytest.importorskip("gsp_fb.nn")
pytest.importorskip("optuna")
CELLS = [cell for cell in cells(EXPERIMENTS["directed"], "tuned") if cell.dataset == "texas"]


def test_rows_differ_in_the_graph_alone():
    assert len(CELLS) == 2 * len(FORMS)
    for channels in (("low",), ("low", "high")):
        rows = [cell.row for cell in CELLS if cell.row.options["channels"] == channels]
        assert [row.directed for row in rows] == [False, True, True]
        assert all(row.options == rows[0].options for row in rows)


def test_every_row_has_the_same_settings_and_the_charges_take_turns():
    lists = [_starts(Job(cell, None, ()), dict(cell.space)) for cell in CELLS]
    plain = [[{k: v for k, v in values.items() if k != "q"} for values in drawn] for drawn in lists]
    assert all(drawn == plain[0] for drawn in plain)
    assert len(plain[0]) == CELLS[0].plan.rungs[0].candidates == 64
    for cell, drawn in zip(CELLS, lists, strict=True):
        turns = [values.get("q") for values in drawn]
        assert [turns.count(q) for q in CHARGES] == ([32, 32] if "magnetic" in cell.row.label else [0, 0])


def arcs_of(name, *, directed=False, **options):
    """A ring of arcs, or the same ring without their direction."""
    data = synthetic(name)
    if directed:
        data.graph = Graph.from_edges([(k, (k + 1) % 60) for k in range(60)], directed=True)
    return data


def test_the_command_trains_every_row_and_stores_how(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "load", arcs_of)
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path / "cache"))
    results = tmp_path / "results"
    assert main(["directed", "--quick", "--datasets", "texas", "--results", str(results), "--json"]) == 0
    store = Store(results, quick=True)
    quick = cells(EXPERIMENTS["directed"], "tuned", quick=True)
    stored = {cell.row.label: facts for cell in quick if (facts := store.read(cell))}
    assert set(stored) == {cell.row.label for cell in CELLS}
    for label, facts in stored.items():
        assert (facts["options"]["q"] in CHARGES) == label.startswith("magnetic")
        assert {"commit", "processor", "threads", "versions", "command", "n_trials"} <= set(facts)
    graphs = {label: facts["data"]["graph"] for label, facts in stored.items()}
    assert graphs["magnetic-low"] == graphs["out-arcs-low"] != graphs["undirected-low"]


def test_verdicts_compare_across_graphs_of_equal_splits(tmp_path):
    store, rng = Store(tmp_path), np.random.default_rng(0)
    for cell in CELLS:
        gain = 0.1 if "magnetic" in cell.row.label else 0.0
        facts = fake_cell(cell, 0.6 + gain + 0.001 * rng.standard_normal(10))
        facts["data"]["graph"] = cell.row.label
        store.write(cell, facts, seconds=1.0)
    found = {(v.claim.name, v.better): v.verdict for v in verdicts(store, ["directed"]) if v.dataset == "texas"}
    assert found["magnetic beats undirected", "magnetic-low+high"] == "helps"
    assert found["out-arcs beats undirected", "out-arcs-low"] == "equal"
    assert all(claim.beyond for claim in CLAIMS if claim.experiment == "directed")
