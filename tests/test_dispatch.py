"""What one S-value of one signal on a small graph costs in calls: validated once, dispatched once."""

import sys
from pathlib import Path

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.variants import VARIANTS

PACKAGE = str(Path(gf.__file__).parent)


def calls_of(function, *args):
    """Return the names of the functions of the package that a call enters."""
    entered = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return entered


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_edges(rng.integers(0, 183, (300, 2)), n_nodes=183, duplicates="first")
    return graph, rng.standard_normal(183)


@pytest.mark.parametrize("family", VARIANTS)
def test_an_s_value_takes_at_most_thirty_calls(small, family):
    graph, x = small
    op = gf.operator(graph, family, "high")
    gf.s_value(op, x)  # what an operator keeps is made by then
    assert len(calls_of(gf.s_value, op, x)) <= 30


def test_a_product_takes_at_most_five_calls(small):
    graph, x = small
    op = gf.operator(graph, "sym", "high")
    op @ x
    assert len(calls_of(op.__matmul__, x)) <= 5


def test_the_short_way_gives_what_the_long_way_gives(small):
    graph, x = small
    for family in VARIANTS:
        op = gf.operator(graph, family, "high")
        dense = op.to_scipy().toarray()
        for kind in (np.float32, np.float64, np.complex64, np.complex128):
            for signal in (x.astype(kind), np.stack([x, 2 * x], axis=1).astype(kind)):
                y = op @ signal
                assert y.dtype == kind
                np.testing.assert_allclose(y, dense @ signal, rtol=0, atol=500 * np.finfo(kind).eps * abs(dense).sum())
