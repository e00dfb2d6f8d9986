"""The core where a browser runs it: numpy and scipy, no threads, no numba, no compiled or optional library."""

import subprocess
import sys
from pathlib import Path

from gsp_fb._extras import EXTRAS

CODE = """
import sys, threading, importlib.abc

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])

sys.meta_path.insert(0, Blocked())

def refused(self):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refused

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
loaded = {blocked} & {{name.partition(".")[0] for name in sys.modules}}
assert not loaded, loaded
print("ran")
"""


def test_the_core_runs_without_threads_numba_and_extras():
    blocked = repr(set(EXTRAS) | {"matplotlib", "PIL", "sklearn", "mpi4py"})
    command = [sys.executable, "-c", CODE.replace("{blocked}", blocked).replace("{{", "{").replace("}}", "}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    assert done.stdout.strip() == "ran", done.stderr
