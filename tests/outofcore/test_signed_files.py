"""Signed and complex weights in files and folders: read where they are wanted, refused where they are not announced."""

import json

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import FormatError

SIGNED = gf.Graph.from_edges([(0, 1), (1, 2)], [1.0, -2.0], signed=True)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "mtx"])
def test_negative_weights_of_other_files_are_read_where_they_are_wanted(tmp_path, suffix):
    texts = {"csv": "0,1,-2.0\n1,2,1.0\n", "tsv": "0\t1\t-2.0\n1\t2\t1.0\n"}
    matrix = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -2.0\n3 2 1.0\n"
    path = tmp_path / f"g.{suffix}"
    path.write_text(texts.get(suffix, matrix))
    with pytest.raises(FormatError, match="signed=True"):
        gf.read_graph(path)
    graph = gf.read_graph(path, signed=True)
    assert graph.is_signed
    assert graph.degrees.tolist() == [2.0, 3.0, 1.0]


def test_a_directed_reading_of_an_undirected_list_keeps_signs(tmp_path):
    (tmp_path / "g.csv").write_text("source,target,weight,Type\n0,1,-2.0,Undirected\n")
    graph = gf.read_graph(tmp_path / "g.csv", directed=True, signed=True)
    assert graph.adjacency.toarray().tolist() == [[0.0, -2.0], [-2.0, 0.0]]


def test_the_command_line_converts_signed_lists(tmp_path, capsys):
    from gsp_fb.cli import main

    (tmp_path / "g.csv").write_text("0,1,-2.0\n1,2,1.0\n")
    assert main(["convert", str(tmp_path / "g.csv"), str(tmp_path / "g.npz")]) == 3
    assert "--signed" in capsys.readouterr().err
    for name in ("g.npz", "g.npyd"):
        assert main(["convert", str(tmp_path / "g.csv"), str(tmp_path / name), "--signed"]) == 0
    assert gf.open_graph(tmp_path / "g.npyd").load() == gf.read_graph(tmp_path / "g.npz")


FOLDERS = {
    "signs of another kind": ({"signs": "quaternion"}, "signs are 'quaternion'; update gsp_fb"),
    "negative weights that are not announced": ({"signs": None}, "not finite and >= 0"),
    "complex weights that are not there": ({"signs": "complex"}, "complex128"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_is_what_it_states_of_its_signs(tmp_path, name):
    facts, message = FOLDERS[name]
    gf.outofcore.write_folder(SIGNED, tmp_path / "g.npyd")
    file = tmp_path / "g.npyd" / "graph.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | facts))
    with pytest.raises(FormatError, match=message):
        gf.open_graph(tmp_path / "g.npyd").load()


def test_weights_on_disk_must_be_finite(tmp_path):
    gf.outofcore.write_folder(SIGNED, tmp_path / "g.npyd")
    weights = np.load(tmp_path / "g.npyd" / "weights.npy")
    weights[0] = np.nan
    np.save(tmp_path / "g.npyd" / "weights.npy", weights)
    with pytest.raises(FormatError, match=r"is not finite$"):
        _ = gf.open_graph(tmp_path / "g.npyd").degrees


def test_a_folder_of_weights_above_zero_is_read_by_earlier_versions(tmp_path):
    gf.outofcore.write_folder(gf.Graph.from_edges([(0, 1)]), tmp_path / "g.npyd")
    facts = json.loads((tmp_path / "g.npyd" / "graph.json").read_text())
    assert set(facts) == {"version", "n_nodes", "n_entries", "n_loops", "directed"}


def test_complex_weights_count_double_in_the_memory_limit(tmp_path):
    graphs_ = {"real": gf.datasets.ring(300), "complex": gf.Graph.from_adjacency(_phased_ring(300), signed=True)}
    fits = {}
    for name, graph in graphs_.items():
        gf.outofcore.write_folder(graph, tmp_path / f"{name}.npyd")
        fits[name] = gf.open_graph(tmp_path / f"{name}.npyd", memory=12 * 8 * 300 + 30 * 600).storage.fits_memory
    assert fits == {"real": True, "complex": False}


def _phased_ring(n_nodes):
    A = np.roll(np.eye(n_nodes), 1, axis=1) * 1j
    return A + A.conj().T
