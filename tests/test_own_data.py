"""One's own data in, predictions by name out: tables, points, Arrow, AnnData-like objects and the command line."""

from __future__ import annotations

import base64
import contextlib
import csv
import io
import json
import re
import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.neighbors import kneighbors_graph

import gsp_fb as gf
from gsp_fb.cli import main
from gsp_fb.datasets import Dataset, read
from gsp_fb.errors import FormatError, GraphError, GspWarning, ParameterError
from gsp_fb.outofcore import write_folder


@pytest.fixture
def cities():
    graph = gf.Graph.from_edges([(0, 1), (1, 2)], [2.0, 3.5], n_nodes=4, nodes=("Rome", "Oslo", "Bern", "Kyiv"))
    columns = {"size": [3, 1, 2, 4], "speed": [1.5, np.nan, 0.1, 2.0], "kind": ["a", None, "b & <c>", "é"]}
    return graph.with_nodes(columns | {"capital": [True, True, False, True]}).with_coordinates(np.eye(4)[:, :2])


@pytest.mark.parametrize("suffix", [".npz", ".graphml", ".gml", ".csv", ".tsv.gz", ".parquet", ".npyd"])
def test_a_file_keeps_the_node_table(cities, suffix, tmp_path):
    path = tmp_path / f"cities{suffix}"
    if suffix == ".npyd":
        write_folder(cities, path)
        found = gf.open_graph(path)
        assert found.load().nodes["size"].tolist() == [3, 1, 2, 4]
    else:
        gf.write_graph(cities, path)
        found = gf.read_graph(path)
    assert found.labels == cities.labels
    np.testing.assert_array_equal(found.coordinates, cities.coordinates)
    np.testing.assert_array_equal(found.nodes["size"], cities.nodes["size"])
    np.testing.assert_array_equal(found.nodes["speed"], cities.nodes["speed"])
    assert [cell or None for cell in found.nodes["kind"].tolist()] == cities.nodes["kind"].tolist()


def test_a_format_without_node_tables_names_what_it_omits(cities, tmp_path):
    with pytest.warns(GspWarning, match="cannot store labels, coordinates, node columns size, speed, kind, capital"):
        gf.write_graph(cities, tmp_path / "a.mtx")


def test_a_damaged_node_table_is_refused(cities, tmp_path):
    write_folder(cities, tmp_path / "a.npyd")
    file = tmp_path / "a.npyd" / "nodes.json"
    table = json.loads(file.read_text())
    table["nodes"]["columns"]["size"][1] = [1]
    file.write_text(json.dumps(table))
    with pytest.raises(FormatError, match=r"nodes\.json: broken node table"):
        gf.open_graph(tmp_path / "a.npyd")


def test_networkx_and_igraph_keep_attributes(cities):
    for there, back in ((gf.to_networkx, gf.from_networkx), (gf.to_igraph, gf.from_igraph)):
        found = back(there(cities))
        assert found.labels == cities.labels
        np.testing.assert_array_equal(found.coordinates, cities.coordinates)
        np.testing.assert_array_equal(found.nodes["size"], cities.nodes["size"])
        assert found.nodes["kind"].tolist() == cities.nodes["kind"].tolist()


def test_pygsp_coordinates():
    pygsp = pytest.importorskip("pygsp")
    sensor = pygsp.graphs.Sensor(20, seed=1)
    np.testing.assert_array_equal(gf.from_pygsp(sensor).coordinates, sensor.coords)


@pytest.mark.parametrize("mutual", [False, True])
def test_nearest_neighbours_are_those_of_scikit_learn(mutual):
    points = np.random.default_rng(0).random((40, 2))
    A = kneighbors_graph(points, 4).toarray()
    graph = gf.Graph.from_points(points, k=4, weight="binary", mutual=mutual)
    np.testing.assert_array_equal(graph.adjacency.toarray(), np.minimum(A, A.T) if mutual else np.maximum(A, A.T))
    np.testing.assert_array_equal(graph.coordinates, points)


