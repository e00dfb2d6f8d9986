"""Rows of other papers: their splits, and a printed figure beside every cell."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paper.__main__ import RESULTS
from paper.catalogue import EXPERIMENTS
from paper.cells import cells
from paper.printed import paper_numbers
from paper.published import balanced_splits, seeded_splits
from paper.store import Store

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


def test_seeded_splits_are_those_of_the_authors_scripts():
    """Their function, written out: lists in place of arrays, classes that are short give all nodes."""
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3, 4], [33, 1, 18, 101, 30]))
    each, n_val = round(0.6 * 183 / 5), round(0.2 * 183)
    for seed, split in zip((1941488137, 4198936517), seeded_splits(y), strict=False):
        stream, train = np.random.RandomState(seed), []
        for label in range(5):
            members = np.where(y == label)[0]
            train.extend(members if len(members) < each else stream.choice(members, each, replace=False))
        rest = [i for i in range(183) if i not in train]
        val = stream.choice(rest, n_val, replace=False)
        assert split.train.tolist() == sorted(train)
        assert split.val.tolist() == sorted(val)
        assert split.test.tolist() == [i for i in rest if i not in val]


def test_with_the_settings_and_splits_of_the_scripts_every_figure_is_that_of_the_authors():
    printed = {
        (row.model, row.dataset): row.value for row in paper_numbers(metric="accuracy") if row.table == "published"
    }
    for name in ("published-cornell", "published-texas"):
        for cell in cells(EXPERIMENTS[name], "paper"):
            facts = Store(RESULTS).read(cell)
            assert facts is not None
            assert abs(100 * facts["mean"] - float(printed[cell.row.label, cell.dataset])) <= 1.5
            assert facts["data"]["sizes"] == [[85, 37, 61]] * 10


def test_every_published_cell_has_a_printed_figure():
    found = [(name, cell) for name in ("published", "published-acm") for cell in cells(EXPERIMENTS[name], "tuned")]
    printed = {(row.table, row.model, row.dataset) for row in paper_numbers(metric="accuracy")}
    assert {(name, cell.row.label, cell.dataset) for name, cell in found} <= printed
    assert {cell.spec.get("splits") for name, cell in found if name == "published"} == {"balanced"}
    assert {cell.spec.get("splits") for name, cell in found if name == "published-acm"} == {None}
