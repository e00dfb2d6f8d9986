"""Row 102 of the catalogue: clocks that jump, time zones that change, very long paths, names in every script."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gsp_fb import Graph
from gsp_fb.files import FORMATS, read_graph, write_graph

pytestmark = pytest.mark.skipif(os.name == "nt", reason="time zones and path limits of POSIX")

PLAIN = Graph.from_edges([(0, 1), (1, 2)], [0.5, 2.0])
NAMES = ["größe", "図", "граф", "رسم", "🕸", "e\u0301", "with space", "-dash", "a'b\"c"]


def child(body, *arguments, **environment):
    """Run a script in a process of its own, whose clock and zone are its own."""
    done = subprocess.run(
        [sys.executable, "-c", body, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


JUMPS = """
import itertools, sys, time
offsets = itertools.cycle([0, 3.2e9, -1.7e9, 86400.5, -3600])
real = time.time
time.time = lambda: real() + next(offsets)
"""
WRITE_ALL = """
from pathlib import Path
from gsp_fb import Graph
from gsp_fb.files import FORMATS, write_graph
for kind in FORMATS.values():
    for ending in ("", ".gz")[: 1 + kind.text]:
        write_graph(Graph.from_edges([(0, 1), (1, 2)], [0.5, 2.0]), Path(sys.argv[1], f"a{kind.suffixes[0]}{ending}"))
"""


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_fault_102_files_do_not_depend_on_the_clock_or_the_zone(tmp_path):
    worlds = {
        "utc": ("import sys\n", "UTC"),
        "east": ("import sys\n", "Pacific/Kiritimati"),
        "jumping": (JUMPS, "America/St_Johns"),
        "changing": ("import os, sys, time\nos.environ['TZ'] = 'Asia/Kathmandu'\ntime.tzset()\n", "UTC"),
    }
    for name, (before, zone) in worlds.items():
        (tmp_path / name).mkdir()
        child(before + WRITE_ALL, tmp_path / name, TZ=zone)
    expected = contents(tmp_path / "utc")
    assert len(expected) == len(FORMATS) + sum(kind.text for kind in FORMATS.values())
    for name in worlds:
        assert contents(tmp_path / name) == expected


def test_fault_102_a_clock_that_jumps_removes_no_file_of_a_live_writer(tmp_path):
    body = """
import os, sys, time
from gsp_fb._atomic import atomic_write
real = time.time
with atomic_write(sys.argv[1] + "/outer") as outer:
    outer.write(b"first half, ")
    outer.flush()
    for years in (0, 30, -30, 60):
        time.time = lambda: real() + years * 3.2e7
        with atomic_write(sys.argv[1] + "/inner") as inner:
            inner.write(b"whole")
    outer.write(b"second half")
"""
    child(body, tmp_path)
    assert contents(tmp_path) == {"outer": b"first half, second half", "inner": b"whole"}


def test_fault_102_a_temporary_file_from_the_future_is_kept_and_from_the_past_swept(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        pass
    ages = {"aa": 10 * 365 * 86400, "bb": -10 * 365 * 86400}
    for mark, offset in ages.items():
        temp = tmp_path / f".gsp_fb-{dead.pid}-{mark}.tmp"
        temp.write_bytes(b"half")
        os.utime(temp, (time.time() + offset, time.time() + offset))
    write_graph(PLAIN, tmp_path / "a.npz")
    assert sorted(contents(tmp_path)) == [f".gsp_fb-{dead.pid}-aa.tmp", "a.npz"]


TRAIN = """
from types import SimpleNamespace
import numpy as np, torch
torch.set_num_threads(1)
from gsp_fb import Graph
from gsp_fb.nn import TrainConfig, build, train
ring = Graph.from_edges([(i, (i + 1) % 12) for i in range(12)])
ds = SimpleNamespace(graph=ring, x=np.eye(12), y=np.arange(12) % 2)
split = SimpleNamespace(train=[0, 1, 2, 3, 4, 5], val=[6, 7, 8], test=[9, 10, 11])
few = TrainConfig(epochs=6, checkpoint_every=2)
train(build("fb-gcn", ds, hidden=4, seed=1), ds, split, few, directory=sys.argv[1])
"""


def test_fault_102_training_does_not_look_at_the_clock(tmp_path):
    pytest.importorskip("torch")
    steady, jumping = tmp_path / "steady", tmp_path / "größe 図"
    child("import sys\n" + TRAIN, steady, TZ="UTC")
    child(JUMPS + TRAIN, jumping, TZ="Pacific/Kiritimati")
    assert (steady / "metrics.csv").read_bytes() == (jumping / "metrics.csv").read_bytes()
    one, other = (json.loads((folder / "checkpoint.json").read_text("utf-8")) for folder in (steady, jumping))
    assert one["sha256"] == other["sha256"]


STAMP = """
import sys
from pathlib import Path
from paper import select
from paper.store import Store
cell = select(["table1"], protocols=["paper"])[0]
print(Store(Path(sys.argv[1])).write(cell, {}, 1.0)["date"])
"""


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns"])
def test_fault_102_dates_that_are_stored_are_utc(tmp_path, zone):
    pytest.importorskip("torch")
    stamp = datetime.fromisoformat(child(STAMP, tmp_path, TZ=zone).strip())
    assert stamp.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - stamp) < timedelta(minutes=5)


@pytest.mark.parametrize("name", NAMES)
def test_fault_102_names_in_every_script(name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    labelled = Graph.from_edges([(0, 1), (1, 2)], [0.5, 2.0], nodes=(name, "b", f"{name}{name}"))
    for kind in FORMATS.values():
        graph = labelled if kind.labels else PLAIN
        path = folder / f"{name}{kind.suffixes[0]}"
        write_graph(graph, path)
        assert read_graph(path).labels == graph.labels
    assert not list(folder.glob(".gsp_fb*"))


def deep(folder, length):
    """Return a directory whose path has about ``length`` characters, made step by step."""
    while len(str(folder)) + 210 < length:
        folder /= "d" * 200
        folder.mkdir()
    return folder


def test_fault_102_very_long_paths(tmp_path):
    folder = deep(tmp_path, os.pathconf(tmp_path, "PC_PATH_MAX") - 150)
    assert len(str(folder)) > 3500
    for kind in FORMATS.values():
        path = folder / f"{'n' * 100}{kind.suffixes[0]}"
        write_graph(PLAIN, path)
        assert read_graph(path).sha256 == PLAIN.sha256
    longest = tmp_path / f"{'n' * (255 - len('.npz'))}.npz"
    write_graph(PLAIN, longest)
    assert read_graph(longest).sha256 == PLAIN.sha256


@pytest.mark.parametrize("ending", [f"{'n' * 300}.npz", f"{'d/' * 2500}a.npz"])
def test_fault_102_a_path_longer_than_the_system_allows_is_named(tmp_path, ending):
    path = Path(f"{tmp_path}/{ending}")
    for call in (lambda: write_graph(PLAIN, path), lambda: read_graph(path)):
        with pytest.raises(OSError, match=r"File name too long|no such directory|No such file") as refused:
            call()
        assert "n" * 100 in str(refused.value) or "d/d/d" in str(refused.value)
    assert not list(tmp_path.iterdir())
