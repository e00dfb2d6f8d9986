"""The embedding against the spectrum of the core and against scikit-learn's own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.manifold import SpectralEmbedding, spectral_embedding
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.estimators import GraphSpectralEmbedding
from gsp_fb.testing import families, graphs

RING = gf.Graph.from_edges([(i, (i + 1) % 12) for i in range(12)])


def weighted_path(n_nodes):
    """Distinct eigenvalues, hence modes that are unique up to a factor."""
    return gf.Graph.from_edges([(i, i + 1) for i in range(n_nodes - 1)], weights=np.arange(1.0, n_nodes))


def unit(columns):
    """Return the columns with length 1 and a positive largest entry."""
    scaled = columns / np.linalg.norm(columns, axis=0)
    return scaled * np.sign(scaled[np.abs(scaled).argmax(axis=0), range(scaled.shape[1])])


@given(graphs(min_nodes=3), families())
def test_coordinates_are_eigenvectors(graph, family):
    made = GraphSpectralEmbedding(graph, family=family).fit(np.zeros((graph.n_nodes, 1)))
    L = gf.operator(graph, family, channel="high").to_scipy().toarray()
    scale = max(1.0, np.abs(L).max()) * max(1.0, np.abs(made.embedding_).max())
    residual = L @ made.embedding_ - made.embedding_ * made.frequencies_
    assert np.abs(residual).max() <= 64 * np.finfo(float).eps * graph.n_nodes * scale * np.linalg.norm(L)


def test_it_is_scikit_learns_embedding_of_the_same_graph():
    graph = weighted_path(9)
    theirs = spectral_embedding(graph.adjacency.toarray(), n_components=3, drop_first=True, random_state=0)
    ours = GraphSpectralEmbedding(graph, n_components=3).fit_transform(np.zeros((9, 1)))
    np.testing.assert_allclose(unit(ours), unit(theirs), atol=1e-8)


def test_it_is_scikit_learns_embedding_of_the_same_points():
    x = np.random.default_rng(0).standard_normal((60, 3))
    theirs = SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=8, random_state=0).fit_transform(x)
    ours = GraphSpectralEmbedding(n_components=2, n_neighbors=8).fit_transform(x)
    np.testing.assert_allclose(unit(ours), unit(theirs), atol=1e-6)


def test_ends_of_the_frequency_axis():
    X = np.zeros((12, 1))
    low = GraphSpectralEmbedding(RING, n_components=1, drop_first=False).fit(X)
    high = GraphSpectralEmbedding(RING, n_components=1, which="high").fit(X)
    assert low.frequencies_ == pytest.approx(0.0)
    assert high.frequencies_ == pytest.approx(2.0)
    assert np.ptp(low.embedding_) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_array_equal(np.sign(high.embedding_[::2]), -np.sign(high.embedding_[1::2]))


def test_rows_that_were_seen_keep_their_place_and_new_ones_lie_between_neighbours():
    x, _ = make_moons(80, noise=0.05, random_state=0)
    made = GraphSpectralEmbedding(n_neighbors=6)
    np.testing.assert_allclose(made.fit_transform(x), made.embedding_, atol=1e-12)
    new = made.transform(x[:5] + 1e-9)
    np.testing.assert_allclose(new, made.embedding_[:5], atol=1e-6)


def test_it_tells_the_moons_apart_in_a_pipeline():
    x, y = make_moons(150, noise=0.05, random_state=0)
    chain = make_pipeline(GraphSpectralEmbedding(n_components=1), KMeans(2, n_init=5, random_state=0))
    assert adjusted_rand_score(y, chain.fit_predict(x)) > 0.95


def test_names_pickles_and_numbers():
    made = GraphSpectralEmbedding(RING, n_components=3, numbered=True).set_output(transform="pandas").fit([[0]])
    assert made.get_feature_names_out().tolist() == [f"graphspectralembedding{k}" for k in range(3)]
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.transform([[4], [2]]), made.embedding_[[4, 2]])


@given(graphs(min_nodes=1, max_nodes=4))
def test_too_many_modes_are_refused_with_the_number_of_nodes(graph):
    assume(graph.n_nodes > 1)
    with pytest.raises(ParameterError, match=f"n_components=4 modes after the first requested of {graph.n_nodes}"):
        GraphSpectralEmbedding(graph, n_components=4).fit(np.zeros((graph.n_nodes, 1)))


@pytest.mark.parametrize(
    ("options", "X", "error", "message"),
    [
        ({"graph": RING}, np.zeros((5, 1)), SignalError, "X has 5 rows but the graph has 12 nodes"),
        ({"graph": RING, "numbered": True}, [[-1]], SignalError, "row 0 of X is -1"),
        ({"numbered": True}, [[1]], ParameterError, "give their graph="),
        ({"graph": RING, "which": "mid"}, np.zeros((12, 1)), ParameterError, "unknown which 'mid'"),
        ({"graph": RING, "n_components": 0}, np.zeros((12, 1)), ParameterError, "n_components must be"),
        (
            {"graph": gf.Graph.from_edges([(0, 1), (1, 2)], directed=True), "n_components": 1},
            np.zeros((3, 1)),
            GraphError,
            "symmetrize=",
        ),
    ],
)
def test_errors_name_the_value_and_the_remedy(options, X, error, message):
    with pytest.raises(error, match=message):
        GraphSpectralEmbedding(**options).fit(X)
