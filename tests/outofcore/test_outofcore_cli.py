"""Stored graphs on the command line: converted to, measured, and converted back."""

import json

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.cli import main


@pytest.fixture
def ring(tmp_path):
    gf.write_graph(gf.datasets.ring(12), tmp_path / "ring.csv")
    np.save(tmp_path / "x.npy", np.cos(2 * np.pi * np.arange(12) / 12))
    np.savetxt(tmp_path / "y.csv", np.arange(12) // 6, fmt="%d", delimiter=",")
    return tmp_path


def answer(capsys, *argv, code=0):
    assert main([*map(str, argv), "--json"]) == code
    out, error = capsys.readouterr()
    return json.loads(out) if code == 0 else error


def test_measures_of_a_folder_are_those_of_the_file(ring, capsys):
    answer(capsys, "convert", ring / "ring.csv", ring / "ring.npyd", "--memory", "10kB")
    signals = ("--signal", ring / "x.npy", "--labels", ring / "y.csv")
    for command in ("info", "energy"):
        expected = answer(capsys, command, ring / "ring.csv", *signals)
        actual = answer(capsys, command, ring / "ring.npyd", *signals, "--memory", "10kB")
        for key in expected.keys() - {"source", "energies"}:
            assert actual[key] == expected[key]
        for row, same in zip(actual.get("energies", []), expected.get("energies", []), strict=True):
            for name, value in same.items():
                assert row[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-12, abs=1e-12))


def test_other_commands_read_the_whole_graph(ring, capsys):
    answer(capsys, "convert", ring / "ring.csv", ring / "ring.npyd")
    modes = answer(capsys, "spectrum", ring / "ring.npyd", "-k", "3")["frequencies"]
    assert modes[1]["frequency"] == pytest.approx(1 - np.cos(2 * np.pi / 12))


# MatrixMarket has no place for the coordinates of the ring, and a note states it.
@pytest.mark.filterwarnings("default:.*cannot store coordinates:gsp_fb.errors.GspWarning")
def test_there_and_back(ring, capsys):
    answer(capsys, "convert", ring / "ring.csv", ring / "ring.mtx")
    answer(capsys, "convert", ring / "ring.mtx", ring / "ring.npyd")
    answer(capsys, "convert", ring / "ring.npyd", ring / "back.npz")
    assert gf.read_graph(ring / "back.npz").sha256 == gf.datasets.ring(12).sha256


def test_wrong_usage_is_explained(ring, capsys):
    answer(capsys, "convert", ring / "ring.csv", ring / "ring.npyd")
    assert "remove it" in answer(capsys, "convert", ring / "ring.csv", ring / "ring.npyd", code=4)
    assert "is not understood" in answer(capsys, "info", ring / "ring.npyd", "--memory", "much", code=2)
    assert "gsp-fb convert" in answer(capsys, "info", ring / "ring.npyd", "--directed", code=2)
    signal = ("--signal", ring / "x.npy")
    assert "give at least" in answer(capsys, "energy", ring / "ring.npyd", *signal, "--memory", "1kB", code=2)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_s_of_a_tiny_or_huge_signal_is_that_of_the_graph_in_memory(ring, capsys, size):
    np.save(ring / "tiny.npy", size * np.cos(2 * np.pi * np.arange(12) / 12))
    answer(capsys, "convert", ring / "ring.csv", ring / "ring.npyd")
    answer(capsys, "convert", ring / "ring.csv", ring / "ring.npz")
    sources = [ring / f"ring.{suffix}" for suffix in ("npz", "npyd")]
    if size == 1e200:  # S exists, the energies do not
        assert all(
            "overflows" in answer(capsys, "energy", path, "--signal", ring / "tiny.npy", code=3) for path in sources
        )
        return
    found = [answer(capsys, "energy", path, "--signal", ring / "tiny.npy")["energies"] for path in sources]
    for row, same in zip(*found, strict=True):
        assert row["S"] == pytest.approx(same["S"], rel=1e-12)
        assert row["family"] != "sym" or row["S"] == pytest.approx(1 - np.cos(2 * np.pi / 12))
