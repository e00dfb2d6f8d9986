"""The audit of a network as a section of the report."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest
from torch import nn

import gsp_fb as gf
from gsp_fb.cli import main
from gsp_fb.nn import audit, build
from gsp_fb.report import collect, render_html, render_json, render_markdown
from gsp_fb.report.sections import audit_sections


@pytest.fixture(scope="module")
def data():
    return gf.datasets.contextual_sbm(60, degree=6, n_features=5, n_splits=2, rng=0)


@pytest.fixture(scope="module")
def found(data):
    return audit(build("fb-gcn", data), data, bands=4, probes=2)


@pytest.fixture(scope="module")
def report(data, found):
    return collect(data.graph, x=data.x, y=data.y, audit=found)


class Words(HTMLParser):
    """Headings and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_the_page_has_verdict_figures_and_tables(report, found):
    page = render_html(report)
    words = Words(page)
    assert {"audit", "audit-layers"} <= set(words.ids)
    assert len(words.ids) == len(set(words.ids))
    assert found.verdict in words.texts
    for title in ("Gain per band", "Energy by frequency of sym", "Differences with depth"):
        assert f"<figcaption>{title}" in page
    assert f"{found.response.gain[0]:.4f}" in words.texts
    assert f"{found.dependence[0].output_change:.4f}" in words.texts
    assert "nan" not in page.partition('id="audit"')[2].partition('id="graph-data"')[0]


def test_markdown_and_json_hold_the_same_numbers(report, found):
    text = render_markdown(report)
    assert "## What the network keeps: fb-gcn" in text
    assert f"{found.layers[1].effective_rank:.4f}" in text
    stored = json.loads(render_json(report))["audit"]
    assert stored == json.loads(json.dumps(found.to_dict()))


def test_a_report_without_audit_has_no_section(data):
    report = collect(data.graph)
    assert json.loads(render_json(report))["audit"] is None
    assert 'id="audit"' not in render_html(report)


def test_an_empty_band_and_a_dead_layer_are_left_out_of_the_figures(data):
    model = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 2))
    nn.init.zeros_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    whole, layers = audit_sections(audit(model, data, probes=2))
    drawn = [mark.attributes for chart in (*whole.figures, *layers.figures) for mark in chart.marks]
    numbers = [value for attributes in drawn for value in attributes.values() if isinstance(value, float)]
    assert np.isfinite(numbers).all()
    assert not any("nan" in str(attributes.get("d", "")) for attributes in drawn)


def test_command_line(data, tmp_path, monkeypatch, capsys):
    run = tmp_path / "split-1-seed-0"
    gf.nn.train(build("gcn", data), data, data.splits[1], gf.nn.TrainConfig(epochs=3), directory=run)
    gf.write_graph(data.graph, tmp_path / "graph.csv")
    for name, values in (("x", data.x), ("y", data.y)):
        np.save(tmp_path / f"{name}.npy", values)
    signals = ["--signal", str(tmp_path / "x.npy"), "--labels", str(tmp_path / "y.npy")]
    assert main(["report", str(tmp_path / "graph.csv"), *signals, "--audit", str(run), "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)["audit"]
    expected = audit(run, data).to_dict()
    assert stored["model"] == "gcn"
    assert np.allclose(stored["response"]["low"], expected["response"]["low"], rtol=1e-3)
    monkeypatch.setattr("gsp_fb.datasets.load", lambda name, **options: data)
    assert main(["report", "texas", "--audit", str(run), "-o", str(tmp_path / "page.html")]) == 0
    assert 'id="audit"' in (tmp_path / "page.html").read_text(encoding="utf-8")
