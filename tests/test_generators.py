"""Generators with coordinates, products and line graphs: PyGSP, networkx and closed forms as oracles."""

import sys

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import cdist

import gsp_fb as gf
from gsp_fb import datasets
from gsp_fb._points import nearest_neighbours
from gsp_fb.errors import GraphError, ParameterError

SAME_AS_PYGSP = {
    "ring": (lambda: datasets.ring(12), lambda g: g.Ring(12)),
    "ring with 3 neighbours": (lambda: datasets.ring(12, 3), lambda g: g.Ring(12, k=3)),
    "comet": (lambda: datasets.comet(20, 7), lambda g: g.Comet(20, 7)),
    "path": (lambda: datasets.path(9), lambda g: g.Path(9)),
    "grid": (lambda: datasets.grid(4, 6), lambda g: g.Grid2d(4, 6)),
    "torus": (lambda: datasets.torus(5, 7), lambda g: g.Torus(7, 5)),
    "full": (lambda: datasets.complete(7), lambda g: g.FullConnected(7)),
    "star": (lambda: datasets.star(8), lambda g: g.Comet(8, 7)),
}


@pytest.mark.parametrize("name", SAME_AS_PYGSP)
def test_regular_graphs_are_pygsps(name):
    pygsp = pytest.importorskip("pygsp")
    ours, theirs = (made() if i == 0 else made(pygsp.graphs) for i, made in enumerate(SAME_AS_PYGSP[name]))
    np.testing.assert_array_equal(ours.adjacency.toarray(), theirs.W.toarray())


def test_comet_and_torus_have_pygsps_coordinates():
    pygsp = pytest.importorskip("pygsp")
    np.testing.assert_allclose(datasets.comet(20, 7).coordinates, pygsp.graphs.Comet(20, 7).coords, atol=1e-12)
    ours, theirs = datasets.torus(5, 7).coordinates, pygsp.graphs.Torus(5, 7).coords
    np.testing.assert_allclose(np.sort(cdist(ours, ours).ravel()), np.sort(cdist(theirs, theirs).ravel()), atol=1e-12)


def test_random_rings_are_pygsps_at_the_same_angles():
    pygsp = pytest.importorskip("pygsp")
    ours = datasets.random_ring(15, rng=3)
    angles = np.sort(np.arctan2(*ours.coordinates.T[::-1]) % (2 * np.pi))
    theirs = pygsp.graphs.RandomRing(angles=angles)
    np.testing.assert_allclose(ours.adjacency.toarray(), theirs.W.toarray(), rtol=1e-9)


@pytest.mark.parametrize(
    "name", sorted(set(datasets.SYNTHETIC) - {"community", "erdos_renyi", "barabasi_albert", "contextual_sbm"})
)
def test_generators_place_their_nodes(name):
    made = datasets.SYNTHETIC[name](16)
    assert made.coordinates.shape in {(made.n_nodes, 2), (made.n_nodes, 3)}


@pytest.mark.parametrize(
    "make",
    [
        datasets.sphere,
        datasets.cube,
        datasets.swiss_roll,
        datasets.two_moons,
        datasets.road,
        datasets.random_ring,
        datasets.random_regular,
        datasets.david_sensor_net,
        datasets.sensor,
    ],
)
def test_a_seed_decides_the_graph_and_its_places(make):
    first, again, other = make(40, rng=1), make(40, rng=1), make(40, rng=2)
    assert first.sha256 == again.sha256 != other.sha256
    np.testing.assert_array_equal(first.coordinates, again.coordinates)


def test_nearest_neighbours_are_the_nearest():
    graph = datasets.sphere(80, rng=0, n_neighbors=4)
    distances = cdist(graph.coordinates, graph.coordinates)
    near = np.argsort(distances, axis=1)[:, 1:5]
    wanted = np.zeros((80, 80), dtype=bool)
    wanted[np.arange(80)[:, None], near] = True
    np.testing.assert_array_equal(graph.adjacency.toarray() > 0, wanted | wanted.T)
    np.testing.assert_allclose(np.linalg.norm(graph.coordinates, axis=1), 1.0)