def test_gaussian_weights_do_not_depend_on_the_unit():
    points = pd.DataFrame(np.random.default_rng(0).random((30, 3)), index=[f"p{i}" for i in range(30)])
    metres, miles = (gf.Graph.from_points(points * unit, radius=0.5 * unit) for unit in (1.0, 1609.344))
    np.testing.assert_allclose(metres.weights, miles.weights, rtol=1e-12)
    assert metres.labels[:2] == ("p0", "p1")
    lengths = gf.Graph.from_points(points, radius=0.5, weight="distance").weights
    np.testing.assert_allclose(metres.weights, np.exp(-(lengths**2) / (2 * lengths.mean() ** 2)), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ParameterError, "exactly one"),
        ({"k": 1, "radius": 1.0}, ParameterError, "exactly one"),
        ({"k": 3}, ParameterError, "at least 4 points"),
        ({"k": 1, "weight": "binary", "bandwidth": 1.0}, ParameterError, "bandwidth"),
        ({"k": 1, "weight": "distance"}, GraphError, "coincide"),
    ],
)
def test_refusals_of_points(options, error, message):
    with pytest.raises(error, match=message):
        gf.Graph.from_points([(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)], **options)


def test_arrow_tables_of_edges_and_nodes():
    edges = pa.table({"from": ["b", "c"], "to": ["a", "b"], "km": [1.5, 2.0]})
    nodes = pa.table({"city": ["a", "c", "b"], "size": [1, 3, 2]})
    graph = gf.from_arrow(edges, source="from", target="to", weight="km", nodes=nodes, on="city")
    assert (graph.labels, graph.degrees.tolist()) == (("b", "a", "c"), [3.5, 1.5, 2.0])
    assert graph.nodes["size"].tolist() == [2, 1, 3]
    assert gf.from_arrow(pa.table({"source": [0, 1], "target": [1, 2]})).n_edges == 2
    with pytest.raises(GraphError, match="give weight='km'"):
        gf.from_arrow(edges, source="from", target="to")
    with pytest.raises(ParameterError, match="__arrow_c_stream__"):
        gf.from_arrow({"source": [0]})


