"""The command line as a user meets it: tables of 80 columns, JSON, exit codes, closed pipes."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb._document import Table
from gsp_fb.cli import COMMANDS, main

TRAINED = "no graph, one channel, two: same splits and seeds"
ENVIRONMENT = {**os.environ, "GSP_FB_OFFLINE": "1", "COLUMNS": "80"}


@pytest.fixture
def ring_file(tmp_path):
    path = tmp_path / "ring.npz"
    gf.write_graph(gf.datasets.ring(12), path)
    np.save(tmp_path / "x.npy", np.cos(2 * np.pi * np.arange(12) / 12))
    np.savetxt(tmp_path / "y.csv", np.arange(12) // 6, fmt="%d", delimiter=",")
    return path


def out(capsys, *argv, code=0):
    assert main([str(arg) for arg in argv]) == code
    return capsys.readouterr().out


def shell(*argv, **options):
    command = [sys.executable, "-m", "gsp_fb", *map(str, argv)]
    return subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False, **options)


def test_info(ring_file, capsys):
    facts = json.loads(out(capsys, "info", ring_file, "--json", "--labels", ring_file.with_name("y.csv")))
    assert (facts["nodes"], facts["edges"], facts["components"]) == (12, 12, 1)
    assert facts["edge homophily"] == pytest.approx(10 / 12)


def test_energy_of_a_known_signal(ring_file, capsys):
    rows = json.loads(out(capsys, "energy", ring_file, "--signal", ring_file.with_name("x.npy"), "--json"))["energies"]
    by_family = {row["family"]: row["S"] for row in rows}
    assert by_family["sym"] == pytest.approx(1 - np.cos(2 * np.pi / 12))
    assert by_family["lazy_sym"] == pytest.approx((1 - np.cos(2 * np.pi / 12)) / 2)


def test_energy_shows_s_beside_its_expectation(ring_file, capsys):
    found = json.loads(out(capsys, "energy", ring_file, "--signal", ring_file.with_name("x.npy"), "--json"))
    graph, x = gf.read_graph(ring_file), np.load(ring_file.with_name("x.npy"))
    for row in found["energies"]:
        op = gf.operator(graph, row["family"], channel="high")
        assert row["E[S]"] == pytest.approx(gf.expected_s_value(op, x), rel=1e-12)


def test_spectrum_of_the_ring(ring_file, capsys):
    rows = json.loads(out(capsys, "spectrum", ring_file, "-k", 3, "--json"))["frequencies"]
    assert [row["frequency"] for row in rows] == pytest.approx([0.0, *[1 - np.cos(2 * np.pi / 12)] * 2])
    assert len(json.loads(out(capsys, "spectrum", ring_file, "--all", "--json"))["frequencies"]) == 12


def test_verify_and_eigengap(ring_file, capsys):
    claims = json.loads(out(capsys, "verify", ring_file, "--json"))["claims"]
    assert len(claims) > 10
    assert all(row["holds"] for row in claims if row["applies"])
    gaps = json.loads(out(capsys, "eigengap", ring_file, "--json"))["eigengaps"]
    assert {row["family"] for row in gaps} == set(gf.variants.VARIANTS)


# MatrixMarket has no place for the coordinates of the ring, and a note states it.
@pytest.mark.filterwarnings("default:.*cannot store coordinates:gsp_fb.errors.GspWarning")
def test_convert_round_trip(ring_file, tmp_path, capsys):
    out(capsys, "convert", ring_file, tmp_path / "ring.mtx")
    out(capsys, "convert", tmp_path / "ring.mtx", tmp_path / "again.npz")
    assert gf.read_graph(tmp_path / "again.npz").sha256 == gf.read_graph(ring_file).sha256


def test_datasets_lists_the_registry(capsys):
    rows = json.loads(out(capsys, "datasets", "--json"))["datasets"]
    assert {row["name"] for row in rows} == set(gf.datasets.REGISTRY)


def test_demo_needs_no_network(capsys):
    result = json.loads(out(capsys, "demo", "--json"))
    assert result["nodes"] == 34
    blocks = result["two block models"]
    labels = {row["graph"]: row["S labels"] for row in blocks if row["family"] == "sym"}
    assert labels["homophilic"] < 0.5 < labels["heterophilic"]
    reached = {(row["graph"], row["model"]): row["test accuracy"] for row in result[TRAINED]}
    assert reached["heterophilic", "fb-gcn"] > reached["heterophilic", "gcn"] + 0.1
    assert reached["homophilic", "fb-gcn"] > reached["homophilic", "gcn"] - 0.05


@pytest.mark.parametrize(
    "command", [c.name for c in COMMANDS if c.name in ("info", "energy", "spectrum", "verify", "eigengap")]
)
def test_tables_fit_80_columns(command, ring_file, capsys):
    text = out(capsys, command, ring_file, *(["--signal", ring_file.with_name("x.npy")] * (command == "energy")))
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", [None, *(c.name for c in COMMANDS)])
def test_help_fits_80_columns_and_every_option_has_a_sentence(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main([*filter(None, [command]), "--help"])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    # Each option's text begins with a capital and ends with a full stop; argparse writes -h itself.
    options = re.split(r"\n  (?=-)", text.partition("\noptions:\n")[2])[1:]
    texts = [" ".join(option.split()) for option in options if not option.startswith(("-h", "--version"))]
    assert [text for text in texts if not re.search(r" [A-Z].*\.( [a-z ]+:)?$", text)] == []


def test_wide_tables_are_cut_not_wrapped():
    lines = Table.from_records([{"name": "x" * 100, "value": 1.0}]).text(width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" in lines[1]


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["nonsense"], 2, "invalid choice"),
        (["info", "texsa"], 2, "did you mean 'texas'"),
        (["info", "absent.npz"], 4, "absent.npz"),
        (["spectrum", "RING", "--family", "sym", "--gamma", "2"], 2, "has no gamma"),
        (["energy", "RING"], 2, "--signal"),
        (["energy"], 2, "source"),
        (["energy", "RING", "--signal", "BAD"], 3, "rows"),
        (["info", "TORN"], 3, "torn.npz"),
        (["info", "roman_empire"], 4, "roman_empire"),
    ],
)
def test_exit_codes(argv, code, message, ring_file, tmp_path):
    (tmp_path / "torn.npz").write_bytes(ring_file.read_bytes()[:100])
    np.save(tmp_path / "bad.npy", np.zeros(5))
    places = {"RING": ring_file, "BAD": tmp_path / "bad.npy", "TORN": tmp_path / "torn.npz"}
    run = shell(*(places.get(arg, arg) for arg in argv))
    assert run.returncode == code, run.stderr
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_fault_104_closed_stdout_and_no_terminal(ring_file):
    command = f"{sys.executable} -m gsp_fb spectrum {ring_file} --all | head -1"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert run.stderr == ""
    assert run.stdout.count("\n") == 1
    plain = shell("datasets", "--json")
    assert plain.stderr == ""
    json.loads(plain.stdout)
    assert "\x1b" not in shell("datasets").stdout


WAITS = """
import sys, time
from gsp_fb.cli import analyse, main
def read_source(args):
    print("reading", flush=True)
    time.sleep(600)
analyse.read_source = read_source
sys.exit(main(["info", "ring.npz"]))
"""


def test_interrupt_exits_130():
    command = [sys.executable, "-c", WAITS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    assert process.stdout.readline() == "reading\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
