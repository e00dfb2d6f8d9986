"""The code of docs/patch-your-gnn.md and docs/own-model.md runs, block after block."""

import re
from pathlib import Path

import pytest
import torch

from gsp_fb.cli import main
from gsp_fb.nn import models

DOCS = Path(__file__).parents[2] / "docs"


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", DOCS.joinpath(page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_runs():
    pytest.importorskip("torch_geometric")
    scope: dict = {}
    blocks = blocks_of("patch-your-gnn.md")
    assert len(blocks) == 7
    for block in blocks:
        exec(block, scope)
    assert isinstance(scope["optimizer"], torch.optim.Adam)
    assert {group["weight_decay"] for group in scope["optimizer"].param_groups} == {5e-4, 0.0}


@pytest.fixture
def restored_table():
    known = dict(models._TABLE)
    yield
    models._TABLE.clear()
    models._TABLE.update(known)


@pytest.mark.usefixtures("restored_table")
def test_a_model_of_ones_own_runs_in_twenty_lines(tmp_path, monkeypatch, capsys):
    first, *rest = blocks_of("own-model.md")
    code = [
        line for line in first.splitlines() if line.strip() and not line.strip().startswith(('"""', "import", "from"))
    ]
    assert len(code) <= 20
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    scope: dict = {}
    for block in (first, *rest):
        exec(block, scope)
    tmp_path.joinpath("mine.py").write_text(first, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["models", "--plugin", "mine", "--json"]) == 0
    assert '"high-pass"' in capsys.readouterr().out
