"""The generators: closed forms against networkx and known spectra, random ones against their laws."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gsp_fb import Graph, datasets
from gsp_fb.datasets.sbm import distinct_pairs
from gsp_fb.errors import ParameterError

CLOSED_FORMS = {
    "ring": (datasets.ring, nx.cycle_graph),
    "path": (datasets.path, nx.path_graph),
    "star": (datasets.star, lambda n: nx.star_graph(n - 1)),
    "complete": (datasets.complete, nx.complete_graph),
    "square": (datasets.grid, lambda n: nx.grid_2d_graph(n, n)),
    "grid": (lambda n: datasets.grid(n, n + 2), lambda n: nx.grid_2d_graph(n, n + 2)),
}
RANDOM = {
    "sensor": datasets.sensor,
    "erdos_renyi": lambda n, rng: datasets.erdos_renyi(n, 0.1, rng),
    "barabasi_albert": lambda n, rng: datasets.barabasi_albert(n, 3, rng),
    "community": lambda n, rng: datasets.community(n, 4, rng, degree=6),
    "contextual_sbm": lambda n, rng: datasets.contextual_sbm(n, 3, degree=6, rng=rng).graph,
}


def laplacian_spectrum(graph: Graph) -> np.ndarray:
    return np.linalg.eigvalsh(np.diag(graph.degrees) - graph.adjacency.toarray())


def edge_homophily(graph: Graph, y: np.ndarray) -> float:
    upper = sparse.triu(graph.adjacency, k=1).tocoo()
    return float(np.mean(y[upper.row] == y[upper.col]))


@pytest.mark.parametrize("name", CLOSED_FORMS)
@pytest.mark.parametrize("n", [3, 4, 7])
def test_closed_forms_are_those_of_networkx(name, n):
    ours, theirs = CLOSED_FORMS[name][0](n), CLOSED_FORMS[name][1](n)
    assert np.array_equal(ours.adjacency.toarray(), nx.to_numpy_array(theirs))
    assert not ours.is_weighted


@pytest.mark.parametrize("n", [3, 6, 11])
def test_closed_forms_have_the_spectra_of_their_docstrings(n):
    k = np.arange(n)
    path = 2 - 2 * np.cos(np.pi * k / n)
    expected = {
        "ring": 2 - 2 * np.cos(2 * np.pi * k / n),
        "path": path,
        "grid": np.add.outer(path, path).ravel(),
        "star": np.array([0.0] + [1.0] * (n - 2) + [n]),
        "complete": np.array([0.0] + [n] * (n - 1)),
    }
    for name, spectrum in expected.items():
        found = laplacian_spectrum(datasets.SYNTHETIC[name](n))
        assert found == pytest.approx(np.sort(spectrum), abs=1e-12 * n**2)


def test_the_smallest_graphs():
    assert datasets.path(1).n_edges == datasets.star(1).n_edges == datasets.complete(1).n_edges == 0
    assert datasets.grid(1).n_nodes == datasets.sensor(1).n_nodes == datasets.erdos_renyi(1).n_nodes == 1
    assert datasets.sensor(2, rng=0).n_edges == 1
    with pytest.raises(ParameterError, match="n must be an integer >= 3"):
        datasets.ring(2)


@pytest.mark.parametrize("name", datasets.SYNTHETIC)
def test_every_generator_of_the_table_works_from_a_size_alone(name):
    made = datasets.SYNTHETIC[name](30)
    graph = made if isinstance(made, Graph) else made.graph
    assert graph.n_nodes == (900 if name in ("grid", "torus") else 30)
    for bad in (0, -3, 2.5, True, "7"):
        with pytest.raises(ParameterError, match="must be an integer"):
            datasets.SYNTHETIC[name](bad)


@pytest.mark.parametrize("name", RANDOM)
def test_the_same_seed_gives_the_same_graph_and_global_state_is_left_alone(name):
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state is what is checked
    first, again, other = (RANDOM[name](60, seed).sha256 for seed in (1, 1, 2))
    assert first == again != other
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002 - as above
    assert RANDOM[name](60, np.random.default_rng(1)).sha256 == first


def test_erdos_renyi_has_binomial_many_edges():
    n, p, draws = 12, 0.3, 300
    rng = np.random.default_rng(0)
    found = np.array([datasets.erdos_renyi(n, p, rng).n_edges for _ in range(draws)])
    variance = 66 * p * (1 - p)
    assert abs(found.mean() - 66 * p) < 5 * np.sqrt(variance / draws)
    assert found.var() == pytest.approx(variance, rel=0.4)
    assert datasets.erdos_renyi(9, 0).n_edges == 0
    assert datasets.erdos_renyi(9, 1).n_edges == 36


def test_pairs_are_distinct_and_none_is_favoured():
    counts, first = np.array([0, 2, 0, 3, 1]), np.array([0, 5, 0, 1, 7])
    allowed = [(5, 1), (6, 1), (1, 3), (2, 3), (3, 3), (7, 4)]
    rng, draws = np.random.default_rng(0), 4000
    seen = dict.fromkeys(allowed, 0)
    for _ in range(draws):
        drawn = list(zip(*(ends.tolist() for ends in distinct_pairs(counts, first, 2, rng)), strict=True))
        assert len(set(drawn)) == 2
        for pair in drawn:
            seen[pair] += 1
    share = np.array(list(seen.values())) / draws
    assert np.abs(share - 1 / 3).max() < 5 * np.sqrt(2 / 9 / draws)


def test_sensors_are_joined_to_their_nearest_and_weights_fall_with_distance():
    n, seed = 80, 3
    points = np.random.default_rng(seed).random((n, 2))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.argsort(distance, axis=1)[:, 1:7]
    expected = np.zeros((n, n), dtype=bool)
    expected[np.repeat(np.arange(n), 6), near.ravel()] = True
    dense = datasets.sensor(n, seed).adjacency.toarray()
    assert np.array_equal(dense > 0, expected | expected.T)
    scale = distance[np.repeat(np.arange(n), 6), near.ravel()].mean()
    assert dense[dense > 0] == pytest.approx(np.exp(-(distance[dense > 0] ** 2) / (2 * scale**2)))


def test_barabasi_albert_grows_by_m_edges_a_node_and_has_hubs():
    graph = datasets.barabasi_albert(500, 2, rng=0)
    assert graph.n_edges == 2 * 498
    assert graph.n_components == 1
    assert graph.degrees.max() > 10 * np.median(graph.degrees)
    with pytest.raises(ParameterError, match="m must be less than n"):
        datasets.barabasi_albert(5, 5)


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(20, 60),
    n_classes=st.integers(2, 5),
    homophily=st.floats(0, 1),
    degree=st.floats(0.1, 1.5),
    seed=st.integers(0, 2**31),
)
def test_block_model_has_as_many_distinct_edges_as_asked_for(n, n_classes, homophily, degree, seed):
    ds = datasets.contextual_sbm(n, n_classes, degree=degree, homophily=homophily, n_features=3, rng=seed)
    assert ds.graph.n_edges == round(n * degree / 2)
    assert ds.graph.n_loops == 0
    assert not ds.graph.is_weighted
    sizes = np.bincount(ds.y, minlength=n_classes)
    assert len(sizes) == n_classes
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(("homophily", "n_classes"), [(0.0, 2), (0.1, 3), (0.5, 2), (0.8, 5), (1.0, 4)])
def test_mean_edge_homophily_is_the_chosen_one(homophily, n_classes):
    rng, draws, n, degree = np.random.default_rng(1), 100, 100, 4.0
    found = [
        edge_homophily(ds.graph, ds.y)
        for ds in (
            datasets.contextual_sbm(n, n_classes, degree=degree, homophily=homophily, n_features=1, n_splits=1, rng=rng)
            for _ in range(draws)
        )
    ]
    n_edges = n * degree / 2
    deviation = np.sqrt(homophily * (1 - homophily) / n_edges / draws)
    assert abs(np.mean(found) - homophily) <= 5 * deviation + 1e-12


def test_features_follow_the_class_as_much_as_the_signal_says():
    kwargs = {"n_features": 400, "n_splits": 1}
    silent = datasets.contextual_sbm(2000, 2, signal=0, rng=0, **kwargs)
    loud = datasets.contextual_sbm(2000, 2, signal=3, rng=0, **kwargs)
    for ds, squared_norm in ((silent, 1.0), (loud, 10.0)):
        assert np.mean(np.sum(ds.x**2, axis=1)) == pytest.approx(squared_norm, rel=0.15)
    gap = [np.linalg.norm(ds.x[ds.y == 0].mean(axis=0) - ds.x[ds.y == 1].mean(axis=0)) for ds in (silent, loud)]
    assert gap[0] < 0.1
    assert gap[1] == pytest.approx(3 * np.sqrt(2), rel=0.15)


def test_block_model_of_one_class_is_all_homophily():
    ds = datasets.contextual_sbm(12, 1, degree=3, homophily=1, rng=0)
    assert (ds.graph.n_edges, ds.n_classes) == (18, 1)


def test_block_model_is_a_whole_data_set():
    ds = datasets.contextual_sbm(90, 3, rng=0)
    assert [split.sizes for split in ds.splits] == [(54, 18, 18)] * 10
    assert (ds.info.kind, ds.info.nodes, ds.info.class_counts) == ("synthetic", 90, (30, 30, 30))
    assert "homophily 0.8" in ds.info.title


def test_a_hundred_thousand_nodes_have_the_edges_and_homophily_asked_for():
    ds = datasets.contextual_sbm(100_000, 5, degree=20, homophily=0.3, n_features=2, n_splits=1, rng=0)
    assert ds.graph.n_edges == 1_000_000
    assert edge_homophily(ds.graph, ds.y) == pytest.approx(0.3, abs=0.005)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"homophily": 1.2}, "homophily must be between 0 and 1"),
        ({"homophily": -0.1}, "homophily must be a finite number >= 0, not -0.1"),
        ({"homophily": True}, "homophily must be a finite number >= 0, not True"),
        ({"homophily": "high"}, "homophily must be a finite number >= 0, not 'high'"),
        ({"degree": 0}, "degree must be finite and > 0"),
        ({"degree": 18.0, "homophily": 1.0}, "90 edges requested but only 20 pairs exist"),
        ({"n_classes": 1, "degree": 2.0, "homophily": 0.0}, "10 edges requested but only 0 pairs exist"),
        ({"n_classes": 11}, "11 classes for 10 nodes"),
        ({"signal": float("nan")}, "signal must be a finite number >= 0, not nan"),
        ({"n_features": 0}, "n_features must be an integer"),
        ({"rng": "seed"}, "rng must be None"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        datasets.contextual_sbm(10, **options)


def test_closed_forms_need_no_optional_library():
    script = (
        "import sys; from gsp_fb import datasets as d;"
        "d.ring(5), d.grid(3), d.contextual_sbm(50, degree=4), d.erdos_renyi(20), d.sensor(20);"
        "print({'networkx', 'pooch', 'tqdm', 'requests', 'torch', 'pandas'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"
