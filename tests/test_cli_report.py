"""``gsp-fb report`` as a user runs it: files, stdout, exit codes."""

import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.cli import _parser, main


@pytest.fixture
def ring(tmp_path):
    gf.write_graph(gf.datasets.ring(12), tmp_path / "ring.npz")
    np.savetxt(tmp_path / "y.txt", np.arange(12) % 2, fmt="%d")
    return tmp_path / "ring.npz"


def run(capsys, *argv, code=0):
    assert main([*map(str, argv)]) == code
    return capsys.readouterr()


def test_a_page_is_written_and_named(ring, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run(capsys, "report", ring, "--labels", tmp_path / "y.txt", "-o", "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "report.html" in shown.out
    assert shown.err == ""
    assert "<h1>ring.npz</h1>" in text
    assert "0% of the edges join nodes of one class" in text


@pytest.fixture
def towns(tmp_path):
    """Return the edges and the nodes of a ladder of towns in two regions."""
    edges = [(f"t{i}", f"t{j}") for i in range(20) for j in (i + 1, i + 2) if j < 20]
    (tmp_path / "roads.csv").write_text("from,to\n" + "\n".join(map(",".join, edges)) + "\n", encoding="utf-8")
    rows = [f"t{i},{i},{i % 2},{20 - i}.5,{'south' if i < 10 else 'north'}" for i in range(20)]
    (tmp_path / "towns.csv").write_text("name,x,y,heat,region\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("split", "read"), [([], "a random half of the nodes"), (["--split", "fold"], "column fold")])
def test_the_report_advises_what_the_command_advises(towns, capsys, monkeypatch, split, read):
    monkeypatch.chdir(towns)
    rows = [line.split(",") for line in (towns / "towns.csv").read_text(encoding="utf-8").splitlines()]
    folds = ["fold", *(("train", "train", "val", "test")[k % 4] for k in range(20))]
    lines = [",".join([*row, fold]) for row, fold in zip(rows, folds, strict=True)]
    (towns / "towns.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    data = ["roads.csv", "--nodes", "towns.csv", "--label", "region", *split]
    advised = json.loads(run(capsys, "advise", *data, "--json").out)
    shown = json.loads(run(capsys, "report", *data, "--json").out)["advice"]
    assert read in shown["nodes"]
    assert f"({advised['evidence']['n_train']} labelled nodes)" in shown["nodes"]
    assert [shown["channels"], shown["family"]] == [advised["channels"], advised["family"]]
    assert shown["text"] == advised["text"]


def test_names_of_columns_and_classes_reach_the_page_and_the_command(towns, capsys, monkeypatch):
    monkeypatch.chdir(towns)
    run(capsys, "report", "roads.csv", "--nodes", "towns.csv", "--label", "region", "-o", "roads.html")
    page = (towns / "roads.html").read_text(encoding="utf-8")
    for title in ("label north", "label south", "heat", "t19"):
        assert f'"{title}"' in page
    shown = json.loads(run(capsys, "report", "roads.csv", "--nodes", "towns.csv", "--label", "region", "--json").out)
    assert [row["signal"] for row in shown["columns"]] == ["x", "y", "heat"]
    words = shlex.split(shown["advice"]["source"])
    assert words == ["roads.csv", "--nodes", "towns.csv", "--label", "region"]
    _parser().parse_args(["train", "gcn", *words])


def test_files_that_training_cannot_read_are_not_in_the_command(tmp_path, capsys):
    data = gf.datasets.contextual_sbm(60, n_features=2, rng=0)
    gf.write_graph(data.graph, tmp_path / "blocks.npz")
    np.savetxt(tmp_path / "y.txt", data.y, fmt="%d")
    np.savetxt(tmp_path / "x.txt", data.x)
    files = (tmp_path / "blocks.npz", "--signal", tmp_path / "x.txt", "--labels", tmp_path / "y.txt")
    assert json.loads(run(capsys, "report", *files, "--json").out)["advice"]["source"] == "DATA"


def test_without_a_file_markdown_goes_to_stdout(ring, capsys):
    assert run(capsys, "report", ring).out.startswith("# ring.npz\n")


def test_json_is_one_object_and_the_file_is_written_too(ring, tmp_path, capsys):
    shown = run(capsys, "report", ring, "--json", "-o", tmp_path / "a.html", "--family", "lazy_rw", "--gamma", "3")
    facts = json.loads(shown.out)
    assert (facts["family"], facts["gamma"], facts["graph"]["nodes"]) == ("lazy_rw", 3.0, 12)
    assert (tmp_path / "a.html").exists()


def test_markdown_wins_over_the_ending(ring, tmp_path, capsys):
    run(capsys, "report", ring, "--markdown", "-o", tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8").startswith("# ring.npz")


def test_an_existing_file_is_replaced_whole(ring, tmp_path, capsys):
    (tmp_path / "a.md").write_text("what was here before")
    run(capsys, "report", ring, "-o", tmp_path / "a.md")
    assert "what was here before" not in (tmp_path / "a.md").read_text(encoding="utf-8")


def test_a_directed_file(ring, tmp_path, capsys):
    assert "symmetrise it" in run(capsys, "report", ring, "--directed").out


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["RING", "-o", "a.pdf"], 2, "ends in none of"),
        (["RING", "--gamma", "-1"], 2, "gamma"),
        (["RING", "--family", "gcn"], 2, "unknown family"),
        (["absent.npz"], 4, "absent.npz"),
        (["RING", "-o", "absent/a.html"], 4, "absent"),
        (["RING", "--runs", "EMPTY"], 3, "holds no run"),
        (["RING", "--labels", "SHORT"], 3, "12 nodes"),
    ],
)
def test_exit_codes(argv, code, message, ring, tmp_path):
    np.savetxt(tmp_path / "short.txt", [0, 1])
    (tmp_path / "empty").mkdir()
    places = {"RING": ring, "EMPTY": tmp_path / "empty", "SHORT": tmp_path / "short.txt"}
    command = [sys.executable, "-m", "gsp_fb", "report", *(str(places.get(arg, arg)) for arg in argv)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not list(tmp_path.glob("a.*"))
