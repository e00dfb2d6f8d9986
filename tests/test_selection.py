"""A choice on the test nodes beside the choice on validation, from settings that all train on all splits."""

import statistics
from pathlib import Path

import pytest

from gsp_fb._document import to_markdown
from paper.cells import select
from paper.journal import Journal
from paper.selection import selection_table, settings_on_all_splits
from paper.tables import sections
from paper.training import Job
from tests.support.cells import synthetic


@pytest.fixture
def measured(tmp_path):
    cell = select(["selection"], datasets=["texas"], models=["FB-GCN-lazy"], quick=True)[0]
    data = synthetic("texas")
    job = Job(cell, data, data.splits[:3])
    return cell, job, settings_on_all_splits(job, Journal(tmp_path / "steps.jsonl", {}))


def test_both_choices_are_the_best_of_all_settings(measured):
    _, job, found = measured
    assert len(found["trials"]) == found["n_trials"] == 3
    assert all(len(trial[part]) == 3 for trial in found["trials"] for part in ("validation", "test"))
    for chosen, part in ((found, "validation"), (found["on_test"], "test")):
        assert statistics.fmean(chosen[part]) == max(statistics.fmean(trial[part]) for trial in found["trials"])
    assert found["mean"] <= statistics.fmean(found["on_test"]["test"])
    # The scores are those of a training by itself.
    one = job.train(found["chosen"], job.splits[1], job.seeds[1]).scores
    assert one["test"] == pytest.approx(found["test"][1])
    assert one["val"] == pytest.approx(found["validation"][1])


def test_the_table_states_what_the_second_choice_gains():
    facts = {"n_trials": 64, "mean": 0.8, "std": 0.05, "marks": "", "on_test": {"test": [0.84, 0.86]}}
    table = selection_table({("texas", "FB-GCN-sym"): facts}, {("texas", "FB-GCN-sym"): "84.6"})
    assert "| texas | FB-GCN-sym | 64 | 80.0 ± 5.0 | 85.0 ± 1.4 | 84.6 | +5.0 of +4.6 |" in to_markdown([table], Path())


def test_the_page_shows_stored_cells(measured, tmp_path):
    from paper.catalogue import EXPERIMENTS
    from paper.store import Store

    _cell, _, found = measured
    store = Store(tmp_path / "results")
    store.write(select(["selection"], datasets=["texas"], models=["FB-GCN-lazy"])[0], found, 1.0)
    text = to_markdown(sections(EXPERIMENTS["selection"], store, {}), tmp_path)
    assert "chosen on test" in text
    assert "| texas | FB-GCN-lazy | 3 |" in text
