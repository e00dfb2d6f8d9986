"""Paths that few users take: tables of measurements that do not exist yet, records too short, values off the grid."""

import math
from itertools import islice, pairwise, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb._document import Table, Text, plain
from gsp_fb.cli.render import emit
from gsp_fb.errors import SignalError
from gsp_fb.plot.nodes import _real
from gsp_fb.tuning.race import SAMPLERS, _place
from paper.catalogue import EXPERIMENTS
from paper.cells import select
from paper.protocols import Rung
from paper.tables import sections


def holding(facts):
    """Return a store that holds these facts of every cell of the tables."""
    return SimpleNamespace(directory=Path("results"), read=facts)


def tables_of(name, facts):
    blocks = sections(EXPERIMENTS[name], holding(facts), {})
    return [block for block in blocks if isinstance(block, Table)]


def named_after(measure):
    return [name for name, experiment in EXPERIMENTS.items() if experiment.measure == measure]


@pytest.mark.parametrize("name", named_after("alphas"))
def test_weights_of_the_last_layer_stand_beside_the_papers(name):
    found = tables_of(name, lambda cell: {"alphas": [[[0.1, 0.9], [0.25, 0.75]], [[0.2, 0.8], [0.35, 0.65]]]})
    assert found
    for row in (row for shown in found for row in shown.rows):
        assert row[0] in EXPERIMENTS[name].datasets
        assert [cell.split(" ")[0] for cell in row[1:]] == ["0.300", "0.700"]


@pytest.mark.parametrize("name", named_after("s-values"))
def test_s_values_of_signals_and_outputs_have_a_row_for_every_data_set(name):
    values = [{"signal": "labels", "paper": 0.5, "as_printed": 0.25, "as_defined": 0.125}]
    found = tables_of(name, lambda cell: {"values": values, "s_values": [0.5, None, 0.7]})
    assert found
    for shown in found:
        assert [row[0] for row in shown.rows] == list(EXPERIMENTS[name].datasets)
        assert {len(row) for row in shown.rows} == {len(shown.header)}
        assert any("0.125" in cell or cell.startswith("0.600") for row in shown.rows for cell in row)


@pytest.mark.parametrize("name", named_after("search"))
def test_a_search_shows_what_was_compared_what_won_and_where_it_leads(name):
    choice = {"values": {"lr": 0.05, "weight_decay": 0.0}, "score": 0.8125, "n_trials": 64}
    [shown] = tables_of(
        name, lambda cell: {"choice": choice, "mean": 0.75, "std": 0.05} if cell.row.label != "MLP" else None
    )
    experiment = EXPERIMENTS[name]
    assert [row[:2] for row in shown.rows] == [
        [data, row.label] for data in experiment.datasets for row in experiment.rows
    ]
    assert {tuple(row[2:5]) for row in shown.rows if row[1] != "MLP"} == {("64", "lr 0.05, weight decay 0.0", "81.2")}
    assert all(row[5].startswith("75.0 ± 5.0 (") for row in shown.rows if row[1] != "MLP")
    assert all(row[2:5] == ["·"] * 3 and row[5].startswith("· (") for row in shown.rows if row[1] == "MLP")


def test_the_page_says_which_hyperparameters_the_paper_does_not_list():
    blocks = sections(EXPERIMENTS["table2"], holding(lambda cell: {"mean": 0.5, "std": 0.1}), {})
    said = [block.text for block in blocks if isinstance(block, Text) and "lists no hyperparameters" in block.text]
    rows = "GraphSAINT, FB-GraphSAINT, Geom-GCN-P, Geom-GCN-S, Geom-GCN-I, GWNN, FB-GWNN"
    assert said == [f"The paper lists no hyperparameters of {rows}: these have the defaults of their models."]


def test_a_wide_search_compares_its_candidates_on_all_splits():
    wide = [cell for cell in select(["wide-search"]) if cell.row.candidates]
    assert {cell.plan.rungs for cell in wide} == {(Rung(64, 10),)}
    assert len({cell.digest for cell in wide}) == len(wide)


SPACE = {"lr": [0.001, 0.01, 0.1], "dropout": [0.0, 0.5]}


def test_values_off_the_grid_have_the_place_of_the_nearest():
    assert [_place(SPACE["lr"], value) for value in (0.01, 0.02, 5.0, None)] == [1, 1, 2, 0]


def test_proposals_cover_the_space_and_depend_on_the_seed_alone():
    done = [({"lr": 0.1, "dropout": 0.5}, 0.7), ({"lr": 0.001, "dropout": 0.0}, -math.inf)]
    proposed = list(islice(SAMPLERS["tpe"](SPACE, done, 0), 200))
    assert {tuple(values.values()) for values in proposed} == set(product(*SPACE.values()))
    assert list(islice(SAMPLERS["tpe"](SPACE, done, 0), 200)) == proposed
    assert any(one != other for one, other in pairwise(proposed))


def test_nothing_is_shown_as_nothing_and_no_number_as_null(capsys):
    emit({"rows": []}, as_json=False)
    assert capsys.readouterr().out == "rows\n(nothing)\n"
    assert plain({"a": [math.nan, (1.0, math.inf)], "b": 2}) == {"a": [None, [1.0, None]], "b": 2}


def test_one_column_is_drawn_like_a_vector():
    ring = gf.datasets.ring(4)
    assert _real(ring, np.ones((4, 1))).tolist() == [1.0] * 4
    for several in (np.ones((4, 2)), np.ones(4) * 1j):
        with pytest.raises(SignalError):
            _real(ring, several)


def test_equality_of_graphs_and_operators_is_by_content():
    one, other = gf.datasets.ring(5), gf.datasets.ring(5)
    low = gf.operator(one, "sym")
    assert all([one == one.load(), one == other, one != 5, low == low.in_memory(), low == gf.operator(other, "sym")])
    assert all([low != 5, low != low.complement(), hash(one) == hash(other)])


@pytest.mark.parametrize("q", [True, "a quarter", None, float("nan"), float("inf")])
def test_a_number_is_finite_and_a_number(q):
    with pytest.raises(gf.errors.ParameterError, match="q must be"):
        gf.Graph.from_edges([(0, 1)], directed=True).magnetic(q)
