"""The code of docs/patch-your-gnn.md runs, block after block."""

import re
from pathlib import Path

import pytest
import torch

PAGE = Path(__file__).parents[2] / "docs" / "patch-your-gnn.md"


def test_the_page_runs():
    pytest.importorskip("torch_geometric")
    scope: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 7
    for block in blocks:
        exec(block, scope)
    assert isinstance(scope["optimizer"], torch.optim.Adam)
    assert {group["weight_decay"] for group in scope["optimizer"].param_groups} == {5e-4, 0.0}
