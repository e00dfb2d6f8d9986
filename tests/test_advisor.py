"""The advisor as an instrument: generated graphs, three answers, nested choice, and its record."""

import json

import numpy as np
import pytest

from gsp_fb import edge_homophily
from gsp_fb.advice import ANSWERS, advisors
from gsp_fb.errors import ParameterError
from paper import advising, advisor, generated
from paper.advising import ARMS, answer
from paper.advisor import CANDIDATES, evaluate, main
from paper.generated import GraphSpec, grid, make

pytest.importorskip("sklearn")


def test_the_grid_has_six_hundred_different_graphs_and_any_beginning_covers_it():
    names = [spec.name for spec in grid(universe=True)]
    assert len(grid()) >= 600
    assert len(set(names)) == len(names)
    assert {spec.homophily for spec in grid()[:60]} == {spec.homophily for spec in grid()}


@pytest.mark.parametrize("balance", [1.0, 0.5])
@pytest.mark.parametrize("homophily", [0.1, 0.7])
def test_a_block_model_has_the_size_degree_and_balance_of_its_recipe(balance, homophily):
    spec = GraphSpec("csbm", homophily, 8.0, 0.8, balance, 2, 0)
    data, again = make(spec), make(spec)
    assert data.graph.sha256 == again.graph.sha256
    assert abs(len(data.y) - generated.N_NODES) <= 2
    counts = np.bincount(data.y)
    assert counts[1] / counts[0] == pytest.approx(balance, abs=0.01)
    assert data.graph.degrees.mean() == pytest.approx(8.0, rel=0.25)
    # Unequal classes leave more pairs within the larger one.
    assert edge_homophily(data.graph, data.y) == pytest.approx(homophily, abs=0.05 if balance == 1.0 else 0.2)
    for split in data.splits:
        joined = np.concatenate([split.train, split.val, split.test])
        assert np.array_equal(np.sort(joined), np.arange(len(data.y)))


def test_a_graph_of_graph_universe_has_its_degree():
    pytest.importorskip("graph_universe")
    data = make(GraphSpec("universe", 0.2, 8.0, 1.0, 1.0, 2, 0))
    assert data.graph.degrees.mean() == pytest.approx(8.0, rel=0.3)


@pytest.mark.parametrize(
    ("test", "expected"),
    [((0.7, 0.6, 0.8, 0.7), 0), ((0.7, 0.6, 0.8, 0.795), 1), ((0.8, 0.6, 0.8, 0.7), 1), ((0.7, 0.8, 0.805, 0.8), 2)],
)
def test_the_answer_follows_from_the_scores(test, expected):
    assert answer(dict(zip(ARMS, test, strict=True))) == ANSWERS[expected]


def rows(n, seed, *, noise=0.3):
    """Graphs whose answer follows from two measures, up to noise."""
    rng, found = np.random.default_rng(seed), []
    names = {name for groups in CANDIDATES.values() for group in groups.values() for name in group}
    for k in range(n):
        values = {name: float(rng.standard_normal()) for name in names}
        a, b = values["both over low"], values["low over features"]
        truth = int(np.argmax([a, b, 0.3] + noise * rng.standard_normal(3)))
        found.append({"name": str(k), "measures": values, "answer": ANSWERS[truth]})
    return found


@pytest.mark.slow
def test_an_advisor_recovers_planted_answers_and_is_calibrated():
    found = evaluate(rows(400, 0), rows(40, 1))
    assert {"both over low", "low over features"} <= set(found["measures"])
    record = found["record"]
    assert record["generated_right"] / record["generated"] > 0.75
    assert record["low"] < record["right"] / record["of"] < record["high"]
    assert record["right"] > record["common_right"]
    assert sum(one["low"] - 0.05 <= one["given"] <= one["high"] + 0.05 for one in found["calibration"]) >= 5
    assert all(one["low"] <= one["right"] <= one["high"] for one in found["calibration"])
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.slow
def test_an_advisor_of_noise_is_no_better_than_the_commonest_answer():
    found = evaluate(rows(150, 2, noise=100.0), [])
    assert abs(found["record"]["generated_right"] / found["record"]["generated"] - 1 / 3) < 0.15
    with pytest.raises(ParameterError, match="too few of an answer"):
        evaluate(rows(6, 0), [])


def test_the_command_goes_on_where_it_stopped_and_writes_its_record(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    pytest.importorskip("optuna")
    monkeypatch.setattr(generated, "N_NODES", 60)
    monkeypatch.setattr(advising, "SETTINGS", 1)
    monkeypatch.setattr(advisor, "grid", lambda universe: grid())
    line = ["--results", str(tmp_path), "--json"]
    assert main([*line, "--limit", "1", "--part", "1/2"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["graphs"], first["done"]) == (1, 1)
    assert main([*line, "--limit", "1", "--part", "1/2"]) == 0
    assert json.loads(capsys.readouterr().out) == first  # from the journal
    assert main([*line, "--limit", "2", "--part", "1/2", "--budget", "0"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 1
    (kept,) = advisor._rows_of(tmp_path)
    assert kept["answer"] in ANSWERS
    wanted = {name for groups in CANDIDATES.values() for group in groups.values() for name in group}
    assert set(kept["measures"]) >= wanted
    assert main([*line, "--part", "3/2"]) == 2
    monkeypatch.setattr(advisor, "_rows_of", lambda results: rows(60, 0))
    output = tmp_path / "advisor.json"
    assert main([*line, "--report", "--store", str(tmp_path / "none"), "--output", str(output)]) == 0
    written = json.loads(output.read_text())["advisors"]
    assert written["features"]["record"]["of"] == 0
    assert set(written) == set(advisors())
