"""The standing sweep of public numbers: ``python -m tools.oracles numbers`` writes its table."""

import inspect
import itertools
import re

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import theory
from tools.oracles import moments, numbers
from tools.oracles.__main__ import _sections

CASES = list(numbers.comparisons())
ROWS = [*numbers.GLOBAL, *numbers.RESPONSES, *numbers.PER_FAMILY]


@pytest.mark.parametrize("name", ROWS)
def test_no_number_is_wrong(name):
    errors = [one.error() for one in CASES if one.name == name]
    compared = [error for error in errors if error is not None]
    assert len(compared) > len(errors) // 2
    assert max(compared) <= numbers.WRONG


def test_every_public_function_is_a_row_or_listed_with_a_reason():
    modules = (gf, gf.filters, gf.reduction, gf.sampling, gf.learning, theory)
    public = {name for module in modules for name in module.__all__ if inspect.isfunction(getattr(module, name))}
    rows = {word for name in ROWS for word in re.findall(r"\w+", name)}
    listed = {name for names in numbers.NOT_COMPARED for name in names.split()}
    assert public - rows - listed == set()
    assert listed <= public
    assert listed & rows == set()


def test_a_wrong_number_is_seen():
    """The judge itself."""
    assert numbers.Comparison("", "", lambda: 1.0, lambda: 1.0 + 1e-6).error() > numbers.WRONG
    assert numbers.Comparison("", "", lambda: np.nan, lambda: np.nan).error() is None


def test_moments_of_the_oracle_are_those_of_all_permutations():
    rng = np.random.default_rng(0)
    first, second, x = rng.random((5, 5)), np.diag(rng.random(5)), rng.random((5, 2))
    first, gram = first + first.T, x @ x.T
    placed = [gram[np.ix_(order, order)] for order in itertools.permutations(range(5))]
    products = [np.sum(first * one) * np.sum(second * one) for one in placed]
    assert moments.product_moment(first, second, gram) == pytest.approx(np.mean(products), rel=1e-12)
    assert moments.mean_form(first, gram) == pytest.approx(np.mean([np.sum(first * one) for one in placed]), rel=1e-12)


def test_sections_of_other_sweeps_are_kept(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Oracle sweeps\n\n## One\n\ntext\n\n## Two\n\nmore\n", encoding="utf-8")
    assert _sections(page) == {"## One": "## One\n\ntext\n", "## Two": "## Two\n\nmore\n"}
    assert _sections(tmp_path / "none.md") == {}
