"""`python -m paper` with real processes on a synthetic data set: killed, shared, rehearsed, reported."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paper import training
from paper.__main__ import main
from tests.support.cells import synthetic

pytest.importorskip("torch")
pytest.importorskip("optuna")


# The command in a process of its own, on the synthetic data, each step slow enough to be killed in.
DRIVER = """
import importlib.util, sys, time
from gsp_fb import _journal as journal
from paper.__main__ import main
from paper import training

here = importlib.util.spec_from_file_location("here", sys.argv[1])
module = importlib.util.module_from_spec(here)
here.loader.exec_module(module)
training.load = module.synthetic
delay, append = float(sys.argv[2]), journal.Journal.append

def slow(self, entries):
    time.sleep(delay)
    append(self, entries)

journal.Journal.append = slow
sys.exit(main(sys.argv[3:]))
"""
ROWS = ("table9", "--quick", "--protocol", "tuned", "--datasets", "texas", "--models", "gcn", "fb-gcn")
ONE = ("table9", "--quick", "--protocol", "tuned", "--datasets", "texas", "--models", "FB-GCN-lazy")


def start(folder: Path, *args: str, delay: float = 0.0) -> subprocess.Popen[str]:
    folder.mkdir(exist_ok=True)
    env = {**os.environ, "GSP_FB_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    line = [
        sys.executable,
        "-c",
        DRIVER,
        __file__,
        str(delay),
        *args,
        "--results",
        str(folder / "results"),
    ]
    return subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder: Path, *args: str) -> str:
    process = start(folder, *args)
    _, log = process.communicate()
    assert process.returncode == 0, log
    return log


def stored(folder: Path) -> dict[str, dict[str, object]]:
    found = {}
    for path in sorted((folder / "results").rglob("*.json")):
        facts = json.loads(path.read_text())
        found[path.name] = {key: value for key, value in facts.items() if key not in ("seconds", "date")}
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The cells of Texas under one protocol, measured without a break."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GSP_FB_CACHE", str(folder / "cache"))
        patch.setattr(training, "load", synthetic)
        assert main([*ROWS, "--results", str(folder / "results")]) == 0
    return folder


def test_a_run_killed_and_resumed_gives_the_same_json(whole, tmp_path):
    killed = start(tmp_path, *ONE, delay=0.5)
    journals = tmp_path / "cache" / "reproduce"
    # Header, three trials and the scores of the first rung.
    while not any(len(path.read_text().splitlines()) >= 7 for path in journals.glob("*.search/journal.jsonl")):
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not stored(tmp_path)
    (kept,) = journals.glob("*.search/journal.jsonl")
    begun = kept.read_text()
    spent = sum(entry["seconds"] for entry in lines(begun) if entry["op"] == "scores")

    run(tmp_path, *ONE)
    (name,) = stored(tmp_path)
    assert stored(tmp_path)[name] == stored(whole)[name]
    # What had been done was not done again: its time still counts. With the result stored, the journals go.
    (result,) = (tmp_path / "results").rglob("*.json")
    assert json.loads(result.read_text())["seconds"] >= round(spent, 2)
    assert not list(journals.glob("*.search")) + list(journals.glob("*.jsonl"))


def lines(text):
    return [json.loads(line.partition(" ")[2]) for line in text.splitlines()]


def test_two_processes_share_the_work_and_nothing_is_done_twice(whole, tmp_path):
    pair = [start(tmp_path, *ROWS, delay=0.1) for _ in range(2)]
    log = "".join(process.communicate()[1] for process in pair)
    done = sorted(line.split()[1] for line in log.splitlines() if line.startswith("done"))
    assert done == sorted(f"table9/tuned/{name.removesuffix('.json')}" for name in stored(whole))
    assert stored(tmp_path) == stored(whole)


def test_a_stored_cell_is_never_rerun(whole, capsys):
    before = {path: path.read_bytes() for path in (whole / "results").rglob("*.json")}
    assert main([*ROWS, "--results", str(whole / "results")]) == 0
    assert capsys.readouterr().err == ""
    assert {path: path.read_bytes() for path in (whole / "results").rglob("*.json")} == before


def test_a_budget_pauses_and_leaves_nothing_half_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(training, "load", synthetic)
    assert main([*ONE, "--budget", "0", "--results", str(tmp_path / "results")]) == 0
    assert capsys.readouterr().err.startswith("paused")
    assert not stored(tmp_path)


def test_a_cell_says_how_it_was_made(whole):
    facts = stored(whole)["texas--FB-GCN-lazy.json"]
    assert facts["command"] == (
        "python -m paper table9 --protocol tuned --datasets texas --models 'FB-GCN-lazy' --quick"
    )
    assert facts["protocol"]["quick"]
    assert facts["protocol"]["rungs"]
    assert len(facts["test"]) == len(facts["validation"]) == len(facts["seeds"]) == len(facts["splits"]) == 3
    assert facts["mean"] == pytest.approx(sum(facts["test"]) / 3)
    assert facts["choice"]["n_trials"] == facts["n_trials"] == 3
    assert facts["threads"] == 1
    assert facts["processor"]
    assert facts["commit"] is None or len(facts["commit"]) >= 40
    assert facts["options"]["family"] == "lazy_rw"
    assert {"gsp_fb", "python", "torch", "numpy", "optuna"} <= set(facts["versions"])


def test_rehearsals_and_results_never_mix(whole, capsys):
    assert main(["--list", "--results", str(whole / "results")]) == 2
    assert "holds rehearsals; give another --results" in capsys.readouterr().err


def test_the_list_tells_done_from_missing(whole, capsys):
    line = ["table9", "--quick", "--protocol", "tuned", "--datasets", "texas", "--list", "--json"]
    assert main([*line, "--results", str(whole / "results")]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert (listed["done"], listed["missing"]) == (3, 5)
    states = {row["cell"].rpartition("--")[2]: row for row in listed["cells"]}
    assert states["FB-GCN-lazy"]["state"] == "done"
    assert states["MLP"]["state"] == "missing"
    assert states["MLP"]["core-minutes"] is None  # no stored cell gives the cost of this model
    assert states["FB-GCN-lazy"]["core-minutes"] is not None


def test_the_report_is_written_from_stored_results(whole, tmp_path):
    page = tmp_path / "page.md"
    line = ["table9", "--quick", "--report", "--results", str(whole / "results")]
    assert main([*line, "--output", str(page)]) == 0
    text, html = page.read_text(encoding="utf-8"), page.with_suffix(".html").read_text(encoding="utf-8")
    facts = stored(whole)["texas--FB-GCN-lazy.json"]
    ours = 100 * facts["mean"]
    cell = f"{ours:.1f} ± {100 * facts['std']:.1f} (86.5, {ours - 86.49:+.1f})"
    for page_text in (text, html):
        assert cell in page_text
        assert "A rehearsal" in page_text
    assert "| FB-GCN-lazy beats GCN | Two channels are better than one | tuned |" in text
    assert html.startswith("<!doctype html>")
    assert main([*line, "--output", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == text


def test_wrong_names_are_told_with_what_exists(capsys):
    assert main(["table99"]) == 2
    assert "did you mean 'table9'" in capsys.readouterr().err
    assert main(["table9", "--models", "fb-gnc"]) == 2
    assert "did you mean 'fb-gcn'" in capsys.readouterr().err
