"""Rows of other papers: their splits, and a printed figure beside every cell."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paper.catalogue import EXPERIMENTS
from paper.cells import cells
from paper.printed import paper_numbers
from paper.published import balanced_splits

labels = st.lists(st.integers(-1, 4), min_size=12, max_size=80).filter(lambda y: len(set(y) - {-1}) > 1)


@given(labels, st.integers(0, 5))
def test_balanced_splits_divide_the_labelled_nodes(y, rng):
    y = np.array(y)
    labelled = np.flatnonzero(y >= 0)
    each = round(0.6 * len(labelled) / len(np.unique(y[labelled])))
    for split in balanced_splits(y, 2, rng=rng):
        parts = np.concatenate([split.train, split.val, split.test])
        assert np.array_equal(np.sort(parts), labelled)
        for label in np.unique(y[labelled]):
            assert np.sum(y[split.train] == label) == min(each, np.sum(y == label))


def test_balanced_splits_follow_their_seed():
    y = np.arange(60) % 3
    first, again, other = (balanced_splits(y, 1, rng=seed)[0].train.tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_every_published_cell_has_a_printed_figure():
    found = [(name, cell) for name in ("published", "published-acm") for cell in cells(EXPERIMENTS[name], "tuned")]
    printed = {(row.table, row.model, row.dataset) for row in paper_numbers(metric="accuracy")}
    assert {(name, cell.row.label, cell.dataset) for name, cell in found} <= printed
    assert {cell.spec.get("splits") for name, cell in found if name == "published"} == {"balanced"}
    assert {cell.spec.get("splits") for name, cell in found if name == "published-acm"} == {None}
