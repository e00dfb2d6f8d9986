"""Pages: whole, closed to the network, small, and safe whatever the names in the data are."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import FormatError, ParameterError
from gsp_fb.report import collect, render_html, render_json, render_markdown, write_report
from gsp_fb.report.drawing import make_drawing
from gsp_fb.report.signals import make_signals
from gsp_fb.variants import VARIANTS

HOSTILE = '</script><script>alert("1")</script><img src=x onerror=alert(1)>'
UNCLOSED = ("meta", "link", "input")


class Page(HTMLParser):
    """What a browser would find: scripts with their content, attributes, and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.attributes, self.open, self.ids = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *attr) for attr in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag not in UNCLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, *attr) for attr in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attrs, before = self.scripts[-1]
            self.scripts[-1] = (attrs, before + data)


@pytest.fixture(scope="module")
def hostile():
    graph = gf.Graph.from_edges([(0, 1), (1, 2)], nodes=(HOSTILE, "b", "c"))
    return collect(graph, y=[0, 0, 1], name=HOSTILE)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    nn = pytest.importorskip("gsp_fb.nn")
    data = gf.datasets.contextual_sbm(60, degree=6, n_features=5, n_splits=2, rng=0)
    folder = tmp_path_factory.mktemp("runs")
    for number, split in enumerate(data.splits):
        model = nn.build("fb-gcn", data, seed=0, hidden=4)
        nn.train(model, data, split, nn.TrainConfig(epochs=6), directory=folder / f"split-{number}")
    return data, folder


def test_the_page_is_well_formed(hostile):
    page = Page(render_html(hostile))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_fault_103_names_are_escaped(hostile):
    text = render_html(hostile)
    assert "<script>alert" not in text
    assert "<img" not in text
    page = Page(text)
    assert len(page.scripts) == 2
    assert json.loads(page.scripts[0][1])["names"][0] == HOSTILE[:80]
    assert "<script>" not in render_markdown(hostile).replace("\\<", "&lt;")
    assert json.loads(render_json(hostile))["name"] == HOSTILE


def test_markdown_of_a_name_cannot_break_a_table():
    text = render_markdown(collect(gf.datasets.ring(4), name="a|b\n# c"))
    assert text.splitlines()[0] == "# a\\|b \\# c"


def test_only_the_own_script_and_style_may_run(hostile):
    text = render_html(hostile)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    assert "default-src 'none'" in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        content = re.search(rf"<{tag}>(.*)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_nothing_is_fetched(hostile, trained):
    data, folder = trained
    for text in (render_html(hostile), render_html(collect(data.graph, x=data.x, y=data.y, runs=[folder]))):
        assert "http:" not in text.replace('http-equiv="', "")
        assert "https:" not in text
        assert "url(" not in text
        assert "@import" not in text
        links = [value for _, name, value in Page(text).attributes if name in ("href", "src", "action", "srcset")]
        assert all(value.startswith("#") or value == "data:," for value in links)
        assert not [name for _, name, _ in Page(text).attributes if name.startswith("on") or name == "style"]


def test_every_link_has_its_target(hostile):
    page = Page(render_html(hostile))
    targets = {value[1:] for _, name, value in page.attributes if name == "href" and value.startswith("#")}
    assert targets <= set(page.ids)
    labelled = {value for _, name, value in page.attributes if name in ("for", "aria-labelledby")}
    assert labelled <= set(page.ids)


def test_the_largest_live_page_is_below_5_mb(monkeypatch):
    monkeypatch.setattr("gsp_fb.plot.layouts.STEPS", 1)
    graph = gf.datasets.erdos_renyi(4900, 2 * 78_000 / 4900**2, rng=0)
    weighted = gf.Graph.from_adjacency(graph.adjacency * 0.5)
    rng = np.random.default_rng(0)
    signals = make_signals(weighted, rng.normal(size=(4900, 8)), rng.integers(0, 9, 4900), {})
    drawn = make_drawing(weighted, signals, rng)
    assert drawn.live
    small = collect(gf.datasets.ring(5))
    assert len(render_html(replace(small, drawing=drawn)).encode()) < 5_000_000


def test_the_page_carries_the_table_of_variants(hostile):
    carried = json.loads(Page(render_html(hostile)).scripts[0][1])["families"]
    assert [(row["name"], row["loops"], row["norm"]) for row in carried] == [
        (name, row.loops, row.norm) for name, row in VARIANTS.items()
    ]


def test_runs_bring_curves_alphas_and_embeddings(trained):
    data, folder = trained
    report = collect(data.graph, x=data.x, y=data.y, runs=[folder])
    assert [run.name for run in report.runs] == ["split-0", "split-1"]
    run = report.runs[0]
    assert (run.model, run.epochs) == ("fb-gcn", 6)
    assert run.best["epoch"] == run.best_epoch
    assert len(run.curves["train_loss"]) == 6
    assert [part.channel for part in run.embeddings] == ["low", "high", "combined"]
    page = render_html(report)
    for title in ("Loss", "Accuracy", "Mixing weights", "Embedding: low", "Embedding: high"):
        assert f"<figcaption>{title}" in page


def test_too_many_runs_for_a_page_are_left_out_and_counted(trained, monkeypatch):
    data, folder = trained
    monkeypatch.setattr("gsp_fb.report.runs.SHOWN_RUNS", 1)
    report = collect(data.graph, x=data.x, y=data.y, runs=[folder])
    assert [run.name for run in report.runs] == ["split-0"]
    assert "The first 1 of 2 runs are shown" in render_html(report)


def test_runs_on_a_graph_whose_loops_were_dropped(trained):
    data, folder = trained
    looped = gf.Graph.from_adjacency(data.graph.adjacency + np.diag([1.0] + [0.0] * 59))
    assert collect(looped, x=data.x, y=data.y, runs=[folder / "split-0"]).runs[0].embeddings
    other = collect(gf.datasets.ring(60), x=data.x, y=data.y, runs=[folder / "split-0"])
    assert other.runs[0].embeddings == ()
    assert "other data" in other.notes["runs"]


def test_a_directory_without_a_run_is_refused(tmp_path):
    with pytest.raises(FormatError, match=r"no metrics\.csv"):
        collect(gf.datasets.ring(4), runs=[tmp_path])


@pytest.mark.parametrize(("name", "start"), [("a.html", "<!doctype"), ("a.md", "# ring"), ("a.json", "{")])
def test_the_ending_tells_the_format(tmp_path, name, start):
    report = collect(gf.datasets.ring(4), name="ring")
    path = write_report(report, tmp_path / name)
    assert path.read_text(encoding="utf-8").startswith(start)
    assert write_report(report, tmp_path / "plain", format="json").read_text().startswith("{")


def test_an_unknown_ending_or_format_is_refused(tmp_path):
    report = collect(gf.datasets.ring(4))
    with pytest.raises(ParameterError, match=r"ends in none of \.html"):
        write_report(report, tmp_path / "a.pdf")
    with pytest.raises(ParameterError, match="unknown format 'pdf'"):
        write_report(report, tmp_path / "a.html", format="pdf")
    assert list(tmp_path.iterdir()) == []
