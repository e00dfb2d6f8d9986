"""Objects in a notebook: each shows a table that states what it is, names of its users escaped."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.report import collect

RING = gf.datasets.ring(6)
BLOCKS = gf.datasets.contextual_sbm(60, 2, homophily=0.9, n_features=4, rng=0)
HIGH = gf.operator(RING, "renorm_sym", "high", gamma=2.0)
ADVICE = gf.advise(BLOCKS.graph, BLOCKS.x, BLOCKS.y, range(60))

OBJECTS = {
    "Graph": (RING, {"nodes": "6", "edges": "6", "weighted": "no", "components": "1"}),
    "Operator": (
        HIGH,
        {
            "family": "renormalised symmetric (renorm_sym)",
            "channel": "high",
            "gamma": "2",
            "isolated nodes": "self",
            "graph": "Graph(n_nodes=6, n_edges=6, undirected, unweighted)",
        },
    ),
    "Spectrum": (
        gf.spectrum(HIGH, k=2),
        {
            "modes": "2 of 6",
            "frequencies": "0 to 0.25",
            "operator": "Operator(renorm_sym, high, gamma=2, n_nodes=6)",
            "solver": "dense",
        },
    ),
    "FilterBank": (gf.FilterBank(HIGH, gf.filters.heat(5.0)), {"kernels": "heat(5)", "tol": "1e-08"}),
    "Eigengap": (gf.eigengap(HIGH), {"lambda_1": "1", "resolved": "yes"}),
    "SpectralDensity": (gf.spectral_density(HIGH, bins=4), {"bands": "4", "greatest standard error": "0"}),
    "TwoChannelBank": (gf.FilterBank.two_channel(RING, "lazy_rw"), {"levels": "1"}),
    "Significance": (gf.s_value_significance(HIGH, np.arange(6.0), n_surrogates=9, rng=0), {"surrogates": "9"}),
    "Advice": (ADVICE, {"filter": ADVICE.family, "probability": f"{max(ADVICE.probabilities.values()):.2f}"}),
    "Report <b>": (collect(RING, y=[0, 1] * 3, name="<b>"), {"nodes": "6", "edge homophily": "0"}),
    "EnergyProfile": (
        gf.energy_profile(HIGH, [1.0, 0, 0, 0, 0, 0], bins=3),
        {"bands": "3", "energy": "1", "mean frequency": "0.5", "matrix-vector products": "0"},
    ),
    "Dataset contextual_sbm": (gf.datasets.contextual_sbm(20, rng=0), {"nodes": "20", "classes": "2"}),
}


@pytest.mark.parametrize("title", OBJECTS)
def test_the_table_tells_what_the_object_is(title):
    thing, expected = OBJECTS[title]
    root = ET.fromstring(thing._repr_html_())
    rows = {row[0].text: row[1].text for row in root.iter("tr")}
    assert root.find("caption/b").text == title
    assert expected.items() <= rows.items()


@pytest.mark.parametrize("title", OBJECTS)
def test_the_name_in_a_shell_is_short(title):
    thing, _ = OBJECTS[title]
    assert repr(thing).startswith(type(thing).__name__)
    assert len(repr(thing)) < 1000


def rows_of(thing):
    return {row[0].text: row[1].text for row in ET.fromstring(thing._repr_html_()).iter("tr")}


def test_a_directed_graph_has_arcs_and_what_there_is_none_of_is_left_out():
    arcs = gf.Graph.from_edges([(0, 1), (1, 1)], [2.0, 1.0], n_nodes=3, directed=True)
    expected = {"nodes": "3", "arcs": "2", "weighted": "yes", "self-loops": "1", "isolated nodes": "1"}
    assert rows_of(arcs) == expected | {"components": "2"}
    assert rows_of(RING).keys() == {"nodes", "edges", "weighted", "components"}
    assert "gamma" not in rows_of(gf.operator(RING, "sym"))


def test_an_empty_spectrum_is_shown():
    nothing = gf.Graph.from_edges([], n_nodes=0)
    assert rows_of(gf.spectrum(gf.operator(nothing, "sym", "high")))["frequencies"] == "none"


def test_a_kernels_name_is_escaped():
    kernel = gf.filters.Kernel(lambda frequencies: frequencies, name="<script>")
    assert "<script>" not in gf.FilterBank(HIGH, kernel)._repr_html_()
