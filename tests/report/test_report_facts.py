"""The numbers of a report: those of the library, and expected values against all permutations."""

import itertools
import json
import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import gsp_fb as gf
from gsp_fb import plot
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.report import collect, drawing, render_html, render_json, render_markdown, spectral
from gsp_fb.report.collecting import n_bipartite, permutation_homophily
from gsp_fb.report.drawing import neighbourhood
from gsp_fb.report.figures import nice_ticks
from gsp_fb.report.signals import make_signals
from gsp_fb.testing import graphs
from gsp_fb.variants import VARIANTS

ODD = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)], weights=[1.0, 0.5, 2.0, 1.5, 0.7], n_nodes=5)
X = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.0, 3.0], [2.0, 0.25]])


@pytest.fixture(scope="module")
def blocks():
    return gf.datasets.contextual_sbm(80, 3, degree=6, n_features=5, rng=1)


@pytest.fixture(scope="module")
def report(blocks):
    return collect(blocks.graph, x=blocks.x, y=blocks.y, name="blocks", gamma=2.0)


def test_the_expected_homophily_is_the_mean_over_all_permutations():
    y = np.array([0, 0, 1, 2, 2])
    loopless = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], n_nodes=5)
    placed = [gf.edge_homophily(loopless, y[list(order)]) for order in itertools.permutations(range(5))]
    assert permutation_homophily(y) == pytest.approx(np.mean(placed), abs=1e-12)


@settings(max_examples=40)
@given(graphs(directed=False))
def test_bipartite_components_are_those_of_networkx(graph):
    theirs = gf.to_networkx(graph)
    parts = [theirs.subgraph(part) for part in nx.connected_components(theirs)]
    assert n_bipartite(graph) == sum(nx.is_bipartite(part) for part in parts if part.number_of_edges())


def test_json_holds_the_numbers_of_the_library(report, blocks):
    facts = json.loads(render_json(report))
    assert facts["graph"]["nodes"] == 80
    assert facts["graph"]["sha256"] == blocks.graph.sha256
    signals = {"features": blocks.x, "labels": gf.one_hot(blocks.y)}
    for row in facts["energies"]:
        gamma = 2.0 if VARIANTS[row["family"]].has_gamma else None
        op = gf.operator(blocks.graph, row["family"], "high", gamma)
        assert row["s_value"] == gf.s_value(op, signals[row["signal"]])
        assert row["dirichlet_energy"] == gf.dirichlet_energy(op, signals[row["signal"]])
        assert row["nonsmooth_energy"] == gf.nonsmooth_energy(op, signals[row["signal"]])
    assert len(facts["energies"]) == 2 * len(VARIANTS)
    assert facts["homophily"]["edge"] == gf.edge_homophily(blocks.graph, blocks.y)
    assert facts["homophily"]["node"] == gf.node_homophily(blocks.graph, blocks.y)
    assert facts["homophily"]["class_insensitive"] == gf.class_homophily(blocks.graph, blocks.y)
    for row in facts["gaps"]:
        gamma = 2.0 if VARIANTS[row["family"]].has_gamma else None
        gap = gf.eigengap(gf.operator(blocks.graph, row["family"], "high", gamma))
        assert row["ratio"] == pytest.approx(gap.ratio, abs=1e-9)
    assert [row["claim"] for row in facts["claims"]] == [row.claim for row in gf.verify(blocks.graph, 2.0)]


def test_profile_and_density_are_those_of_the_modes(report, blocks):
    modes = gf.spectrum(gf.operator(blocks.graph, "sym", "high"))
    energy = (modes.gft(blocks.x) ** 2).sum(axis=1)
    profile = next(row for row in report.profiles if row.signal == "features")
    counted, _ = np.histogram(modes.frequencies, bins=profile.edges, weights=energy / energy.sum())
    assert np.allclose(profile.fraction, counted, atol=1e-10)
    low, high = profile.edges[9], profile.edges[10]
    assert low < 1 < high
    assert profile.below == pytest.approx(energy[modes.frequencies < low].sum() / energy.sum(), abs=1e-10)
    assert profile.above == pytest.approx(energy[modes.frequencies >= high].sum() / energy.sum(), abs=1e-10)
    assert profile.doubt == report.density.doubt == 0
    counted, _ = np.histogram(modes.frequencies, bins=report.density.edges)
    assert np.allclose(report.density.fraction, counted / 80)


def test_mixtures_stand_for_a_wide_signal():
    data = gf.datasets.contextual_sbm(600, 3, degree=6, n_features=40, rng=0)
    op = gf.operator(data.graph, "sym", "high")
    profile = spectral.profiles(data.graph, {"features": data.x}, "sym", 1.0, np.random.default_rng(0))[0]
    assert profile.mixtures == spectral.MIXTURES[1]
    exact = gf.energy_profile(op, data.x, bins=np.array(profile.edges))
    assert np.abs(np.array(profile.fraction) - exact.fraction).max() < 0.02