@pytest.mark.parametrize("copies", [2, 3, 9])
def test_points_that_coincide_are_neighbours_of_each_other(copies):
    points = np.repeat(np.random.default_rng(0).random((6, 2)), copies, axis=0)
    row, col, distance = nearest_neighbours(points, 3)
    assert np.bincount(row).tolist() == [3] * len(points)
    assert np.all(row != col)
    wanted = np.sort(cdist(points, points), axis=1)[:, 1:4]
    np.testing.assert_allclose(np.sort(distance.reshape(-1, 3), axis=1), wanted, atol=1e-15)


def test_generated_clouds_are_graphs_of_points():
    cloud = datasets.sphere(60, rng=0, n_neighbors=5)
    graph = gf.Graph.from_points(cloud.coordinates, k=5)
    np.testing.assert_array_equal(graph.adjacency.toarray() > 0, cloud.adjacency.toarray() > 0)


@pytest.mark.parametrize("dimensions", [2, 40])
def test_nearest_neighbours_need_no_scikit_learn(dimensions, monkeypatch):
    points = np.random.default_rng(0).random((50, dimensions))
    graph = gf.Graph.from_points(points, k=4)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.neighbors", None)
    again = gf.Graph.from_points(points, k=4)
    np.testing.assert_allclose(again.adjacency.toarray(), graph.adjacency.toarray(), rtol=1e-12)


def test_points_without_dimensions_are_refused():
    with pytest.raises(GraphError, match=r"shape \(5, 0\)"):
        gf.Graph.from_points(np.empty((5, 0)), k=2)


def test_the_radius_graph_is_that_of_all_pairs():
    graph = datasets.david_sensor_net(60, rng=0)
    distances = cdist(graph.coordinates, graph.coordinates)
    near = (distances <= 2 / np.sqrt(60)) & ~np.eye(60, dtype=bool)
    weights = np.where(near, np.exp(np.log(0.6) * 60 * distances**2 / 4), 0.0)
    np.testing.assert_allclose(graph.adjacency.toarray(), weights, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 60])
def test_roads_are_the_relative_neighbourhood_graph(n):
    graph = datasets.road(n, rng=0)
    distances = cdist(graph.coordinates, graph.coordinates)
    wanted = [
        (i, j)
        for i in range(n)
        for j in range(i + 1, n)
        if not any(max(distances[i, k], distances[j, k]) < distances[i, j] for k in range(n) if k not in (i, j))
    ]
    source, target, _ = graph.edges()
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == wanted
    assert graph.n_components == 1
    assert nx.check_planarity(nx.Graph(wanted))[0]


def test_the_low_stretch_tree_spans_the_grid():
    tree, grid = datasets.low_stretch_tree(4), datasets.grid(16)
    assert (tree.n_nodes, tree.n_edges, tree.n_components) == (256, 255, 1)
    assert not (tree.adjacency - tree.adjacency.multiply(grid.adjacency)).count_nonzero()
    hops = dict(nx.all_pairs_shortest_path_length(nx.Graph(gf.to_networkx(tree))))
    source, target, _ = grid.edges()
    assert np.mean([hops[i][j] for i, j in zip(source.tolist(), target.tolist(), strict=True)]) < 8


def test_random_regular_graphs_are_regular_and_labels_are_kept():
    assert set(datasets.random_regular(30, 4, rng=0).degrees.tolist()) == {4.0}
    moons = datasets.two_moons(100, rng=0)
    source, target, _ = moons.edges()
    assert np.mean(moons.nodes["moon"][source] == moons.nodes["moon"][target]) > 0.95
    assert datasets.swiss_roll(50, rng=0).nodes["position"].shape == (50,)


