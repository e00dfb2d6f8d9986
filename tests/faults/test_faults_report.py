"""Row 103 of the catalogue: a report shows hostile names as the text they are, and lets none of them be markup."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("jinja2")

from gsp_fb import Graph
from gsp_fb.report import collect, render_html, render_json, render_markdown

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    "]]><![CDATA[",
    "\u2028alert(1)//",
    "javascript:alert(1)",
    "&lt;b&gt;&amp;",
]


class Page(HTMLParser):
    """The elements of a page with their attributes' names, its text, and what its scripts hold."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.text, self._open = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(sorted(name for name, _ in attributes))))
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", ()))
        self._open = ""

    def handle_data(self, data):
        if self._open == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)

    def handle_comment(self, data):
        self.tags.append(("comment", (data,)))


def report(name, label):
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], nodes=(label, "b", "c", "d"))
    return collect(graph, x=np.eye(4), y=[0, 0, 1, 1], name=name)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_fault_103_a_hostile_name_makes_the_same_page_as_a_plain_one(hostile):
    plain, page = Page(render_html(report("name", "label"))), Page(render_html(report(hostile, hostile)))
    assert page.tags == plain.tags
    assert len(page.scripts) == len(plain.scripts)
    assert hostile.strip() in "".join(page.text)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_fault_103_the_scripts_are_ours_and_the_data_is_data(hostile):
    plain, page = Page(render_html(report("name", "label"))), Page(render_html(report(hostile, hostile)))
    for ours, theirs in zip(plain.scripts, page.scripts, strict=True):
        try:
            data = json.loads(ours)
        except ValueError:
            assert theirs == ours
        else:
            assert json.loads(theirs).keys() == data.keys()
            assert hostile in json.loads(theirs)["names"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_fault_103_markdown_and_json_carry_it_as_text(hostile):
    made = report(hostile, hostile)
    assert json.loads(render_json(made))["name"] == hostile
    first = render_markdown(made).splitlines()[0]
    # Every sign that could open an element is escaped.
    assert not any(sign in first.replace(f"\\{sign}", "") for sign in "<>`")