def test_features_with_negative_entries_stay_as_they_are(report, blocks):
    assert report.signals[0].preparation.startswith("as given")
    counts = np.abs(blocks.x)
    again = collect(blocks.graph, x=counts)
    op = gf.operator(blocks.graph, "sym", "high")
    assert again.energies[1].s_value == pytest.approx(gf.s_value(op, gf.row_normalized(counts)), rel=1e-12)


def test_the_signals_that_are_drawn(report):
    assert list(report.drawing.signals) == [
        *(f"label {k}" for k in range(3)),
        *(f"feature {k}" for k in range(5)),
        "degree",
    ]


def test_without_edges_a_constant_is_drawn():
    nothing = collect(gf.Graph.from_edges(np.zeros((0, 2), dtype=int), n_nodes=3))
    assert list(nothing.drawing.signals) == [signal.name for signal in nothing.signals] == ["constant"]


def test_a_report_of_the_same_data_is_the_same_file(blocks, report):
    again = collect(blocks.graph, x=blocks.x, y=blocks.y, name="blocks", gamma=2.0)
    assert render_html(again) == render_html(report)


def test_a_large_graph_is_drawn_in_part(monkeypatch, blocks):
    monkeypatch.setattr(drawing, "LIVE_NODES", 50)
    monkeypatch.setattr(drawing, "SAMPLE_NODES", 20)
    part = collect(blocks.graph, y=blocks.y)
    assert not part.drawing.live
    assert len(part.drawing.names) == 20
    assert int(np.argmax(blocks.graph.degrees)) in part.drawing.nodes
    page = render_html(part)
    assert "20 of 80 nodes" in page
    assert 'id="mix"' not in page


def test_claims_of_a_large_graph_are_left_out_with_a_reason(monkeypatch, blocks):
    monkeypatch.setattr("gsp_fb.report.collecting.VERIFY_NODES", 50)
    part = collect(blocks.graph)
    assert part.claims == ()
    assert "beyond 50 nodes" in render_markdown(part)


def test_a_directed_graph_has_energies_and_says_what_is_missing():
    arcs = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (0, 3)], directed=True)
    found = collect(arcs, y=[0, 1, 0, 1])
    assert found.density is None
    assert len(found.energies) == len(VARIANTS)
    assert render_markdown(found).count("symmetrise it") == 4
    assert "4 arcs" in render_html(found)


def test_multi_label_columns_are_one_signal():
    found = collect(gf.datasets.ring(6), y=np.eye(6)[:, :2])
    assert found.homophily is None
    assert found.signals[0].columns == 2


def test_a_zero_signal_is_left_out_and_named():
    found = collect(gf.datasets.ring(6), x=np.zeros((6, 2)), y=[0, 1] * 3)
    assert [signal.name for signal in found.signals] == ["labels"]
    assert "features" in found.notes["energies"]


@settings(max_examples=25)
@given(graphs())
def test_every_graph_has_a_report(graph):
    if graph.n_nodes == 0:
        with pytest.raises(GraphError, match="no nodes"):
            collect(graph)
        return
    found = collect(graph, y=np.arange(graph.n_nodes) % 2)
    assert render_html(found).endswith("</html>\n")
    assert math.isfinite(json.loads(render_json(found))["energies"][0]["s_value"])
    assert render_markdown(found)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"x": np.zeros(3)}, SignalError, "3 rows but the graph has 6"),
        ({"x": np.ones(6) * 1j}, SignalError, "real features"),
        ({"y": [0, 1]}, SignalError, "6 nodes"),
        ({"family": "symm"}, ParameterError, "did you mean 'sym'"),
        ({"gamma": 0}, ParameterError, "gamma"),
    ],
)
def test_wrong_input_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        collect(gf.datasets.ring(6), **options)


def test_advice_is_shown_where_it_is_given(report):
    class Said:
        text = "Use the high channel."
        rows = ({"family": "sym", "score": 0.5},)

    page = render_html(collect(gf.datasets.ring(6), advice=Said()))
    assert "Use the high channel." in page
    assert "advice" not in render_html(report)


def test_a_number_that_is_not_finite_is_null(report):
    nowhere = replace(report, homophily=replace(report.homophily, edge=math.nan))
    assert json.loads(render_json(nowhere))["homophily"]["edge"] is None


def test_the_drawing_is_the_layout_of_plot_scaled_to_the_unit_square():
    graph = gf.datasets.erdos_renyi(60, 0.02, rng=1)
    drawn = drawing.make_drawing(graph, make_signals(graph, None, None, {}), np.random.default_rng(0)).positions
    places = plot.positions(graph, "spring") * [1, -1]  # a page counts downwards
    expected = 0.02 + 0.96 * (places - places.min(axis=0)) / np.ptp(places, axis=0)
    np.testing.assert_allclose(drawn, expected, atol=1e-12)


