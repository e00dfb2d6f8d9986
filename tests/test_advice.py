"""The advice: a probe against brute force, evidence that reads training labels only, rules judged on unseen sets."""

import json

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb import advice
from gsp_fb.advice.evidence import CANDIDATES, gather, train_rows
from gsp_fb.advice.probe import PENALTIES, centred_gram, channel_grams, loo_hits
from gsp_fb.advice.record import Measured, threshold, verdicts
from gsp_fb.cli import main
from gsp_fb.errors import ParameterError

BLOCKS = {"n_nodes": 240, "degree": 8, "n_features": 12}


def ridge(features, labels, penalty):
    """Fit with a free intercept, the features centred as the fit has them."""
    middle, mean = features.mean(axis=0), labels.mean(axis=0)
    Z = features - middle
    weights = np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T @ (labels - mean))
    return lambda row: mean + (row - middle) @ weights


def test_one_decomposition_gives_every_leave_one_out_prediction():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    features = rng.standard_normal((40, 5)) + y[:, None]
    labels = np.eye(3)[y]
    scale = 40 / np.sum((features - features.mean(axis=0)) ** 2)
    best = (np.inf, None)
    for penalty in PENALTIES:
        left_out = np.stack(
            [ridge(np.delete(features, i, 0), np.delete(labels, i, 0), penalty / scale)(features[i]) for i in range(40)]
        )
        best = min(best, (np.sum((left_out - labels) ** 2), left_out.argmax(axis=1)), key=lambda pair: pair[0])
    assert np.array_equal(loo_hits([centred_gram(features)], labels), (best[1] == y).astype(int))


def test_equal_rows_carry_nothing():
    assert not centred_gram(np.ones((5, 2))).any()


@pytest.mark.parametrize("density", [0.01, 0.4])
def test_sparse_features_are_filtered_as_dense_ones_are(density):
    data = gf.datasets.contextual_sbm(homophily=0.2, rng=1, **BLOCKS)
    x = sparse.random_array((240, 1500), density=density, rng=np.random.default_rng(0), format="csr")
    rows = np.arange(0, 240, 3)
    for family in CANDIDATES:
        low = gf.operator(data.graph, family)
        found, wanted = channel_grams(low, x, rows), channel_grams(low, x.toarray(), rows)
        assert list(found) == list(wanted)
        for word, matrix in wanted.items():
            np.testing.assert_allclose(found[word], matrix, atol=1e-12 * len(rows))


def test_labels_outside_the_training_nodes_are_not_read():
    data = gf.datasets.contextual_sbm(homophily=0.2, rng=1, **BLOCKS)
    train = np.arange(0, 240, 2)
    other = data.y.copy()
    rest = np.setdiff1d(np.arange(240), train)
    other[rest] = np.random.default_rng(0).permutation(other[rest])
    assert gather(data.graph, data.x, data.y, train) == gather(data.graph, data.x, other, train)


@pytest.mark.parametrize(("homophily", "channels"), [(0.5, "both"), (0.9, "low")])
def test_neighbours_that_say_nothing_of_two_classes_need_the_high_channel(homophily, channels):
    data = gf.datasets.contextual_sbm(homophily=homophily, rng=0, **BLOCKS)
    found = gf.advise(data.graph, data.x, data.y, np.arange(240) % 2 == 0)
    assert found.channels == channels
    assert found.record.of == len(advice.measured())
    assert found.rule in found.text


def test_without_features_a_rule_that_needs_none_decides():
    data = gf.datasets.contextual_sbm(homophily=0.1, rng=0, **BLOCKS)
    found = gf.advise(data.graph, None, data.y, range(0, 240, 2))
    assert not advice.RULES[found.rule].needs_features
    assert found.evidence.readout == {}


def test_a_rule_is_judged_on_sets_it_has_not_seen():
    """A score that orders the sets by chance alone is not right more often than a coin."""
    rng = np.random.default_rng(0)
    names = list(advice.RULES)
    rows = [
        Measured(str(k), float(k % 2) / 10, 0.0, 0.0, {name: float(rng.standard_normal()) for name in names}, 0.0)
        for k in range(40)
    ]
    assert max(row.right for row in verdicts(rows)) < 30
    perfect = [Measured(row.dataset, row.gain, 0.0, 0.0, dict.fromkeys(names, row.gain), 0.0) for row in rows]
    assert all(row.right == 40 for row in verdicts(perfect))


def test_a_threshold_lies_between_no_and_yes():
    assert 0.2 < threshold([0.1, 0.2, 0.6], [False, False, True]) < 0.6
    assert threshold([0.1, 0.2], [True, True]) < 0.1


def test_the_measured_record_names_its_source():
    rows = advice.measured()
    assert len(rows) >= 3
    assert all(set(row.scores) == set(advice.RULES) for row in rows)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones(7, dtype=bool), r"shape \(7,\) but the graph has 5 nodes"),
        ([0, 9], "at least 2 of 0..4"),
        ([3], "at least 2"),
    ],
)
def test_wrong_training_nodes_are_named(mask, message):
    with pytest.raises(ParameterError, match=message):
        train_rows(mask, 5)


def test_training_nodes_that_never_meet_teach_nothing():
    graph = gf.Graph.from_edges([(0, 1), (2, 3)])
    with pytest.raises(ParameterError, match="none of the 2 training nodes"):
        gf.advise(graph, None, [0, 1, 0, 1], [0, 2])


def test_the_command_line_advises_on_a_file(tmp_path, capsys):
    # Edges that say nothing about two classes: a mean over neighbours mixes them, so whatever the record, both help.
    data = gf.datasets.contextual_sbm(homophily=0.5, rng=0, **BLOCKS)
    gf.write_graph(data.graph, tmp_path / "graph.npz")
    np.save(tmp_path / "x.npy", data.x)
    np.save(tmp_path / "y.npy", data.y)
    files = [str(tmp_path / "graph.npz"), "--signal", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "y.npy")]
    assert main(["advise", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["channels"] == "both"
    assert main(["advise", *files]) == 0
    shown = capsys.readouterr().out
    assert "recommended" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_graph_without_labels_or_training_nodes_names_what_is_missing():
    data = gf.datasets.contextual_sbm(40, rng=0)
    for y, missing in ((None, "y, the labels"), (data.y, "train_mask")):
        with pytest.raises(ParameterError, match=missing):
            gf.advise(data.graph, data.x, y)
