"""Every script of the gallery runs as it stands, without data at hand and with it, and draws something."""

import re
import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from tests.support.real_data import DATA, needs_data

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted(DOCS.joinpath("gallery").glob("plot_*.py"))
REAL = [script for script in SCRIPTS if "GSP_FB_DATA_DIR" in script.read_text(encoding="utf-8")]


def run_and_draw(script):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    try:
        runpy.run_path(str(script))
        assert plt.get_fignums()
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    finally:
        plt.close("all")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_gallery_script(script, monkeypatch):
    monkeypatch.delenv("GSP_FB_DATA_DIR", raising=False)
    run_and_draw(script)


@needs_data
@pytest.mark.parametrize("script", REAL, ids=lambda path: path.stem)
def test_gallery_script_with_real_data(script, monkeypatch):
    monkeypatch.setenv("GSP_FB_DATA_DIR", str(DATA))
    run_and_draw(script)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_gallery_script_has_a_title_and_tells_something(script):
    _, title, rule, _, *text = script.read_text(encoding="utf-8").split("\n")
    assert rule == "=" * len(title)
    assert "# %%" in text


@pytest.mark.parametrize("name", ["two-halves.png", "two-halves-tall.png"])
def test_the_figure_of_the_readme_is_drawn_by_its_script(tmp_path, name):
    from PIL import Image

    drawn = tmp_path / name
    runpy.run_path(str(DOCS / "figures" / "two_halves.py"))["main"](drawn)
    stored = DOCS / "_static" / name
    assert stored.stat().st_size < 100_000
    with Image.open(drawn) as new, Image.open(stored) as old:
        assert new.size == old.size


def test_values_of_plotting_calls_are_not_printed():
    assert '"capture_repr": ()' in DOCS.joinpath("conf.py").read_text(encoding="utf-8")


def test_code_fits_its_box():
    """A box holds 119 columns at 1280 px."""
    pages = [*DOCS.glob("*.md"), DOCS.parent / "CONTRIBUTING.md"]
    blocks = [
        block
        for page in pages
        for block in re.findall(r"^```\w+\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    ]
    scripts = [script.read_text(encoding="utf-8").split('"""', 2)[2] for script in SCRIPTS]
    code = [line for text in (*blocks, *scripts) for line in text.splitlines() if not line.startswith("# ")]
    assert [line for line in code if len(line) > 119] == []


def test_the_figure_of_the_readme_shows_the_energies_of_the_drawn_halves():
    """By hand: averages over closed neighbourhoods, energies weighted by their sizes."""
    script = runpy.run_path(str(DOCS / "figures" / "two_halves.py"))
    graph, x = script["karate_signal"]()
    A = graph.adjacency.toarray() + np.eye(34)
    degrees = A.sum(axis=1)
    low = A @ x / degrees
    energies = {"low": low @ (degrees * low), "cross term": 2 * low @ (degrees * (x - low))}
    energies["high"] = (x - low) @ (degrees * (x - low))
    shares = {name: energy / (x @ (degrees * x)) for name, energy in energies.items()}
    assert script["energy_shares"](graph, x) == pytest.approx(shares, abs=1e-12)
    assert [round(100 * share, 1) for share in shares.values()] == [48.6, 18.7, 32.8]
