"""Sentences on graphs whose story is known before anything is computed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gsp_fb as gf
from gsp_fb.report import collect
from gsp_fb.report import sentences as say
from gsp_fb.report.facts import Embedding, RunFacts
from gsp_fb.report.sections import sections


def readings(graph, **data):
    report = collect(graph, **data)
    return {"graph": say.about_graph(report.graph), **{part.anchor: part.reading for part in sections(report)}}


def blocks(homophily):
    data = gf.datasets.contextual_sbm(120, 2, degree=8, homophily=homophily, n_features=4, rng=0)
    return readings(data.graph, y=data.y)


def test_homophilic():
    text = blocks(0.95)
    assert "0.15 times the expected value" in text["energies"]
    assert "the same values placed at random" in text["energies"]
    assert "z = -19.8, p ≤ 0.01" in text["energies"]
    assert "more often than under random permutation" in text["homophily"]


def test_heterophilic():
    text = blocks(0.05)
    assert "1.82 times the expected value" in text["energies"]
    assert "z = +19.2, p ≤ 0.01" in text["energies"]
    assert "less often than under random permutation" in text["homophily"]


def test_labels_that_ignore_the_graph():
    graph = gf.datasets.erdos_renyi(400, 0.05, rng=0)
    text = readings(graph, y=np.random.default_rng(0).integers(0, 2, 400))
    assert "1.01 times the expected value" in text["energies"]
    assert "p = 0.45" in text["energies"]
    assert "That is the expected value under random permutation" in text["homophily"]


def test_bipartite_with_its_sides_as_labels():
    sides = gf.Graph.from_edges([(i, 4 + j) for i in range(4) for j in range(4)])
    text = readings(sides, y=[0] * 4 + [1] * 4)
    assert "The graph is bipartite" in text["graph"]
    assert text["homophily"].startswith("0% of the edges")
    assert "The largest is exactly 2" in text["density"]
    assert "energy of the labels 50% lies below frequency 0.95 and 50% above 1.05" in text["profiles"]
    assert "25% of the frequencies" not in text["density"]
    assert text["density"].startswith("12% of the frequencies lie below 0.95, 12% above 1.05.")
    assert "second eigenvalue" in text["gaps"]


def test_the_alternating_mode_of_a_bipartite_graph_keeps_its_amplitude():
    ring = gf.datasets.ring(8)
    assert "keeps its amplitude" in readings(ring)["gaps"]
    assert "keeps its amplitude" not in readings(ring, family="lazy_rw")["gaps"]
    assert "keeps its amplitude" not in readings(gf.datasets.ring(9))["gaps"]


def test_many_equal_frequencies_are_not_split():
    """Each leaf but one of a star adds frequency 1, which an estimate must not count half below and half above."""
    text = readings(gf.datasets.star(700), y=np.arange(700) % 2)["density"]
    assert text.startswith("under 1% of the frequencies lie below 0.95, under 1% above 1.05.")


def test_not_bipartite():
    text = readings(gf.datasets.complete(5))
    assert "bipartite" not in text["graph"]
    assert "None reaches 2" in text["density"]
    assert "is not positive" in text["gaps"]


def test_disconnected():
    two = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)], n_nodes=7)
    text = readings(two, y=[0, 0, 0, 1, 1, 1, 1])
    assert "3 components" in text["graph"]
    assert "1 node is isolated" in text["graph"]
    assert "1 component is bipartite" in text["graph"]
    assert "Frequency 0 occurs 3 times, as there are 3 components" in text["density"]
    assert "propagation never leaves any of the 3 components" in text["gaps"]
    assert text["homophily"].startswith("100% of the edges")


def test_edgeless():
    text = readings(gf.Graph.from_edges(np.zeros((0, 2), dtype=int), n_nodes=4), y=[0, 0, 1, 1])
    assert text["graph"] == "4 nodes and no edge: there is nothing for a filter to average."
    assert "S = 0: no edge joins two nodes" in text["energies"]
    assert "no edges between labelled nodes" in text["homophily"]
    assert "All of them are 0" in text["density"]


@pytest.mark.parametrize("edges", [np.zeros((0, 2), dtype=int), [(0, 0)]])
def test_one_node(edges):
    text = readings(gf.Graph.from_edges(edges, n_nodes=1), y=[0])
    assert text["graph"].startswith("1 node ")
    assert "All labelled nodes are of one class" in text["homophily"]
    assert text["gaps"] == ""


def test_a_node_that_arcs_only_enter_is_not_called_isolated():
    text = readings(gf.Graph.from_edges([(0, 1), (1, 2)], directed=True))["graph"]
    assert "1 node has no arc that leaves: the low channel keeps its value." in text
    assert "median out-degree is 1" in text
    assert "isolated" not in text


def test_loops_are_counted():
    assert "1 edge joins a node to itself." in readings(gf.Graph.from_edges([(0, 1), (1, 1)]))["graph"]
    arcs = gf.Graph.from_edges([(0, 1), (1, 1), (0, 0)], directed=True)
    assert "2 arcs join a node to itself." in readings(arcs)["graph"]
    assert "itself" not in readings(gf.datasets.ring(4))["graph"]


def test_one_class_says_nothing_of_neighbours():
    assert "nothing to compare" in readings(gf.datasets.ring(5), y=[1] * 5)["homophily"]


def test_a_signal_that_is_the_same_everywhere():
    text = readings(gf.datasets.ring(6), x=np.ones(6))["energies"]
    assert text == "The features have S = 0, as they would wherever the same values were placed."


@pytest.mark.parametrize("n", [8, 30, 61])
def test_the_half_life_is_that_of_the_mode(n):
    text = readings(gf.datasets.ring(n))["gaps"]
    steps = int(text.split("half after ")[1].split()[0])
    ratio = math.cos(2 * math.pi / n)
    assert ratio**steps <= 0.5 < ratio ** (steps - 1)


def test_claims_are_counted():
    text = readings(gf.datasets.ring(7))["claims"]
    rows = gf.verify(gf.datasets.ring(7))
    applicable = [row for row in rows if row.applicable]
    held = sum(row.holds is True for row in applicable)
    assert (
        f"Of {len(rows)} claims of the paper, {len(applicable)} apply to this graph and {held} of those hold." in text
    )


@pytest.mark.parametrize(("weight", "verdict"), [(1.0, "as theorem 1 states"), (0.05, "against theorem 1")])
def test_the_first_theorem_is_reported_where_the_claims_take_too_long(monkeypatch, weight, verdict):
    monkeypatch.setattr("gsp_fb.report.collecting.VERIFY_NODES", 5)
    path = gf.Graph.from_edges([(i, i + 1) for i in range(9)], weights=[weight] * 9)
    text = readings(path)["claims"]
    lazy, renormalised = (gf.eigengap(gf.operator(path, family)).ratio for family in ("lazy_rw", "renorm_rw"))
    assert (lazy >= renormalised) == (verdict == "as theorem 1 states")
    assert f"{lazy:.4g} for the lazy walk and {renormalised:.4g} for the renormalised one, {verdict}" in text


def test_random_walk_energy_is_weighted_and_says_so():
    assert "weighs each node by its degree" in readings(gf.datasets.path(6), family="lazy_rw")["profiles"]


@settings(max_examples=200)
@given(st.floats(0, 1))
def test_a_percentage_rounds_to_all_or_nothing_only_if_it_is(share):
    text = say.percent(share)
    assert (text == "100%") == (share == 1)
    assert (text == "0%") == (share == 0)
    digits = "".join(filter(str.isdigit, text))
    assert abs(int(digits) - 100 * share) <= 1.0


def test_runs_and_embeddings():
    best = {"epoch": 3.0, "val_loss": 0.2, "val_accuracy": 0.75, "alpha_low_1": 0.4, "alpha_high_1": 0.6}
    run = RunFacts("split-0", "fb-gcn", 9, 3, best, {"epoch": (1.0,)}, ())
    text = say.about_run(run)
    assert text.startswith("Epoch 3 of 9 was chosen: accuracy 0.75 in validation.")
    assert "low by 0.400 and high by 0.600: it leans on the high channel" in text
    unknown = RunFacts("split-0", "unknown", 9, None, {}, {"epoch": (1.0,)}, ())
    assert "not recorded" in say.about_run(unknown)
    parts = [Embedding("low", ((0.0, 0.0),), (0,), 0.25), Embedding("high", ((0.0, 0.0),), (0,), 0.5)]
    assert "25% (low), 50% (high)" in say.about_embeddings(parts)


def test_the_first_screen_answers_four_questions():
    data = gf.datasets.contextual_sbm(120, 2, degree=8, homophily=0.05, n_features=4, rng=0)
    advice = gf.advise(data.graph, data.x, data.y, data.splits[0].train)
    report = collect(data.graph, x=data.x, y=data.y, advice=advice, advice_nodes="split 0 (72 labelled nodes)")
    found = say.answers(report)
    laplacian = gf.operator(data.graph, "sym", channel="high")
    rough, chance, channel, try_ = found.values()
    assert f"labels {gf.s_value(laplacian, gf.one_hot(data.y)):.3f}" in rough
    test = gf.s_value_significance(laplacian, gf.one_hot(data.y), method="analytic")
    assert chance.splitlines()[0].endswith("labels: yes")
    assert f"Labels: S is {test.z_score:.1f} standard deviations above random permutations" in chance
    assert channel.startswith(advice.text.replace(". ", "\n", 1))
    assert channel.endswith("Computed from split 0 (72 labelled nodes).")
    assert try_.endswith(advice.command())


def test_the_answer_names_the_columns_that_follow_the_edges():
    grid = gf.datasets.grid(6, 6)
    noise = np.random.default_rng(0).standard_normal(36)
    table = {
        "height": np.repeat(np.arange(6.0), 6),
        "parity": np.indices((6, 6)).sum(axis=0).ravel() % 2,
        "noise": noise,
    }
    found = say.answers(collect(grid.with_nodes(table), x=list(table)))["Is it more than chance?"]
    sides = "smoother than random permutation: height; rougher: parity; no difference: noise"
    assert found.endswith(f"Column by column, less the mean: {sides}.")


def test_the_proposed_command_names_the_data():
    data = gf.datasets.contextual_sbm(60, 2, rng=0)
    advice = gf.advise(data.graph, data.x, data.y, data.splits[0].train)
    report = collect(data.graph, x=data.x, y=data.y, advice=advice, source="roads.csv --label kind")
    command = say.answers(report)["What to try"].splitlines()[1]
    assert command == advice.command("roads.csv --label kind")
    assert "roads.csv --label kind" in command


def test_answers_without_labels_and_without_edges():
    ring = gf.datasets.ring(40)
    alone = say.answers(collect(ring, x=np.cos(np.arange(40) * np.pi / 20)))
    assert "Features: yes" in alone["Is it more than chance?"]
    assert "low-pass" in alone["What to try"]
    assert "needs labels" in alone["Would a second channel help?"]
    empty = say.answers(collect(gf.Graph.from_edges([], n_nodes=5), x=np.arange(5.0)))
    assert empty["Is it more than chance?"].startswith("Not tested")
    constant = say.answers(collect(ring, x=np.ones(40)))
    assert "every placement" in constant["Is it more than chance?"]
    noise = say.answers(collect(ring, x=np.random.default_rng(1).standard_normal(40)))
    assert "Features: no" in noise["Is it more than chance?"]
    assert "without the graph" in noise["What to try"]


@pytest.mark.parametrize(
    ("family", "words", "power", "top"),
    [
        ("sym", "the root of the degree on every component) to 2.", 0.5, 2.0),
        ("lazy_rw", "constant on every component) to 1.", 0.0, 1.0),
        ("rw", "constant on every component) to 2.", 0.0, 2.0),
    ],
)
def test_the_ends_of_the_axis_are_those_of_the_family(family, words, power, top):
    star = gf.datasets.star(6)
    rough = say.answers(collect(star, y=[0, 1, 1, 0, 0, 0], family=family))["How rough are the signals?"]
    assert words in rough
    frequencies = gf.spectrum(gf.operator(star, family, "high")).frequencies
    assert gf.s_value(gf.operator(star, family, "high"), star.degrees**power) == pytest.approx(0, abs=1e-12)
    assert frequencies.max() == pytest.approx(top)


def test_a_column_in_larger_units_is_named():
    graph = gf.Graph.from_edges([(k, k + 1) for k in range(9)], nodes=[f"n{k}" for k in range(10)])
    table = {"warm": np.linspace(10, 12, 10), "metres": np.linspace(200, 2000, 10)}
    graph = graph.with_nodes({"name": [f"n{k}" for k in range(10)], **table}, on="name")
    report = collect(graph, x=["warm", "metres"])
    share = (table["metres"] ** 2).sum() / sum((column**2).sum() for column in table.values())
    assert report.signals[0].largest == "metres"
    assert report.signals[0].share == pytest.approx(share)
    assert any("Over 99% of the energy of the features is the column metres" in line for line in say.striking(report))
    assert not any("column" in line for line in say.striking(collect(graph, x=["warm"])))


def test_striking_facts_are_counted():
    star = gf.datasets.star(30)
    report = collect(star)
    frequencies = np.linalg.eigvalsh(gf.operator(star, "sym", channel="high").to_scipy().toarray())
    share = np.mean(np.abs(frequencies - 1) <= 0.05)
    assert report.density.near_one == pytest.approx(share)
    assert f"{100 * share:.0f}% of the eigenvalues lie within 0.05 of 1" in say.striking(report)[0]
    assert "100% of the edges" in say.striking(report)[1]
    assert say.striking(collect(gf.datasets.ring(7))) == []
    halves = say.striking(collect(gf.datasets.ring(40), y=np.repeat([0, 1], 20)))
    assert halves == ["95% of the edges join nodes of one class; with the same labels placed at random 49% would."]
