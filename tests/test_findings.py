"""The first screen and the note on the control, from cells whose gains are known."""

import numpy as np
import pytest

from gsp_fb.errors import ParameterError
from paper.cells import select
from paper.contrasts import control_cells, control_results
from paper.findings import write_findings
from paper.headline import forest
from paper.report import write_report
from paper.store import Store
from tests.support.cells import fake_cell

SETS = ("texas", "cornell", "actor", "cora", "minesweeper", "chameleon")
# Score of an arm in percent, whatever the configuration.
IDENTITY_SUFFICES = {"low": 70, "high": 60, "identity": 75, "low+high": 80, "low+identity": 80, "low+high+identity": 80}


def planted(folder, scores, *, datasets=SETS, seeds=False):
    """Store the core of the control with these scores, up to a little noise."""
    store, rng = Store(folder), np.random.default_rng(0)
    wanted = ["control", *(["control-seeds"] if seeds else [])]
    for cell in select(wanted, protocols=["tuned"]):
        if cell.dataset in datasets:
            arm = cell.row.label.partition("-")[0]
            facts = fake_cell(cell, scores[arm] / 100 + 0.002 * rng.standard_normal(10))
            choice = {"values": {"lr": 0.01 * (1 + cell.row.seed)}, "n_trials": 64}
            limit = {"epochs": [2000, *[300] * 9], "validation": facts["test"], "choice": choice}
            store.write(cell, {**facts, **limit}, 60.0)
    return store


def test_contrasts_recover_what_was_planted(tmp_path):
    found = {row.contrast.name: row for row in control_results(planted(tmp_path, IDENTITY_SUFFICES))}
    expected = {"high or identity": 0, "high beside low": 10, "identity beside low": 10, "high beside both": 0}
    for name, gain in expected.items():
        row = found[name]
        assert [round(one.estimate.effect) for one in row.gains] == [gain] * len(SETS)
        assert row.mean.low < gain < row.mean.high
        assert all(len(one.pairs) == 2 for one in row.gains)  # with and without inner ReLU
    assert {one.estimate.verdict for one in found["high or identity"].gains} == {"equal"}
    assert found["high or identity"].new.equal > 0.5
    assert len(control_cells()) == 19 * 68


@pytest.mark.parametrize(
    ("high", "sentence"),
    [(80, "is what an identity path gains"), (92, "adds more than a point"), (70, "serves better")],
)
def test_the_note_concludes_what_the_numbers_show(tmp_path, high, sentence):
    store = planted(tmp_path, {**IDENTITY_SUFFICES, "low+high": high}, seeds=True)
    text = write_findings(store, tmp_path / "findings.md").read_text(encoding="utf-8")
    assert sentence in text
    assert f"Over {len(SETS)} data sets" in text
    assert "| texas | 9 | 64 on 3 splits, then 16 on 10 splits | 2000 | 9 of 90 |" in text
    assert "| texas | low+high-scalar-relu-sym-2 | 3 | 3 |" in text
    assert f"rests on {len(SETS)} of the 19 data sets" in text
    assert "not yet on wisconsin, " in text
    assert "data set | low | high | identity | low+high | low+high, ReLU | low+identity |" in text
    assert "| texas | 70.0 ± 0.2 |" in text
    assert "lazy filter" not in text  # nothing of it is stored
    assert "[glossary](glossary.md)" in text
    assert (tmp_path / "findings" / "forest.png").stat().st_size > 1000


def test_the_note_does_not_conclude_from_data_sets_that_disagree(tmp_path):
    store = planted(tmp_path, IDENTITY_SUFFICES)
    for cell in select(["control"], protocols=["tuned"], datasets=["texas", "cora"]):
        if cell.row.label.startswith("low+high-"):
            facts = fake_cell(cell, np.full(10, {"texas": 0.7, "cora": 0.9}[cell.dataset]))
            store.write(cell, {**store.read(cell), **facts}, 60.0)
    text = write_findings(store, tmp_path / "findings.md").read_text(encoding="utf-8")
    assert "is undecided: none of the three cases" in text


def test_the_note_states_means_that_agree_where_a_new_data_set_is_undecided(tmp_path):
    store = planted(tmp_path, IDENTITY_SUFFICES)
    signs = dict(zip(SETS, (1, 1, -1, 1, -1, -1), strict=True))  # texas and cornell are one family
    for cell in select(["control"], protocols=["tuned"], datasets=SETS):
        if cell.row.label.startswith("low+high-"):
            facts = fake_cell(cell, np.full(10, 0.8 + 0.007 * signs[cell.dataset]))
            store.write(cell, {**store.read(cell), **facts}, 60.0)
    text = write_findings(store, tmp_path / "findings.md").read_text(encoding="utf-8")
    assert "On average a high channel and an identity path gain the same, to within " in text


def test_a_page_opens_with_a_plot_and_three_sentences(tmp_path):
    store = planted(tmp_path / "results", IDENTITY_SUFFICES)
    written = write_report(store, tmp_path / "page.md", experiments=["control"])
    assert tmp_path / "findings.md" in written
    lines = [line for line in (tmp_path / "page.md").read_text(encoding="utf-8").splitlines() if line]
    assert lines[0] == "# Reproducibility"
    assert lines[1].startswith("![low + high minus low + identity")
    assert lines[5] == "## How to read it"
    assert not any("stale:" in line for line in lines)
    assert any(line.startswith("| texas | 70.") and line.count("‡") == 9 for line in lines)


def test_there_is_no_note_without_cells(tmp_path):
    store = planted(tmp_path / "results", IDENTITY_SUFFICES, datasets=("texas", "cornell"))
    with pytest.raises(ParameterError, match="no contrast of the control on three families"):
        write_findings(store, tmp_path / "findings.md")
    write_report(store, tmp_path / "page.md", experiments=["control"])
    assert not (tmp_path / "findings.md").exists()
    assert forest([], [], "nothing", tmp_path / "a.png") == []
