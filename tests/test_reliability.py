"""The pages of figures are what their generators make of the stored figures, and the floors of coverage bite."""

import configparser
import json
from pathlib import Path

import pytest

from tools.chaos import report as chaos_report
from tools.fuzz.__main__ import RESULTS as FUZZ_RESULTS
from tools.fuzz.readers import READERS
from tools.fuzz.report import markdown as fuzz_page
from tools.fuzz.run import FIGURES as FUZZ_FIGURES
from tools.fuzz.run import circumstances, recorded
from tools.reliability import floors, laws, mutation, page, reasons

ROOT = Path(__file__).parents[1]


def test_the_page_is_what_the_stored_figures_give():
    assert page.PAGE.read_text("utf-8") == page.markdown()


def test_the_results_of_fuzzing_and_chaos_are_too():
    figures = json.loads(chaos_report.FIGURES.read_text("utf-8"))
    assert (ROOT / "tools" / "chaos" / "RESULTS.md").read_text("utf-8") == chaos_report.markdown(figures)
    assert FUZZ_RESULTS.read_text("utf-8") == fuzz_page(recorded(FUZZ_FIGURES), *circumstances(FUZZ_FIGURES))


def test_every_reader_was_fuzzed_and_nothing_is_open():
    rows = recorded(FUZZ_FIGURES)
    assert {row.reader for row in rows} == set(READERS)
    assert [row.reader for row in rows if not row.clean] == []


def test_a_thousand_kills_and_nothing_lost():
    rows = json.loads(chaos_report.FIGURES.read_text("utf-8"))["rows"]
    assert sum(row["kills"] for row in rows["kill -9"]) >= 1000
    assert min(row["kills"] for kind in rows.values() for row in kind) > 0
    assert sum(row["lost"] + row["stale"] for kind in rows.values() for row in kind) == 0


def test_nine_mutants_in_ten_were_noticed_and_every_survivor_has_a_reason():
    figures = json.loads(mutation.FIGURES.read_text("utf-8"))
    noticed, checked = mutation.score(figures["modules"].values())
    assert noticed / checked >= 0.9
    assert [row["name"] for row in figures["survivors"] if reasons.reason(row) == reasons.MISSING] == []


def test_the_core_that_is_mutated_is_the_core_that_is_covered():
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    assert settings["mutmut"]["only_mutate"].split() == floors.CORE


def measured(percent, **files):
    """Return a report as coverage writes it, with the missing lines and branches of some files."""
    whole = {pattern.replace("*", "dirichlet"): ([], []) for pattern in floors.CORE}
    rows = {
        path: {"missing_lines": lines, "missing_branches": branches, "summary": {"percent_covered": 98.0}}
        for path, (lines, branches) in (whole | files).items()
    }
    return {"totals": {"percent_covered": percent}, "files": rows}


def test_floors_are_silent_where_they_are_reached():
    assert floors.below(measured(95.0)) == []
    assert floors.below(measured(99.0, **{"gsp_fb/cli/demo.py": ([1, 2], [])})) == []


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (measured(94.99), "all of gsp_fb: 94.99 % is below 95 %"),
        (measured(99.0, **{"gsp_fb/graph.py": ([7], [])}), "gsp_fb/graph.py: 98.00 % is below 100 %: line 7"),
        (
            measured(99.0, **{"gsp_fb/energy/signals.py": ([], [[7, 9]])}),
            "gsp_fb/energy/signals.py: 98.00 % is below 100 %: branch 7 -> 9",
        ),
    ],
)
def test_floors_say_what_is_below_them(report, text):
    assert floors.below(report) == [text]


def test_a_file_of_the_core_that_was_not_measured_is_below_its_floor():
    report = measured(99.0)
    del report["files"]["gsp_fb/_atomic.py"]
    assert floors.below(report) == ["gsp_fb/_atomic.py: not measured"]


@pytest.mark.parametrize(("noticed", "checked", "all_mutants"), [(90, 100, 1000), (0, 10, 50), (10, 10, 50)])
def test_the_interval_of_a_sample_holds_its_score_and_shrinks_with_it(noticed, checked, all_mutants):
    low, high = mutation.interval(noticed, checked, all_mutants)
    assert 0 <= low <= noticed / checked + 1e-12
    assert noticed / checked - 1e-12 <= high <= 1
    wider = mutation.interval(noticed, checked, 10**9)
    assert high - low < wider[1] - wider[0]
    assert mutation.interval(noticed, checked, checked) == (noticed / checked, noticed / checked)


@pytest.mark.parametrize(
    "output",
    ["20000 passing, 0 failing, and 19 invalid test cases", "20000 passing examples, 0 failing examples, 3 invalid"],
)
def test_what_hypothesis_prints_of_a_law_is_read(output, monkeypatch):
    monkeypatch.setattr(laws, "_pytest", lambda *arguments, examples: f"  - during generate phase:\n    - {output}\n")
    row = laws.check("tests/laws/test_a.py::test_b", 1)
    assert (row["law"], row["examples"], row["failures"]) == ("tests/laws/test_a.py::test_b", 20_000, 0)
    assert "output" not in row


def test_a_law_that_says_nothing_has_failed(monkeypatch):
    monkeypatch.setattr(laws, "_pytest", lambda *arguments, examples: "ERROR: it did not start")
    row = laws.check("tests/laws/test_a.py::test_b", 1)
    assert (row["examples"], row["failures"], row["output"]) == (0, 1, "ERROR: it did not start")


def test_the_parameters_of_a_law_share_its_examples(monkeypatch):
    monkeypatch.setattr(laws, "_pytest", lambda *arguments, examples: f"- {examples} passing, 0 failing\n" * 3)
    assert laws.check("tests/laws/test_a.py::test_b", 3)["examples"] == 20_001


def test_the_last_run_of_a_law_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(laws, "FIGURES", tmp_path / "laws.jsonl")
    assert laws.recorded() == []
    rows = [{"law": "a", "failures": 1}, {"law": "b", "failures": 0}, {"law": "a", "failures": 0}]
    laws.FIGURES.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert laws.recorded() == [{"law": "a", "failures": 0}, {"law": "b", "failures": 0}]
