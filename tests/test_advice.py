"""The advice: a probe against brute force, evidence that reads training labels only, an advisor with its record."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb import advice
from gsp_fb.advice.evidence import CANDIDATES, gather, train_rows
from gsp_fb.advice.probe import PENALTIES, centred_gram, channel_grams, loo_hits
from gsp_fb.cli import _parser, main
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


@pytest.mark.parametrize(("homophily", "channels"), [(0.2, "both"), (0.95, "low")])
def test_neighbours_of_the_other_class_need_the_high_channel(homophily, channels):
    """Trained at 0.2: low 66 %, low and identity 85 %, low and high 86 %."""
    data = gf.datasets.contextual_sbm(600, homophily=homophily, degree=8, n_features=12, signal=0.2, rng=0)
    found = gf.advise(data.graph, data.x, data.y, np.arange(600) % 2 == 0)
    assert found.channels == channels
    assert found.answer == max(found.probabilities, key=found.probabilities.get)
    assert f"{found.answer} {found.probabilities[found.answer]:.2f}" in found.text
    assert f"right on {found.record.right} of {found.record.of} real data sets" in found.text


def test_without_features_an_advisor_of_labels_decides():
    data = gf.datasets.contextual_sbm(homophily=0.1, rng=0, **BLOCKS)
    found = gf.advise(data.graph, None, data.y, range(0, 240, 2))
    advisor = advice.advisors()["labels"]
    assert set(advisor.measures) <= set(found.evidence.measures)
    assert found.probabilities == advisor.probabilities(found.evidence.measures)
    assert found.evidence.readout == {}
    assert np.isnan(found.evidence.feature_readout)


@pytest.mark.parametrize("reads", ["features", "labels"])
def test_probabilities_are_those_of_scikit_learn(reads):
    linear = pytest.importorskip("sklearn.linear_model")
    advisor, rng = advice.advisors()[reads], np.random.default_rng(0)
    model = linear.LogisticRegression()
    model.classes_, model.coef_ = np.array(advisor.answers), np.array(advisor.weights)
    model.intercept_ = np.array(advisor.intercepts)
    for z in rng.standard_normal((20, len(advisor.measures))):
        values = dict(zip(advisor.measures, z * advisor.scale + advisor.mean, strict=True))
        expected = dict(zip(advisor.answers, model.predict_proba([z])[0], strict=True))
        for name, share in advisor.probabilities(values).items():
            assert share == pytest.approx(expected.get(name, 0.0), abs=1e-12)


def test_edges_within_one_class_are_no_evidence():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (3, 4)])
    with pytest.raises(ParameterError, match="joins nodes of one class; label more nodes"):
        gf.advise(graph, None, [0, 0, 0, 1, 1], [0, 1, 2])


def test_the_record_states_its_intervals():
    for advisor in advice.advisors().values():
        record = advisor.record
        assert record.generated_low < record.generated_right / record.generated < record.generated_high
        assert set(advisor.answers) <= set(advice.ANSWERS)
        assert record.common in advice.ANSWERS


@pytest.mark.parametrize("answer", advice.ANSWERS)
def test_the_recommended_command_parses(answer):
    data = gf.datasets.contextual_sbm(homophily=0.1, rng=0, **BLOCKS)
    found = replace(gf.advise(data.graph, None, data.y, range(0, 240, 2)), answer=answer)
    words = shlex.split(found.command("texas"))
    args = _parser().parse_args(words[1:])
    assert (args.command, args.dataset) == ("train", "texas")
    assert args.model == {"h": "fb-gcn", "i": "gcn", "g": "mlp"}[answer[0]]


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
    data = gf.datasets.contextual_sbm(homophily=0.2, signal=0.2, rng=0, **BLOCKS)
    gf.write_graph(data.graph, tmp_path / "graph.npz")
    np.save(tmp_path / "x.npy", data.x)
    np.save(tmp_path / "y.npy", data.y)
    files = [str(tmp_path / "graph.npz"), "--signal", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "y.npy")]
    assert main(["advise", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["channels"] == "both"
    assert main(["advise", *files]) == 0
    shown = capsys.readouterr().out
    assert "High channel: yes" in shown
    command = f"gsp-fb train fb-gcn {files[0]} --family renorm_sym"  # to be copied, as long as the name of the file
    assert command in shown
    assert max(len(line) for line in shown.splitlines() if line != command) <= 80


def test_a_graph_without_labels_or_training_nodes_names_what_is_missing():
    data = gf.datasets.contextual_sbm(40, rng=0)
    for y, missing in ((None, "y, the labels"), (data.y, "train_mask")):
        with pytest.raises(ParameterError, match=missing):
            gf.advise(data.graph, data.x, y)
