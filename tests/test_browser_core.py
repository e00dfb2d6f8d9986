"""The core where a browser runs it: numpy and scipy, no threads, no numba, no compiled or optional library."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gsp_fb._extras import EXTRAS

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.joinpath("docs", "browser").glob("*.ipynb"))
BLOCKED = set(EXTRAS) | {"matplotlib", "PIL", "sklearn", "mpi4py"}
LIMITS = f"""
import sys, threading, importlib.abc

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])

sys.meta_path.insert(0, Blocked())

def refused(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refused
"""
CORE = """
import numpy as np
import gsp_fb as gf

g = gf.datasets.contextual_sbm(80, homophily=0.2, degree=6, rng=0)
high = gf.operator(g.graph, "sym", channel="high")
modes = gf.spectrum(high)
x = g.x[:, 0]
assert np.allclose(modes.igft(modes.gft(x)), x)
bank = gf.FilterBank(high, [gf.filters.heat(2.0), *gf.filters.meyer(4)])
exact = modes.igft(np.exp(-2 * modes.frequencies) * modes.gft(x))
assert np.allclose(bank.analyze(x)[:, 0], exact)
assert 0 <= gf.s_value(high, x) <= 2
assert gf.s_value_significance(high, gf.one_hot(g.y), n_surrogates=19, rng=0).p_rough == 0.05
assert all(row.holds for row in gf.verify(g.graph) if row.applicable)
assert gf.advise(g.graph, g.x, g.y, g.splits[0].train).channels in ("both", "low")
large = gf.datasets.ring(3000)
wave = np.cos(np.arange(3000) * 2 * np.pi / 3000)
out = gf.FilterBank(gf.operator(large, "sym", channel="high"), gf.filters.heat(5.0)).analyze(wave)
assert abs(out[:, 0] - np.exp(-5 * (1 - np.cos(2 * np.pi / 3000))) * wave).max() < 1e-7
"""
END = f"""
loaded = {BLOCKED!r} & {{name.partition(".")[0] for name in sys.modules}}
assert not loaded, loaded
print("ran")
"""


def ran(code):
    """Return the printed lines of a program that runs under the limits of a browser."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITS + code + END], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout.endswith("ran\n"), done.stderr
    return done.stdout.splitlines()[:-1]


def code_cells(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_the_core_runs_without_threads_numba_and_extras():
    ran(CORE)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_of_the_browser_runs_on_the_core(notebook):
    install, *cells = code_cells(notebook)
    assert install == "%pip install -q gsp-fb"
    shown = ran("\n".join(cells))
    assert "S of the labels 0.897, expected 0.513" in shown


def test_there_is_a_notebook_and_it_is_stored_without_outputs():
    assert NOTEBOOKS
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        assert all(not cell.get("outputs") for cell in cells)