def test_neighbourhood_grows_in_rings():
    assert neighbourhood(gf.datasets.star(9), 5).tolist() == [0, 1, 2, 3, 4]
    assert neighbourhood(gf.Graph.from_edges([(0, 1)], n_nodes=4), 4).tolist() == [0, 1]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.7, 12.0), (0.0, 0.013), (1.0, 200.0)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 8
    assert low - 1e-9 <= ticks[0]
    assert ticks[-1] <= high + 1e-9


def named_graph():
    plain = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3)], nodes=("Oslo", "Rome", "Bern", "Lima"))
    table = {"speed": [1.0, 2.0, 3.0, 5.0], "kind": ["road", None, "road", "rail"]}
    return plain.with_nodes(
        {"city": ["Oslo", "Rome", "Bern", "Lima"], **table, "x": [0, 1, 2, 4], "y": [0, 1, 0, 1]}, on="city"
    )


def test_names_coordinates_columns_and_label_names_reach_the_page():
    graph = named_graph()
    report = collect(graph, x="speed", y="kind")
    drawn = report.drawing
    assert drawn.names == ["Oslo", "Rome", "Bern", "Lima"]
    assert drawn.class_names == ("rail", "road")
    assert drawn.classes.tolist() == [1, -1, 1, 0]
    assert drawn.columns["speed"] == ["1", "2", "3", "5"]
    assert drawn.columns["kind"] == ["road", None, "road", "rail"]
    assert set(drawn.signals) == {"label rail", "label road", "speed", "x", "y", "degree"}
    spread = drawn.positions - drawn.positions[0]
    assert np.allclose(spread * 4 / 0.96, graph.coordinates * [1, -1])


def test_columns_of_a_data_frame_name_their_signals():
    pandas = pytest.importorskip("pandas")
    graph = named_graph()
    frame = pandas.DataFrame({"rain": [4.0, 3.0, 2.0, 1.0]}, index=["Lima", "Bern", "Rome", "Oslo"])
    assert collect(graph, x=frame).drawing.signals["rain"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_named_columns_are_tested_one_by_one_less_their_means():
    grid = gf.datasets.grid(6, 6)
    smooth = np.repeat(np.arange(6.0), 6)
    table = {"smooth": smooth + 40, "parity": np.indices((6, 6)).sum(axis=0).ravel() % 2, "one": np.ones(36)}
    report = collect(grid.with_nodes(table), x=list(table))
    laplacian = gf.operator(grid, "sym", channel="high")
    assert [row.signal for row in report.columns] == ["smooth", "parity"]
    assert report.columns[0].s_value == pytest.approx(gf.s_value(laplacian, smooth - 2.5))
    assert collect(grid, x=smooth).columns == ()


def test_runs_read_features_and_classes_that_are_given_by_name(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "gsp_fb.report.collecting.read_runs", lambda runs, graph, x, y, notes: seen.extend([x, y]) or ()
    )
    collect(named_graph(), x="speed", y="kind")
    assert seen[0].tolist() == [[1.0], [2.0], [3.0], [5.0]]
    assert seen[1].tolist() == [1, -1, 1, 0]


def test_significance_is_that_of_the_library(blocks, report):
    laplacian = gf.operator(blocks.graph, "sym", channel="high")
    for row, x in zip(report.significance, (blocks.x, gf.one_hot(blocks.y)), strict=True):
        test = gf.s_value_significance(laplacian, x, method="analytic")
        assert (row.s_value, row.surrogates) == (gf.s_value(laplacian, x), spectral.SURROGATES)
        assert row.expected == pytest.approx(test.expected, rel=1e-12)
        assert row.z_score == pytest.approx(test.z_score, rel=1e-9)


def test_large_graphs_take_the_exact_moments(monkeypatch, blocks):
    monkeypatch.setattr(spectral, "PERMUTED_NODES", 10)
    row = collect(blocks.graph, y=blocks.y).significance[0]
    test = gf.s_value_significance(gf.operator(blocks.graph, "sym", "high"), gf.one_hot(blocks.y), method="analytic")
    assert row.method == "analytic"
    assert row.p_value == pytest.approx(2 * min(test.p_smooth, test.p_rough))


def test_communities_are_drawn_together():
    data = gf.datasets.contextual_sbm(200, 2, degree=14, homophily=0.97, rng=0)
    at = collect(data.graph, y=data.y).drawing.positions
    centres = [at[data.y == label].mean(axis=0) for label in (0, 1)]
    nearer = np.argmin([np.linalg.norm(at - centre, axis=1) for centre in centres], axis=0)
    assert np.mean(nearer == data.y) > 0.95


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_energy_times_s_is_the_dirichlet_energy_in_every_family(gamma):
    star = gf.Graph.from_edges([(0, k) for k in range(1, 5)])
    for row in spectral.energy_facts(star, "x", np.arange(1.0, 6.0), gamma):
        assert row.s_value * row.energy == pytest.approx(row.dirichlet_energy, rel=1e-12), row.family
