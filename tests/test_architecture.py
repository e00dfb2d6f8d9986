"""The architecture page: its layers are those of the linter, its modules exist, its calls go where it states."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import gsp_fb as gf

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gsp_fb"
FIGURES = runpy.run_path(str(ROOT / "docs" / "figures" / "architecture.py"))
# Parts of the package itself, which no layer imports.
UNLAYERED = {"__init__", "__main__", "_version", "data"}


def entered(call):
    """Return the modules of the package that a call enters, in the order of the first entry."""
    seen = {}

    def watch(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            seen.setdefault(path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", "."))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(seen)


def s_value(op, x):
    return lambda: gf.s_value(op, x)


def analysis(op, x):
    bank = gf.FilterBank(op, [gf.filters.heat(2.0)], tol=1e-8)
    return lambda: bank.analyze(x)


def training(op, x):
    nn = pytest.importorskip("gsp_fb.nn", reason="training needs torch", exc_type=ImportError)
    data = gf.datasets.contextual_sbm(60, rng=0)
    model = nn.build("fb-gcn", data, seed=0)
    return lambda: nn.train(model, data, data.splits[0], nn.TrainConfig(epochs=2))


@pytest.mark.parametrize(
    ("name", "prepare"),
    list(zip(FIGURES["CALLS"], (s_value, analysis, training), strict=True)),
    ids=("s", "bank", "train"),
)
def test_a_call_enters_the_modules_of_the_figure_in_their_order(name, prepare):
    op = gf.operator(gf.datasets.grid(40, 40), "sym", channel="high")
    found = entered(prepare(op, np.random.default_rng(0).standard_normal(1600)))
    steps = FIGURES["CALLS"][name]
    assert set(steps) <= set(found)
    assert sorted(steps, key=found.index) == steps


def test_page_and_figure_are_those_of_the_contract_and_the_modules():
    assert FIGURES["PAGE"].read_text(encoding="utf-8") == FIGURES["page"]()
    assert FIGURES["FIGURE"].read_text(encoding="utf-8") == FIGURES["figure"]()


def test_every_module_is_in_a_layer():
    modules = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert modules - UNLAYERED == {name for names in FIGURES["layers"]() for name in names}


def test_every_folder_and_module_that_the_page_names_exists():
    text = FIGURES["PAGE"].read_text(encoding="utf-8")
    folders = re.findall(r"`([a-z_/]+/)`", text)
    tested = [folder for folder in folders if folder.partition("/")[0] in {"gsp_fb", "paper", "tests", "docs", "tools"}]
    assert tested
    assert [folder for folder in tested if not (ROOT / folder).is_dir()] == []
    named = re.findall(r"`((?:energy|filters|nn)\.\w+)`", text)
    assert named
    assert [name for name in named if not PACKAGE.joinpath(*name.split(".")).with_suffix(".py").exists()] == []
