"""PyGSP's tutorials and gallery in both libraries: equal numbers, no more lines, and the page that shows them."""

import logging

import matplotlib.pyplot as plt
import pytest

from tools import porting

pytest.importorskip("pygsp")


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)
    plt.close("all")


@pytest.mark.parametrize("tutorial", porting.TUTORIALS)
def test_every_step_runs_in_both_libraries_and_agrees(tutorial):
    steps, found = porting.TUTORIALS[tutorial], porting.run(tutorial)
    for step in steps:
        if found[step.title] is not None:
            assert found[step.title] <= step.tol, step.title
    theirs, ours = (sum(step.lines[side] for step in steps) for side in (0, 1))
    assert ours <= theirs


def test_only_steps_without_a_common_number_are_not_compared():
    notes = {step.note for steps in porting.TUTORIALS.values() for step in steps if step.tol is None}
    assert "" not in notes


def test_the_page_shows_these_steps():
    page = porting.PAGE.read_text()
    for tutorial, steps in porting.TUTORIALS.items():
        assert f"### {tutorial}\n" in page
        for step in steps:
            start = f"| {step.title} | {porting._cell(step.pygsp)} | {porting._cell(step.gsp_fb)} | {step.lines[0]} / "
            assert start in page, step.title


def test_a_step_that_differs_or_no_longer_fails_is_noticed():
    with pytest.raises(ValueError, match="shapes"):
        porting.difference([1.0], [1.0, 2.0])
    assert porting.difference([2.0, 0.0], [2.0, 1.0]) == 0.5
    with pytest.raises(AssertionError, match="no longer fails"):
        porting._run_pygsp(porting.Step("nothing", "", "", fails="ValueError"), {})
