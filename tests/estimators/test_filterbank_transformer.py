"""The transformer against the bank of the core, alone and inside scikit-learn's tools."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.estimators import FilterBankTransformer
from gsp_fb.testing import families, graphs

PATH = gf.Graph.from_edges([(0, 1), (1, 2)])
RING = gf.Graph.from_edges([(i, (i + 1) % 12) for i in range(12)])


def points(n_rows, n_columns=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n_rows, n_columns))


@given(graphs(min_nodes=2), families())
def test_it_is_the_two_channel_bank(graph, family):
    x = points(graph.n_nodes)
    low, high = gf.FilterBank.two_channel(graph, family).analyze(x)
    got = FilterBankTransformer(graph, family=family).fit_transform(x)
    np.testing.assert_array_equal(got, np.hstack([low, high]))


@given(graphs(min_nodes=2))
def test_an_adjacency_is_as_good_as_its_graph_and_sparse_stays_sparse(graph):
    x = points(graph.n_nodes)
    want = FilterBankTransformer(graph).fit_transform(x)
    got = FilterBankTransformer(graph.adjacency).fit_transform(sparse.csr_array(x))
    assert sparse.issparse(got)
    np.testing.assert_allclose(got.toarray(), want, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "bands"),
    [
        ({"channels": "low"}, ["low"]),
        ({"channels": "high", "levels": 2}, ["high2", "high1"]),
        ({"levels": 2}, ["low", "high2", "high1"]),
        ({"kernels": [gf.filters.heat(2.0), *gf.filters.itersine(2)]}, ["heat(2)", "itersine/0", "itersine/1"]),
    ],
)
def test_bands_and_their_names(options, bands):
    x = pd.DataFrame(points(12, 2), columns=["a", "b"])
    made = FilterBankTransformer(RING, **options).set_output(transform="pandas").fit(x)
    out = made.transform(x)
    assert out.shape == (12, 2 * len(bands))
    assert list(made.bands_) == bands
    assert list(out.columns) == [f"{band}_{name}" for band in bands for name in ("a", "b")]


def test_kernels_are_the_filter_bank():
    kernels = gf.filters.itersine(3)
    want = gf.FilterBank(gf.operator(RING, "sym", channel="high"), kernels).analyze(points(12))
    got = FilterBankTransformer(RING, family="sym", kernels=kernels).fit_transform(points(12))
    np.testing.assert_array_equal(got.reshape(12, 3, 3), want.transpose(0, 2, 1))


def test_levels_add_up_to_the_input():
    x = points(12)
    bands = FilterBankTransformer(RING, levels=3).fit_transform(x).reshape(12, 4, 3)
    np.testing.assert_allclose(bands.sum(axis=1), x, atol=1e-14)


def test_without_a_graph_low_is_the_mean_of_the_nearest_rows():
    train, new = points(40), points(7, seed=1)
    low = FilterBankTransformer(family="rw", channels="low", n_neighbors=5).fit(train)
    nearest = NearestNeighbors(n_neighbors=5).fit(train).kneighbors(new, return_distance=False)
    np.testing.assert_allclose(low.transform(new), train[nearest].mean(axis=1), atol=1e-14)


@given(families())
def test_a_training_row_given_again_is_what_it_was(family):
    """The law that makes fit_transform and transform one thing, whatever rows come together."""
    x = points(30)
    made = FilterBankTransformer(family=family, n_neighbors=4)
    whole = made.fit_transform(x)
    np.testing.assert_allclose(made._bank(made.graph_).analyze(x), np.split(whole, 2, axis=1), atol=1e-12)
    np.testing.assert_allclose(made.transform(x[[17]]), whole[[17]], atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_node_numbers_choose_rows(kind):
    x = points(12)
    every = FilterBankTransformer(RING).fit_transform(x)
    chosen = FilterBankTransformer(RING, features=kind(x)).fit([[3], [5]])
    got = chosen.transform([[3], [5], [3]])
    np.testing.assert_allclose(got.toarray() if sparse.issparse(got) else got, every[[3, 5, 3]], atol=1e-14)
    assert len(chosen.get_feature_names_out()) == 6


def test_names_come_from_the_features_where_x_holds_numbers():
    frame = pd.DataFrame(points(12, 2), columns=["age", "size"])
    made = FilterBankTransformer(RING, features=frame).fit([[0]])
    assert made.get_feature_names_out().tolist() == ["low_age", "low_size", "high_age", "high_size"]


def test_grid_search_over_the_filter_of_a_given_graph():
    """Classes differ in the high channel alone: a ring whose classes alternate."""
    y = np.arange(12) % 2
    x = (2.0 * y - 1.0)[:, None] + 5.0
    search = GridSearchCV(
        make_pipeline(FilterBankTransformer(RING, features=x), LogisticRegression()),
        {"filterbanktransformer__channels": ["low", "high"]},
        cv=3,
    )
    search.fit(np.arange(12)[:, None], y)
    assert search.best_params_ == {"filterbanktransformer__channels": "high"}
    assert search.best_score_ == 1.0


def test_pipelines_unions_and_columns():
    x = pd.DataFrame(points(12), columns=["a", "b", "c"])
    chain = make_pipeline(StandardScaler(), FilterBankTransformer(RING)).set_output(transform="pandas")
    assert list(chain.fit_transform(x).columns) == [f"{band}_{name}" for band in ("low", "high") for name in "abc"]
    both = make_union(StandardScaler(), FilterBankTransformer(RING))
    assert both.fit_transform(x).shape == (12, 9)
    part = ColumnTransformer([("bank", FilterBankTransformer(RING), ["a"])], remainder="passthrough")
    assert part.fit(x).get_feature_names_out().tolist() == [
        "bank__low_a",
        "bank__high_a",
        "remainder__b",
        "remainder__c",
    ]


@pytest.mark.parametrize("options", [{}, {"graph": RING}, {"graph": RING, "features": points(12)}])
def test_clone_and_pickle_keep_the_result(options):
    made = FilterBankTransformer(**options)
    X = np.arange(12.0)[:, None] if "features" in options else points(12)
    want = made.fit_transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).transform(X), want)
    np.testing.assert_array_equal(clone(made).fit_transform(X), want)
    assert clone(made).set_params(gamma=2.0).get_params()["gamma"] == 2.0


def test_float32_stays():
    assert FilterBankTransformer(RING).fit_transform(points(12).astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("options", "X", "error", "message"),
    [
        ({"graph": RING}, points(5), SignalError, r"X has 5 rows but the graph has 12 nodes.*features="),
        ({"graph": RING, "features": points(5)}, [[0]], SignalError, "features have 5 rows but the graph has 12"),
        ({"graph": RING, "features": points(12)}, [[12]], SignalError, r"row 0 of X is 12; node numbers are 0\.\.11"),
        ({"graph": RING, "features": points(12)}, [[0.5]], SignalError, r"row 0 of X is 0\.5"),
        ({"graph": RING, "features": points(12)}, [[1, 2]], SignalError, "X has 2 columns"),
        ({"features": points(12)}, [[1]], ParameterError, "give graph="),
        ({"graph": RING, "channels": "hgih"}, points(12), ParameterError, "did you mean 'high'"),
        ({"graph": RING, "family": "gcn"}, points(12), ParameterError, "unknown family 'gcn'"),
        ({"graph": RING, "levels": 0}, points(12), ParameterError, "levels must be an integer >= 1"),
        ({"n_neighbors": 0}, points(12), ParameterError, "n_neighbors must be an integer >= 1"),
        ({"kernels": [gf.filters.heat(1.0)]}, points(12), GraphError, "directed"),
        ({"graph": [[0, 1], [0, 0]]}, points(2), GraphError, "not symmetric"),
    ],
)
def test_errors_name_the_value_and_the_remedy(options, X, error, message):
    with pytest.raises(error, match=message):
        FilterBankTransformer(**options).fit(X)