def test_a_data_set_of_ones_own_is_split_once_and_by_class():
    graph = gf.datasets.erdos_renyi(60, 0.1, rng=0)
    first, second = (Dataset.from_arrays(graph, np.eye(60), ["a", "b", "c"] * 20) for _ in range(2))
    for one, other in zip(first.splits, second.splits, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        assert np.unique(first.y[one.train].astype(str), return_counts=True)[1].tolist() == [12, 12, 12]
    assert Dataset.from_arrays(graph, np.eye(60)).y is None


def test_a_data_set_of_pyg_keeps_masks():
    mask = np.eye(4, dtype=bool)
    data = SimpleNamespace(edge_index=[[0, 1, 2, 3], [1, 0, 3, 2]], num_nodes=4, x=np.eye(4), y=np.array([0, 1, 0, 1]))
    data.train_mask, data.val_mask, data.test_mask = mask[0] | mask[1], mask[2], mask[3]
    found = Dataset.from_pyg(data)
    assert [part.tolist() for part in (found.splits[0].train, found.splits[0].val, found.splits[0].test)] == [
        [0, 1],
        [2],
        [3],
    ]


@pytest.mark.parametrize("method", ["geary", "moran"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_moments_are_those_of_drawn_permutations(method, make):
    rng = np.random.default_rng(1)
    graph = gf.datasets.erdos_renyi(40, 0.15, rng=0)
    x = rng.random((40, 3)) * (rng.random((40, 3)) < 0.5)
    tests = gf.spatially_variable(graph, make(x), method=method)
    statistic = {"geary": gf.gearys_c, "moran": gf.morans_i}[method]
    drawn = np.stack([statistic(graph, x[rng.permutation(40)]) for _ in range(2000)])
    np.testing.assert_allclose(tests["statistic"], statistic(graph, x))
    np.testing.assert_allclose(tests["expected"], 1.0 if method == "geary" else -1 / 39, rtol=1e-9)
    as_similar = drawn <= tests["statistic"] if method == "geary" else drawn >= tests["statistic"]
    np.testing.assert_allclose(tests["p_value"], as_similar.mean(axis=0), atol=0.05)


def test_a_table_of_tests_names_its_rows_and_controls_the_false_discovery_rate(monkeypatch):
    from scipy.stats import false_discovery_control

    monkeypatch.setattr("gsp_fb.energy.variable.BLOCK_ENTRIES", 60)
    graph = gf.datasets.ring(30)
    x = pd.DataFrame(np.random.default_rng(0).random((30, 7)), columns=list("abcdefg"))
    for method in ("geary", "moran", "s"):
        tests = gf.spatially_variable(graph, x, method=method)
        np.testing.assert_allclose(tests["q_value"], false_discovery_control(tests["p_value"]))
    assert tests.to_pandas().index.tolist() == list("abcdefg")
    assert "<table" in tests._repr_html_()
    with pytest.warns(GspWarning, match="1 signals are constant"):
        assert np.isnan(gf.spatially_variable(graph, np.ones(30))["q_value"]).all()


def test_anndata_cells_are_nodes_and_genes_signals():
    points = np.random.default_rng(0).random((12, 2))
    obs = pd.DataFrame({"type": ["T", "B"] * 6}, index=[f"cell{i}" for i in range(12)])
    adata = SimpleNamespace(obs=obs, obs_names=obs.index, var_names=["g1", "g2"], layers={}, obsm={"spatial": points})
    adata.X = sparse.csr_matrix(np.random.default_rng(1).random((12, 2)))
    adata.obsp = {"connectivities": kneighbors_graph(points, 3)}
    data = gf.from_anndata(adata, label="type")
    assert (data.graph.labels[0], data.feature_names, data.classes) == ("cell0", ("g1", "g2"), ("B", "T"))
    assert sparse.issparse(data.x)
    assert gf.spatially_variable(data).names == ("g1", "g2")
    adata.obsp = {}
    with pytest.raises(GraphError, match="no graph spatial_connectivities or connectivities"):
        gf.from_anndata(adata)


def test_a_real_anndata_object():
    anndata = pytest.importorskip("anndata", reason="anndata is the extra omics, not a dependency of the tests")
    rng = np.random.default_rng(0)
    points = rng.random((40, 2))
    obs = pd.DataFrame({"type": pd.Categorical(["T", "B"] * 20), "depth": rng.random(40)})
    obs.index = [f"cell{i}" for i in range(40)]
    expression = sparse.random_array((40, 5), density=0.3, format="csr", rng=rng)
    adata = anndata.AnnData(sparse.csr_matrix(expression), obs=obs, var=pd.DataFrame(index=list("vwxyz")))
    adata.obsm["spatial"], adata.obsp["connectivities"] = points, kneighbors_graph(points, 4)
    adata.layers["twice"] = 2 * adata.X
    data = gf.from_anndata(adata, label="type", layer="twice")
    assert (data.graph.labels[:2], data.feature_names, data.classes) == (("cell0", "cell1"), tuple("vwxyz"), ("B", "T"))
    np.testing.assert_array_equal(data.graph.coordinates, points)
    np.testing.assert_array_equal(data.graph.nodes["depth"], obs["depth"])
    np.testing.assert_array_equal(data.x.toarray(), 2 * expression.toarray())
    statistic = gf.spatially_variable(data)["statistic"]
    np.testing.assert_allclose(statistic, gf.gearys_c(data.graph, expression.toarray()))


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def club(tmp_path):
    """Edges and nodes of the karate club as pandas writes them."""
    G = nx.karate_club_graph()
    G = nx.relabel_nodes(G, {i: f"member {i}" for i in G})
    edges = nx.to_pandas_edgelist(G, source="person", target="friend")
    nodes = pd.DataFrame.from_dict(dict(G.nodes(data=True)), orient="index").rename_axis("member").reset_index()
    nodes["degree"] = [G.degree(name) for name in nodes["member"]]
    nodes["age"] = np.random.default_rng(0).random(34)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.sample(frac=1.0, random_state=1).to_csv(tmp_path / "nodes.csv", index=False)
    return tmp_path, G


def drawn_nodes(page):
    """Return names and positions in the data of a report."""
    text = re.search(r'<script type="application/json" id="graph-data">(.*?)</script>', page, re.DOTALL)[1]
    drawing = json.loads(text)
    return drawing["names"], np.frombuffer(base64.b64decode(drawing["positions"]["base64"]), "<f4").reshape(-1, 2)


def assert_placed(page, coordinates_by_name):
    """Assert that a report has all nodes by name, and that it draws them at their coordinates up to scale and shift."""
    names, found = drawn_nodes(page)
    assert set(names) == set(coordinates_by_name)
    drawn, wanted = pdist(found), pdist([coordinates_by_name[name] for name in names])
    assert_allclose(drawn / drawn.max(), wanted / wanted.max(), atol=1e-5)


def walk(folder, data, label):
    """Run four commands: S-values, report, training and prediction; return what they print and write."""
    pytest.importorskip("torch")
    commands = [
        ["energy", *data, "--label", label, "--json"],
        ["report", *data, "--label", label, "-o", folder / "report.html"],
        ["train", "fb-gcn", *data, "--label", label, "--epochs", "3", "--splits", "0", "-o", folder / "run"],
        ["predict", folder / "run" / "split-0-seed-0", *data, "-o", folder / "out.csv"],
    ]
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore", GspWarning)
        assert [main([str(word) for word in command]) for command in commands] == [0] * 4
    values = json.JSONDecoder().raw_decode(printed.getvalue())[0]
    return values, (folder / "report.html").read_text(), rows_of(folder / "out.csv")


def test_walk_of_a_csv_with_a_node_table(club):
    folder, G = club
    ends = ["--source", "person", "--target", "friend", "--nodes", folder / "nodes.csv", "--features", "degree,age"]
    values, page, found = walk(folder, [folder / "edges.csv", *ends], "club")
    assert "labels" in json.dumps(values)
    assert set(drawn_nodes(page)[0]) == {row["node"] for row in found} == set(G)
    assert {row["prediction"] for row in found} <= {"Mr. Hi", "Officer"}


def test_walk_of_a_graphml_with_coordinates(tmp_path):
    """Characters of a novel as networkx writes them: names, weights, coordinates and columns in one file."""
    G = nx.les_miserables_graph()
    places = nx.circular_layout(G)
    for name, (x, y) in places.items():
        G.nodes[name].update(x=float(x), y=float(y), scenes=G.degree(name, weight="weight"), side="ab"[int(x > 0)])
    nx.write_graphml(G, tmp_path / "novel.graphml")
    data = read(tmp_path / "novel.graphml", features=["scenes"], label="side")
    assert data.graph.degrees.tolist() == data.graph.nodes["scenes"].tolist()
    _, page, found = walk(tmp_path, [tmp_path / "novel.graphml", "--features", "scenes"], "side")
    assert_placed(page, places)
    assert {row["node"] for row in found} == set(G)
    assert {row["prediction"] for row in found} <= {"a", "b"}


def test_walk_of_a_parquet(club):
    folder, G = club
    pd.read_csv(folder / "edges.csv").to_parquet(folder / "edges.parquet")
    nodes = pd.read_csv(folder / "nodes.csv")
    places = {name: (float(x), float(y)) for name, (x, y) in nx.circular_layout(G).items()}
    nodes[["lon", "lat"]] = [places[name] for name in nodes["member"]]
    nodes.to_parquet(folder / "nodes.parquet")
    options = {"source": "person", "target": "friend", "label": "club", "features": ["age", "degree"]}
    read_back = read(folder / "edges.parquet", folder / "nodes.parquet", **options)
    assert read_back.y.tolist() == [G.nodes[name]["club"] for name in read_back.graph.labels]
    homophily = gf.edge_homophily(read_back.graph, gf.datasets.splits.class_codes(read_back.y))
    assert homophily == pytest.approx(0.859, abs=1e-3)
    ends = ["--source", "person", "--target", "friend", "--nodes", folder / "nodes.parquet"]
    _, page, found = walk(folder, [folder / "edges.parquet", *ends, "--features", "degree,age"], "club")
    assert_placed(page, places)
    assert {row["node"] for row in found} == set(G)


def test_one_feature_is_measured_as_it_is(tmp_path, capsys, cities):
    gf.write_graph(cities, tmp_path / "a.graphml")
    assert main(["energy", str(tmp_path / "a.graphml"), "--features", "size", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["energies"]
    wanted = gf.s_value(gf.operator(cities, "comb", channel="high"), cities.nodes["size"])
    assert next(row["S"] for row in rows if row["family"] == "comb") == pytest.approx(wanted)


def test_audit_and_report_of_a_run_on_files(club, capsys):
    folder, _ = club
    ends = ["--source", "person", "--target", "friend", "--nodes", folder / "nodes.csv", "--features", "degree,age"]
    data = [folder / "edges.csv", *ends]
    walk(folder, data, "club")
    probes = ["--label", "club", "--probes", "2", "--bands", "2", "--family", "rw", "--json"]
    report = ["report", *data, "--label", "club", "--family", "rw", "--audit", folder / "run", "--json"]
    found = []
    for command in (["audit", folder / "run", *ends, *probes], report):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GspWarning)
            assert main([str(word) for word in command]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["audit"]["model"] == "fb-gcn"
    assert (found[1]["family"], found[1]["audit"]["model"]) == ("rw", "fb-gcn")


def test_walk_of_an_anndata_file(tmp_path):
    """Cells of the data set that scanpy ships: file, tests, report, network and predictions in ten lines."""
    scanpy = pytest.importorskip("scanpy", reason="scanpy is not a dependency of the tests")
    nn = pytest.importorskip("gsp_fb.nn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other libraries
        adata = scanpy.datasets.pbmc68k_reduced()
        data = gf.from_anndata(adata, label="bulk_labels", basis="X_umap")
        tests = gf.spatially_variable(data)
        facts = gf.report.collect(data.graph, x=data.x, y=data.y)
        gf.report.write_report(facts, tmp_path / "cells.html")
        model = nn.build("fb-gcn", data)
        nn.train(model, data, data.splits[0], nn.TrainConfig(epochs=3), directory=tmp_path / "run")
        predicted = dict(zip(data.graph.labels, nn.predict(tmp_path / "run", data), strict=True))
    assert tests.rows()[0]["signal"] == "CD74"
    assert_placed((tmp_path / "cells.html").read_text(), dict(zip(adata.obs_names, adata.obsm["X_umap"], strict=True)))
    assert set(predicted) == set(adata.obs_names)


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["info", "edges.csv"], 3, "give --source person and --target friend"),
        (["info", "edges.csv", "--source", "person", "--target", "friend", "--weight", "kn"], 3, "attribute 'kn'"),
        (["info", "edges.csv", "--source", "person", "--target", "friend", "--nodes", "other.csv"], 3, "'member 33'"),
    ],
)
def test_errors_in_the_words_of_the_command_line(club, argv, code, message, capsys, monkeypatch):  # noqa: PLR0917
    folder, _ = club
    monkeypatch.chdir(folder)
    pd.read_csv("nodes.csv").query("member != 'member 33'").to_csv("other.csv", index=False)
    assert main(argv) == code
    assert message in capsys.readouterr().err


def test_an_unknown_family_names_the_nearest(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["spectrum", "texas", "--family", "symm"])
    assert "did you mean 'sym'?" in capsys.readouterr().err


def test_lazy_packages_are_listed():
    assert {"nn", "plot", "report"} <= set(dir(gf))


def test_approximate_neighbours_find_most_of_the_exact_ones(monkeypatch):
    pytest.importorskip("pynndescent", reason="approximate neighbours need pynndescent")
    points = np.random.default_rng(0).standard_normal((1500, 20))
    exact = gf.Graph.from_points(points, k=8).adjacency != 0
    monkeypatch.setattr("gsp_fb._points.APPROXIMATE_FROM", 1000)
    found = gf.Graph.from_points(points, k=8).adjacency != 0
    assert exact.multiply(found).sum() > 0.8 * exact.sum()
