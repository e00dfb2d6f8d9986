"""The standing sweep of public numbers: ``python -m tools.oracles numbers`` writes its table."""

import numpy as np
import pytest

from tools.oracles import numbers
from tools.oracles.__main__ import _sections

CASES = list(numbers.comparisons())


@pytest.mark.parametrize("name", [*numbers.GLOBAL, *numbers.PER_FAMILY])
def test_no_number_is_wrong(name):
    errors = [one.error() for one in CASES if one.name == name]
    compared = [error for error in errors if error is not None]
    assert len(compared) > len(errors) // 2
    assert max(compared) <= numbers.WRONG


def test_a_wrong_number_is_seen():
    """The judge itself."""
    assert numbers.Comparison("", "", lambda: 1.0, lambda: 1.0 + 1e-6).error() > numbers.WRONG
    assert numbers.Comparison("", "", lambda: np.nan, lambda: np.nan).error() is None


def test_sections_of_other_sweeps_are_kept(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Oracle sweeps\n\n## One\n\ntext\n\n## Two\n\nmore\n", encoding="utf-8")
    assert _sections(page) == {"## One": "## One\n\ntext\n", "## Two": "## Two\n\nmore\n"}
    assert _sections(tmp_path / "none.md") == {}
