"""The classifier against our own training, and inside scikit-learn's tools."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gsp_fb as gf
from gsp_fb import nn
from gsp_fb.errors import ParameterError, SignalError
from gsp_fb.estimators import FilterBankClassifier

N = 40
RING = gf.Graph.from_edges([(i, (i + 1) % N) for i in range(N)])
Y = np.arange(N) % 2
X = np.random.default_rng(0).standard_normal((N, 4)) + (2.0 * Y - 1.0)[:, None]
HALF = np.where(np.arange(N) < N // 2, Y, -1)


def quick(graph=RING, **options):
    return FilterBankClassifier(graph, **{"epochs": 40, "hidden": 8, **options})


def test_it_is_our_own_training():
    config = nn.TrainConfig(lr=0.05, weight_decay=5e-4, epochs=40, patience=100, normalize=False)
    data = SimpleNamespace(graph=RING, x=X, y=HALF)
    model = nn.build("fb-gcn", data, seed=3, hidden=8, dropout=0.5)
    result = nn.train(model, data, SimpleNamespace(train=np.arange(N // 2), val=[], test=[]), config)
    made = quick(random_state=3).fit(X, HALF)
    assert made.result_.losses["train"] == result.losses["train"]
    model.eval()
    with torch.no_grad():
        want = torch.softmax(model(nn.features(X)), dim=-1).numpy()
    np.testing.assert_allclose(made.predict_proba(X), want, atol=1e-5)
    np.testing.assert_array_equal(made.alphas_, result.alphas)


def test_unlabelled_nodes_get_a_class_and_their_labels_are_never_read():
    made = quick().fit(X, HALF)
    assert made.classes_.tolist() == [0, 1]
    assert made.score(X[:], Y) > 0.9
    np.testing.assert_array_equal(made.transduction_, made.predict(X))
    assert made.n_iter_ == 40


@pytest.mark.parametrize("kind", ["U", "O"])
def test_names_as_classes(kind):
    y = np.array(["cat", "dog"])[Y].astype(kind)
    if kind == "O":
        y[HALF == -1] = -1
    made = quick().fit(X, y)
    assert made.classes_.tolist() == ["cat", "dog"]
    assert np.mean(made.predict(X) == np.array(["cat", "dog"])[Y]) > 0.9


def test_node_numbers_make_cross_validation_transductive():
    numbers = np.arange(N)[:, None]
    assert cross_val_score(quick(features=X), numbers, Y, cv=4).mean() > 0.9
    made = quick(features=X).fit(numbers[: N // 2], Y[: N // 2])
    np.testing.assert_array_equal(made.predict_proba(numbers), quick().fit(X, HALF).predict_proba(X))


def test_grid_search_finds_the_channel_that_carries_the_classes():
    """Alternating classes on a ring: the lazy walk's low channel averages them away."""
    x = (2.0 * Y - 1.0)[:, None] * np.ones((1, 2)) + np.random.default_rng(1).standard_normal((N, 2)) / 4
    options = [{"family": "lazy_rw", "channels": channels} for channels in ("low", "high")]
    search = GridSearchCV(quick(features=x, dropout=0.0), {"model_options": options, "hidden": [8]}, cv=2)
    search.fit(np.arange(N)[:, None], Y)
    assert search.best_params_["model_options"]["channels"] == "high"
    assert search.best_score_ == 1.0


def test_without_a_graph_new_rows_are_classified_one_by_one():
    x, y = make_blobs(90, centers=3, random_state=0, cluster_std=0.5)
    chain = make_pipeline(StandardScaler(), quick(None)).fit(x[:60], y[:60])
    assert chain.score(x[60:], y[60:]) > 0.9
    whole = chain.predict_proba(x[60:])
    alone = np.concatenate([chain.predict_proba(row[None]) for row in x[60:70]])
    np.testing.assert_allclose(alone, whole[:10], atol=1e-12)
    np.testing.assert_array_equal(chain.predict(x[:60]), chain[-1].transduction_)


@pytest.mark.parametrize("model", ["mlp", "gcn", "gat", "fb-gat", "graphsage", "fb-gcnii", "fb-gwnn", "fb-graphsaint"])
def test_every_kind_of_node_model(model):
    options = {"n_roots": 10, "coverage": 2} if model.endswith("saint") else None
    made = quick(model=model, model_options=options, epochs=5).fit(X, HALF)
    np.testing.assert_allclose(made.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


def test_sparse_features():
    made = quick().fit(sparse.csr_array(X), HALF)
    np.testing.assert_allclose(made.predict_proba(sparse.csr_array(X)), made.predict_proba(X), atol=1e-12)


def test_held_out_labels_stop_the_training():
    made = quick(validation_fraction=0.2, epochs=500, patience=5).fit(X, Y)
    assert made.n_iter_ < 500
    assert made.result_.best_epoch == made.n_iter_ - 5
    assert np.isfinite(made.result_.scores["val"])


def test_clone_pickle_and_seed():
    made = quick().fit(X, HALF)
    want = made.predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).predict_proba(X), want)
    np.testing.assert_array_equal(clone(made).fit(X, HALF).predict_proba(X), want)
    assert not np.array_equal(quick(random_state=1).fit(X, HALF).predict_proba(X), want)
    drawn = [quick(random_state=np.random.RandomState(0)).fit(X, HALF).predict_proba(X) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)


def test_global_random_state_is_left_alone():
    numpy_before = np.random.get_state()[1].copy()  # noqa: NPY002  # the global state is what the test watches
    torch_before = torch.get_rng_state()
    quick(random_state=None, epochs=2).fit(X, HALF)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_before)  # noqa: NPY002  # as above
    assert torch.equal(torch.get_rng_state(), torch_before)


@pytest.mark.parametrize(
    ("options", "y", "error", "message"),
    [
        ({}, np.full(N, -1), ParameterError, "every label is -1"),
        ({"model": "gin-0"}, Y, ParameterError, "unknown node model 'gin-0'"),
        ({"model_options": {"famly": "sym"}}, Y, ParameterError, "did you mean 'family'"),
        ({"lr": -1.0}, Y, ParameterError, "lr must be finite and > 0"),
        ({"random_state": "seven"}, Y, ParameterError, "not 'seven'"),
        ({"graph": RING.adjacency[:5, :5]}, Y, SignalError, "X has 40 rows but the graph has 5 nodes"),
        ({}, Y + 0.5, ValueError, "Unknown label type"),
    ],
)
def test_errors_name_the_value_and_the_remedy(options, y, error, message):
    with pytest.raises(error, match=message):
        quick(**{"graph": RING, **options}).fit(X, y)


def test_a_node_may_come_twice_but_not_with_two_labels():
    again = [[0], [1], [0]]
    quick(features=X, epochs=1).fit(again, [0, 1, 0])
    with pytest.raises(ParameterError, match="node 0 is listed more than once, with different labels"):
        quick(features=X, epochs=1).fit(again, [0, 1, 1])


FRESH = "import sys, gsp_fb; {}; print(*(name for name in ('sklearn', 'torch') if name in sys.modules))"
MISSING = """
import sys
from importlib import util
real = util.find_spec
util.find_spec = lambda name, *args: None if name == "sklearn" else real(name, *args)
try:
    import gsp_fb.estimators
except ImportError as missing:
    print(missing)
"""


def said(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_what_is_imported_when():
    assert said(FRESH.format("pass")) == ""
    assert said(FRESH.format("import gsp_fb.estimators")) == "sklearn"
    assert said(MISSING) == "gsp_fb.estimators needs sklearn: pip install 'gsp-fb[ml]'"
