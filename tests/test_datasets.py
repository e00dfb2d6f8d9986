"""The registry, and every real data set against the counts measured when the files were made."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import sparse

from gsp_fb import datasets
from gsp_fb.datasets.fetch import data_dir
from gsp_fb.errors import DownloadError, IntegrityError, ParameterError
from tests.support.real_data import DATA, needs_data

# name: nodes, listed, distinct directed, distinct self-loops, undirected pairs, features, split sizes (of split 0)
TABLE_A = {
    "cornell": (183, 298, 298, 3, 277, 1703, (87, 59, 37)),
    "cornell_fixed": (183, 298, 298, 3, 277, 1703, (87, 59, 37)),
    "wisconsin": (251, 515, 515, 16, 450, 1703, (120, 80, 51)),
    "texas": (183, 325, 325, 16, 279, 1703, (87, 59, 37)),
    "actor": (7600, 33391, 30019, 93, 26659, 932, (3648, 2432, 1520)),
    "chameleon": (2277, 36101, 36101, 50, 31371, 2325, (1092, 729, 456)),
    "squirrel": (5201, 217073, 217073, 140, 198353, 2089, (2496, 1664, 1041)),
    "cora": (2708, 10858, 10556, 0, 5278, 1433, (1192, 796, 497)),
    "citeseer": (3327, 9464, 9228, 124, 4552, 3703, (1596, 1065, 666)),
    "pubmed": (19717, 88676, 88651, 3, 44324, 500, (9463, 6310, 3944)),
}
CLASS_COUNTS = {
    "cornell": [33, 1, 18, 101, 30],
    "cornell_fixed": [38, 16, 30, 82, 17],
    "texas": [33, 1, 18, 101, 30],
    "wisconsin": [10, 70, 118, 32, 21],
    "chameleon_filtered": [242, 134, 209, 164, 141],
    "squirrel_filtered": [756, 516, 397, 321, 233],
    "minesweeper": [8000, 2000],
    "tolokers": [9192, 2566],
}
# name: nodes, undirected pairs, features, stored features, classes
TABLE_C = {
    "dblp": (17716, 52867, 1639, 92192, 4),
    "coauthor_cs": (18333, 81894, 6805, 1092079, 15),
    "coauthor_physics": (34493, 247962, 8415, 1137311, 5),
    "amazon_computers": (13752, 245861, 767, 3675081, 10),
    "amazon_photo": (7650, 119081, 745, 1979909, 8),
}
# name: nodes, undirected pairs, self-loops, split sizes, edge homophily
TABLE_E = {
    "chameleon_filtered": (890, 8854, 50, (409, 287, 194), 0.236),
    "squirrel_filtered": (2223, 46998, 140, (1053, 718, 452), 0.207),
    "minesweeper": (10000, 39402, 0, (5000, 2500, 2500), 0.683),
    "tolokers": (11758, 519000, 0, (5879, 2939, 2940), 0.595),
}
# name: graphs, nodes, mean edges (without loops), loops, members of each raw class, tags, graphs in no fold
TABLE_B = {
    "MUTAG": (188, 3371, 19.79, 0, {0: 63, 2: 125}, 7, 8),
    "PTC": (344, 8792, 25.96, 0, {0: 192, 1: 152}, 19, 4),
    "PTC_MR": (344, 4915, 14.69, 0, {0: 192, 2: 152}, 18, 4),
    "PROTEINS": (1113, 43471, 72.82, 0, {0: 663, 1: 450}, 3, 3),
    "NCI1": (4110, 122747, 32.30, 0, {0: 2053, 1: 2057}, 37, 0),
    "IMDB-BINARY": (1000, 19773, 96.53, 0, {0: 500, 1: 500}, 1, 0),
    "IMDB-MULTI": (1500, 19502, 65.94, 0, {0: 500, 1: 500, 2: 500}, 1, 0),
    "REDDIT-BINARY": (2000, 859254, 497.75, 0, {0: 1000, 2: 1000}, 1, 0),
    "COLLAB": (5000, 372474, 2457.22, 2837, {0: 2600, 1: 775, 2: 1625}, 1, 0),
}
# name: graph and latent pairs under MDS, poincare, struc2vec
TABLE_D = {
    "cornell": ((554, 456), (554, 519), (554, 410)),
    "cornell_fixed": ((554, 480), (554, 241), (554, 464)),
    "wisconsin": ((900, 760), (900, 503), (900, 690)),
    "texas": ((558, 496), (558, 540), (558, 412)),
    "actor": ((53318, 48254), (53318, 1465), (53318, 51150)),
    "chameleon": ((62742, 60964), (62742, 254), (62742, 56358)),
    "cora": ((10556, 9681), (10556, 9566), (10556, 5802)),
    "citeseer": ((9104, 4401), (9104, 7579), (9104, 3645)),
    "pubmed": ((88648, 74475), (88648, 6240), (88648, 74454)),
}


def load(name: str, **options: object):
    return datasets.load(name, data_dir=DATA, **options)


def edge_homophily(ds: datasets.Dataset) -> float:
    upper = sparse.triu(ds.graph.adjacency, k=1).tocoo()
    return float(np.mean(ds.y[upper.row] == ds.y[upper.col]))


def test_the_registry_covers_every_set_the_library_promises():
    assert len(datasets.names("node")) == 23
    assert {"roman_empire", "amazon_ratings", "questions", "ppi"} <= set(datasets.names("node"))
    assert set(TABLE_B) | {"REDDIT-MULTI-5K"} == set(datasets.names("graphs"))
    assert {name + "_geom_relations" for name in TABLE_D} | {"squirrel_geom_relations"} == set(
        datasets.names("relations")
    )
    assert len(datasets.names()) == len(datasets.REGISTRY)
    offline = {name for name in datasets.names() if datasets.info(name).available_offline}
    assert offline == {*TABLE_A, *TABLE_B, *TABLE_C, *TABLE_E, *(f"{name}_geom_relations" for name in TABLE_D)}


@pytest.mark.parametrize("name", datasets.names())
def test_every_row_tells_where_the_data_is_from(name):
    row = datasets.info(name)
    assert row.licence
    assert row.citation
    assert row.title
    assert row.sources or row.layout == "unpublished"
    assert all(file.url.startswith("https://") and "{" not in file.url for file in row.sources)
    assert len({file.key for file in row.sources}) == len(row.sources)
    hashes = [row.npz_sha256, *(file.sha256 for file in row.sources)]
    assert all(len(digest) == 64 and int(digest, 16) for digest in hashes if digest is not None)


def test_rows_are_frozen_and_aliases_lead_to_them():
    assert datasets.info("film") is datasets.info("actor")
    assert datasets.info("RDT-M5K").name == "REDDIT-MULTI-5K"
    with pytest.raises(FrozenInstanceError):
        datasets.info("texas").nodes = 3
    with pytest.raises(TypeError):
        datasets.REGISTRY["texas"] = datasets.info("cora")


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(ParameterError, match="did you mean 'wisconsin'"):
        datasets.load("wisconsn")
    with pytest.raises(ParameterError, match="unknown kind of data set 'nodes'"):
        datasets.names("nodes")
    with pytest.raises(ParameterError, match="unknown set with relations 'dblp'"):
        datasets.relations("dblp", "MDS")
    with pytest.raises(ParameterError, match="unknown loops 'some'"):
        datasets.load("texas", loops="some")
    with pytest.raises(ParameterError, match=r"call relations\('texas', method\)"):
        datasets.load("texas_geom_relations")
    with pytest.raises(ParameterError, match="directed=True does not apply"):
        datasets.load("MUTAG", directed=True)


@pytest.mark.parametrize("name", ["ppi", "RDT-M5K", "roman_empire", "amazon_ratings", "questions"])
def test_sets_that_exist_only_online_say_so(name, monkeypatch, tmp_path):
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path))
    with pytest.raises(DownloadError, match="is not available offline") as refused:
        datasets.load(name)
    assert datasets.info(name).sources[0].url in str(refused.value)


def test_squirrel_has_no_relations_anywhere():
    with pytest.raises(DownloadError, match="public repository has no relation files for squirrel"):
        datasets.relations("squirrel", "MDS")


def test_the_directories_follow_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("GSP_FB_DATA_DIR", raising=False)
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path / "cache"))
    assert datasets.cache_dir() == data_dir() == tmp_path / "cache"
    monkeypatch.setenv("GSP_FB_DATA_DIR", str(tmp_path / "data"))
    assert data_dir() == tmp_path / "data"
    assert data_dir(tmp_path) == tmp_path
    monkeypatch.delenv("GSP_FB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("sys.platform", "linux")
    assert datasets.cache_dir() == tmp_path / "xdg" / "gsp_fb"


@needs_data
@pytest.mark.parametrize("name", TABLE_A)
def test_geom_gcn_sets_have_the_measured_counts(name):
    nodes, listed, distinct, loops, pairs, features, sizes = TABLE_A[name]
    ds, arcs = load(name, made_up_labels=True), load(name, directed=True)
    assert (ds.info.nodes, ds.info.edges, ds.info.features) == (nodes, listed, features)
    assert (arcs.graph.n_nodes, arcs.graph.n_edges, arcs.graph.n_loops) == (nodes, distinct, loops)
    assert (ds.graph.n_nodes, ds.graph.n_edges, ds.graph.n_loops) == (nodes, pairs + loops, loops)
    assert load(name, loops="drop").graph.n_edges == pairs
    assert ds.x.shape == (nodes, features)
    assert ds.splits[0].sizes == sizes
    assert np.array_equal(np.bincount(ds.y), ds.info.class_counts)


@needs_data
@pytest.mark.parametrize("name", [*TABLE_A, *TABLE_C, *TABLE_E])
def test_node_sets_are_what_the_contract_says(name):
    ds = load(name)
    assert ds.name == ds.info.name == name
    assert ds.y.dtype == np.int64
    assert ds.x.dtype == np.float32
    assert sparse.issparse(ds.x) == (name != "tolokers")
    assert not ds.graph.directed
    assert not ds.graph.is_weighted
    assert len(ds.splits) == 10
    for split in ds.splits:
        assert len(np.unique(np.concatenate([split.train, split.val, split.test]))) == sum(split.sizes)
        assert (ds.y[split.train] >= 0).all()


@needs_data
@pytest.mark.parametrize("name", CLASS_COUNTS)
def test_classes_have_the_measured_sizes(name):
    assert np.bincount(load(name).y).tolist() == CLASS_COUNTS[name]


@needs_data
def test_cornell_as_the_paper_used_it_carries_the_features_and_labels_of_texas():
    cornell, texas, fixed = load("cornell"), load("texas"), load("cornell_fixed")
    assert (cornell.x != texas.x).nnz == 0
    assert np.array_equal(cornell.y, texas.y)
    assert cornell.graph.sha256 != texas.graph.sha256
    assert not np.array_equal(cornell.y, fixed.y)
    assert edge_homophily(cornell) == pytest.approx(0.296, abs=5e-4)
    assert edge_homophily(fixed) == pytest.approx(0.123, abs=5e-4)
    common = cornell.graph.adjacency.multiply(fixed.graph.adjacency).tocoo()
    assert np.count_nonzero(common.row < common.col) == 5


@needs_data
def test_citeseers_nodes_without_label_are_marked_and_kept_out_of_the_splits():
    ds, public = load("citeseer"), load("citeseer", made_up_labels=True)
    unlabelled = np.flatnonzero(ds.y == -1)
    assert len(unlabelled) == 15
    assert (public.y[unlabelled] == 0).all()
    assert ds.x[unlabelled].nnz == 0
    assert (ds.graph.degrees[unlabelled] > 0).all()
    assert [sum(split.sizes) for split in public.splits] == [2120 if k in (4, 5) else 3327 for k in range(10)]
    assert [sum(split.sizes) for split in ds.splits] == [2110 if k in (4, 5) else 3312 for k in range(10)]
    assert "15 unlabelled" in repr(ds)


@needs_data
@pytest.mark.parametrize(("name", "n_train"), [("cora", 140), ("citeseer", 120), ("pubmed", 60)])
def test_planetoid_sets_keep_the_public_split(name, n_train):
    assert load(name).public_split.sizes == (n_train, 500, 1000)


@needs_data
@pytest.mark.parametrize("name", TABLE_C)
def test_further_sets_have_the_counts_of_the_literature(name):
    nodes, pairs, features, stored, classes = TABLE_C[name]
    ds = load(name, loops="drop")
    assert (ds.graph.n_nodes, ds.graph.n_edges, ds.x.shape[1]) == (nodes, pairs, features)
    assert (ds.x.nnz, ds.n_classes) == (stored, classes)
    shares = np.array(ds.splits[0].sizes) / nodes
    assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.01)
    again = load(name).splits
    assert all(np.array_equal(a.train, b.train) for a, b in zip(ds.splits, again, strict=True))


@needs_data
@pytest.mark.parametrize("name", TABLE_E)
def test_leak_free_sets_have_the_measured_counts(name):
    nodes, pairs, loops, sizes, homophily = TABLE_E[name]
    ds = load(name)
    assert (ds.graph.n_nodes, ds.graph.n_edges, ds.graph.n_loops) == (nodes, pairs + loops, loops)
    assert ds.splits[0].sizes == sizes
    assert edge_homophily(ds) == pytest.approx(homophily, abs=5e-4)


@needs_data
@pytest.mark.parametrize("name", TABLE_B)
def test_collections_have_the_measured_counts(name):
    graphs, nodes, mean_edges, loops, classes, tags, in_no_fold = TABLE_B[name]
    found = load(name)
    assert (len(found), found.graph.n_nodes, found.graph.n_loops) == (graphs, nodes, loops)
    assert (found.graph.n_edges - loops) / graphs == pytest.approx(mean_edges, abs=5e-3)
    assert dict(zip(found.classes.tolist(), np.bincount(found.y).tolist(), strict=True)) == classes
    assert len(np.unique(found.node_label)) == tags
    assert np.count_nonzero(found.folds == -1) == in_no_fold
    assert repr(found).startswith(f"GraphCollection('{name}', {graphs} graphs, {nodes} nodes")


@needs_data
@pytest.mark.parametrize("name", ["MUTAG", "PTC_MR", "PROTEINS"])
def test_one_graph_of_a_collection_is_its_diagonal_block(name):
    found = load(name)
    for i in (0, 17, len(found) - 1):
        nodes = slice(found.graph_indptr[i], found.graph_indptr[i + 1])
        block = found.graph.adjacency[nodes, nodes]
        assert (found[i].adjacency != block).nnz == 0
    assert found[-1].sha256 == found[len(found) - 1].sha256
    assert sum(graph.n_edges for graph in found) == found.graph.n_edges
    with pytest.raises(IndexError):
        found[len(found)]


@needs_data
def test_folds_become_splits_without_overlap():
    mutag = load("MUTAG")
    assert len(mutag.splits) == 10
    for k, split in enumerate(mutag.splits):
        assert (mutag.folds[split.test] == k).all()
        assert len(split.train) + len(split.test) == len(mutag)


@needs_data
@pytest.mark.parametrize("name", TABLE_D)
@pytest.mark.parametrize("method", datasets.METHODS)
def test_relations_have_the_measured_counts_and_their_graph_pairs_are_edges(name, method):
    found = datasets.relations(name, method, data_dir=DATA)
    in_graph = found.space == 0
    counts = TABLE_D[name][datasets.METHODS.index(method)]
    assert (np.count_nonzero(in_graph), np.count_nonzero(~in_graph)) == counts
    assert repr(found) == f"Relations('{name}', '{method}', {counts[0]} graph pairs, {counts[1]} latent pairs)"
    assert set(np.unique(found.relation)) <= {0, 1, 2, 3}
    first, second = found.pairs[:, in_graph]
    assert (load(name).graph.adjacency[first, second] == 1).all()
    assert (first != second).all()


@needs_data
def test_the_data_directory_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("GSP_FB_DATA_DIR", str(DATA))
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    ds = datasets.load("texas")
    assert repr(ds) == "Dataset('texas', 183 nodes, 295 edges, 1703 features, 5 classes, 10 splits)"
    assert repr(ds.splits[0]) == "Split(train=87, val=59, test=37)"


def test_an_npz_file_of_another_content_is_refused(tmp_path):
    np.savez(tmp_path / "texas.npz", y=np.zeros(3))
    with pytest.raises(IntegrityError, match=f"expected {datasets.info('texas').npz_sha256}"):
        datasets.load("texas", data_dir=tmp_path)


def test_random_splits_divide_every_class_and_leave_out_the_unlabelled():
    y = np.repeat([0, 1, 2, -1], [100, 10, 1, 7])
    splits = datasets.random_splits(y, 3, rng=5)
    for split in splits:
        assert split.sizes == (67, 22, 22)
        assert np.bincount(y[split.train]).tolist() == [60, 6, 1]
        assert np.bincount(y[split.val]).tolist() == [20, 2]
        assert (y[split.test] >= 0).all()
        assert sum(mask.sum() for mask in split.masks(len(y))) == 111
    assert not np.array_equal(splits[0].train, splits[1].train)
    assert np.array_equal(splits[2].test, datasets.random_splits(y, 3, rng=5)[2].test)


def test_random_splits_are_the_same_on_every_machine():
    split = datasets.random_splits([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 1, rng=0)[0]
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([2, 3, 4, 5, 6, 7], [0, 9], [1, 8])


@pytest.mark.parametrize("fractions", [(0.6, 0.2), (0.6, 0.2, 0.3), (1.2, -0.2, 0.0), (np.nan, 0.5, 0.5)])
def test_fractions_must_be_shares(fractions):
    with pytest.raises(ParameterError, match="fractions must be three numbers"):
        datasets.random_splits([0, 1], 1, fractions=fractions)
