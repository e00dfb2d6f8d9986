"""The worked examples of CONTRIBUTING.md run as they stand, each in an interpreter of its own."""

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^### ([^\n]+)\n(?:(?!^#).)*?```python\n(.*?)```", TEXT, re.MULTILINE | re.DOTALL))
# What an example needs beyond numpy and scipy: a module, and a name in another one.
NEEDS = {"A network": ("torch", "gsp_fb.nn", "register_model"), "A storage": ("gsp_fb.storage", "gsp_fb", "Graph")}


def test_every_kind_of_addition_has_an_example():
    linked = re.findall(r"\[example\]\(#([\w-]+)\)", TEXT)
    assert sorted(linked) == sorted(title.lower().replace(" ", "-") for title in EXAMPLES)
    assert set(EXAMPLES) == {"A kernel", "A family of operators", "A network", "A storage", "A file format"}


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_runs(title):
    if title in NEEDS:
        module, owner, name = NEEDS[title]
        if find_spec(module) is None or not hasattr(import_module(owner), name):
            pytest.skip(f"needs {module} and {owner}.{name}")
    done = subprocess.run([sys.executable, "-c", EXAMPLES[title]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
