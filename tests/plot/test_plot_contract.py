"""What every picture promises: axes in, axes out, nothing shown, no style and no argument changed."""

import inspect
import os
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import plot

RING = gf.datasets.ring(8)
X = np.linspace(-1.0, 2.0, 8)
Y = np.arange(8) % 2
HIGH = gf.operator(RING, "sym", "high")
ROWS = [{"epoch": e, "alpha_low_1": 0.5, "alpha_high_1": 0.5 + e / 100} for e in range(1, 5)]
LOW_HIGH = gf.FilterBank.two_channel(RING, "lazy_rw").analyze(X)
POINTS = np.random.default_rng(0).normal(size=(8, 4))

ONE = {
    "alphas": (ROWS,),
    "energy_profile": (gf.energy_profile(HIGH, X),),
    "energy_split": (HIGH, X),
    "gft": (HIGH, X),
    "graph": (RING,),
    "labels": (RING, Y),
    "kernel": (gf.filters.heat(1.0),),
    "response": (gf.FilterBank(HIGH, gf.filters.heat(1.0)),),
    "s_values": ({"cora": {"features": 0.8, "labels": 0.2}},),
    "signal": (RING, X),
    "spectrogram": (HIGH, X),
    "spectrum": (HIGH,),
}
SEVERAL = {"filtered": ((RING, *LOW_HIGH), 3), "tsne": (({"low": POINTS, "high": POINTS}, Y), 2)}


@pytest.fixture(autouse=True)
def _untouched(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("a picture was shown"))
    before, random = dict(mpl.rcParams), np.random.get_state()[1].copy()  # noqa: NPY002  # the global state is the subject
    yield
    assert dict(mpl.rcParams) == before
    np.testing.assert_array_equal(np.random.get_state()[1], random)  # noqa: NPY002  # as above


def test_every_picture_is_in_the_tables():
    functions = {name for name in plot.__all__ if inspect.isfunction(getattr(plot, name))}
    assert functions - {"figure", "positions"} == ONE.keys() | SEVERAL.keys()


@pytest.mark.parametrize("name", ONE)
def test_the_given_axes_come_back(name):
    figure, ax = plt.subplots()
    assert getattr(plot, name)(*ONE[name], ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()


@pytest.mark.parametrize("name", ONE)
def test_without_axes_one_figure_is_made(name):
    ax = getattr(plot, name)(*ONE[name])
    assert len(plt.get_fignums()) == 1
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", SEVERAL)
def test_a_row_of_axes_comes_back(name):
    arguments, count = SEVERAL[name]
    _, axes = plt.subplots(1, count)
    assert list(getattr(plot, name)(*arguments, axes=axes)) == list(axes)
    assert len(getattr(plot, name)(*arguments)) == count


@pytest.mark.parametrize("name", SEVERAL)
def test_another_number_of_axes_is_refused(name):
    arguments, count = SEVERAL[name]
    _, axes = plt.subplots(1, count + 1)
    with pytest.raises(gf.errors.ParameterError, match=f"{count + 1} axes given for {count} pictures"):
        getattr(plot, name)(*arguments, axes=axes)


def test_a_figure_for_a_file_belongs_to_no_window(tmp_path):
    plot.s_values(*ONE["s_values"], ax=plot.figure().subplots()).figure.savefig(tmp_path / "s.svg")
    assert plt.get_fignums() == []
    assert (tmp_path / "s.svg").read_bytes().startswith(b"<?xml")


def test_the_arguments_stay_as_they_are():
    x, places = X.copy(), np.random.default_rng(0).random((8, 2))
    before = places.copy()
    ax = plot.signal(RING, x, layout=places)
    ax.collections[1].get_array()[:] = 7.0
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(places, before)


BLOCKED = """
import sys
sys.modules["matplotlib"] = None
import gsp_fb as gf
from gsp_fb import _extras, plot
_extras.has = lambda module: False
try:
    plot.{name}
except ImportError as absent:
    print(absent)
"""


@pytest.mark.parametrize(
    "call", ["signal(gf.datasets.ring(3), [1, 2, 3], layout='circle')", "s_values({'a': {'x': 1.0}})"]
)
def test_fault_105_without_matplotlib_the_pip_line_is_given(call):
    code = BLOCKED.format(name=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "plotting needs matplotlib: pip install 'gsp-fb[plot]'"


def test_importing_the_pictures_imports_no_matplotlib():
    code = "import sys, gsp_fb.plot; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_picture_needs_no_display():
    hidden = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")
    }
    code = "from gsp_fb import plot; print(type(plot.s_values({'a': {'x': 1.0}})).__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=hidden)
    assert run.stdout.strip() == "Axes"