def test_images_become_grids_and_patch_graphs():
    image = np.random.default_rng(0).random((5, 7, 3))
    grid = datasets.image_grid(image, bandwidth=0.5)
    assert grid.nodes["value_2"].tolist() == image[:, :, 2].ravel().tolist()
    difference = np.sum((image[0, 0] - image[0, 1]) ** 2)
    assert grid.adjacency[0, 1] == pytest.approx(np.exp(-difference / 0.5))
    assert (grid.adjacency > 0).sum() == (datasets.grid(5, 7).adjacency > 0).sum()
    assert grid.coordinates[8].tolist() == [1.0, 3.0]
    patches = datasets.image_patches(np.tile([[0.0, 1.0]], (6, 4)), patch=3, n_neighbors=4)
    assert patches.n_nodes == 48
    source, target, _ = patches.edges()
    assert (patches.nodes["value"][source] == patches.nodes["value"][target]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.ring(5, 3), "n / 2"),
        (lambda: datasets.comet(5, 5), "less than n"),
        (lambda: datasets.random_regular(5, 3), "even"),
        (lambda: datasets.low_stretch_tree(20), "4\\^20"),
        (lambda: datasets.image_grid([1.0, 2.0]), "height"),
        (lambda: datasets.image_grid([[np.nan]]), "finite"),
        (lambda: datasets.image_patches(np.eye(4), patch=2), "odd"),
        (lambda: datasets.torus(2), "n must be"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


PRODUCTS = {
    gf.cartesian_product: nx.cartesian_product,
    gf.tensor_product: nx.tensor_product,
    gf.strong_product: nx.strong_product,
}


@pytest.mark.parametrize("ours", PRODUCTS)
def test_products_are_those_of_networkx(ours):
    pairs = [(datasets.path(3), nx.path_graph(3)), (datasets.ring(5), nx.cycle_graph(5))]
    order = [(i, j) for i in range(3) for j in range(5)]
    wanted = nx.to_numpy_array(PRODUCTS[ours](pairs[0][1], pairs[1][1]), nodelist=order)
    np.testing.assert_array_equal(ours(pairs[0][0], pairs[1][0]).adjacency.toarray(), wanted)


def test_frequencies_of_a_cartesian_product_are_sums():
    first, second = datasets.sensor(7, rng=0), datasets.ring(4)
    values = [gf.spectrum(gf.operator(g, "comb", "high")).frequencies for g in (first, second)]
    product = gf.cartesian_product(first, second)
    found = gf.spectrum(gf.operator(product, "comb", "high")).frequencies
    np.testing.assert_allclose(found, np.sort(np.add.outer(*values).ravel()), atol=1e-12)
    np.testing.assert_array_equal(
        gf.cartesian_product(datasets.path(3), datasets.path(4)).coordinates, datasets.grid(3, 4).coordinates
    )
    with pytest.raises(GraphError, match="directed"):
        gf.cartesian_product(first, gf.Graph.from_edges([(0, 1)], directed=True))


def test_line_graphs_are_those_of_networkx():
    graph = datasets.sensor(20, rng=0)
    line = gf.line_graph(graph)
    source, target, _ = graph.edges()
    edges = list(zip(source.tolist(), target.tolist(), strict=True))
    theirs = nx.relabel_nodes(nx.line_graph(nx.Graph(edges)), lambda edge: tuple(sorted(edge)))
    wanted = nx.to_numpy_array(theirs, nodelist=edges)
    np.testing.assert_array_equal(line.adjacency.toarray(), wanted)
    np.testing.assert_allclose(line.coordinates, (graph.coordinates[source] + graph.coordinates[target]) / 2)
    assert gf.line_graph(gf.Graph.from_edges([(0, 0), (0, 1)])).n_edges == 1
    with pytest.raises(GraphError, match="symmetrize="):
        gf.line_graph(gf.Graph.from_edges([(0, 1)], directed=True))


@pytest.mark.parametrize("kind", ["cartesian", "tensor", "strong"])
@pytest.mark.parametrize("q", [None, 0.25], ids=["signed", "magnetic"])
def test_products_of_signed_and_magnetic_graphs_are_their_formula(q, kind):
    signed = gf.Graph.from_edges([(0, 1), (1, 2)], [1.0, -2.0], signed=True)
    first = signed if q is None else gf.Graph.from_edges([(0, 1), (1, 2)], directed=True).magnetic(q)
    A, B = (graph.adjacency.toarray() for graph in (first, signed))
    cartesian, tensor = np.kron(A, np.eye(3)) + np.kron(np.eye(3), B), np.kron(A, B)
    wanted = {"cartesian": cartesian, "tensor": tensor, "strong": cartesian + tensor}[kind]
    assert np.allclose(getattr(gf, f"{kind}_product")(first, signed).adjacency.toarray(), wanted, atol=1e-15)
