"""Tables and text in every format: well formed, escaped, the same cells."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from gsp_fb._document import Heading, Table, Text, facts_html, facts_text, to_html, to_markdown


def cells(html):
    return [[cell.text for cell in row] for row in ET.fromstring(html).iter("tr")]


def test_every_value_is_escaped():
    html = facts_html("<script>alert(1)</script>", {"<b>": "<i onload='x'>", "a&b": '"'})
    assert "<script>" not in html
    assert "<i" not in html
    assert cells(html) == [["<b>", "<i onload='x'>"], ["a&b", '"']]
    assert ET.fromstring(html).find("caption/b").text == "<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234567, "1 234 567"),
        (np.int64(12), "12"),
        (0.1 + 0.2, "0.3"),
        (np.float32(2.5), "2.5"),
        (True, "yes"),
        (np.False_, "no"),
        ("text", "text"),
    ],
)
def test_numbers_are_shown_in_short(value, shown):
    assert cells(facts_html("t", {"value": value})) == [["value", shown]]


def test_what_is_none_is_left_out():
    assert cells(facts_html("t", {"a": None, "b": 0})) == [["b", "0"]]


HOSTILE = '</td><script>alert("1")</script> a|b `c` *d* _e_ [f](g) \n# h'
BLOCKS = [Heading(1, HOSTILE), Text(HOSTILE, literal=True), Table([HOSTILE, "n"], [[HOSTILE, "1"]])]


def rendered(markdown):
    """Return the elements that a CommonMark parser with tables finds."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark", {"html": True}).enable("table")
    return parser.render(markdown)


def test_names_from_the_data_cannot_add_markup_to_a_page():
    page = to_html(HOSTILE, BLOCKS)
    assert "<script" not in page
    assert page.count("<td") == 2
    shown = rendered(to_markdown(BLOCKS, Path()))
    assert not re.search(r"<(?:script|em|code|a|h2)\b", shown)
    assert shown.count("<td") == 2


def test_a_table_holds_the_same_cells_in_every_format():
    records = [{"family": "sym", "S": 0.25, "holds": True}, {"family": "x" * 50, "S": None, "holds": None}]
    table = Table.from_records(records, absent="?")
    assert list(table.numeric) == [False, True, False]
    text, markdown, html = table.text(width=200), table.markdown(), table.html()
    for row in [table.header, *table.rows]:
        assert any(line.split() == row for line in text.splitlines())
        assert "| " + " | ".join(row) + " |" in markdown.splitlines()
    assert cells(html) == [list(table.header), *map(list, table.rows)]
    assert html.count('class="number"') == 3
    assert html.count('class="long"') == 1


@pytest.mark.parametrize("width", [20, 40, 80])
def test_text_is_cut_to_the_width(width):
    records = [{"name": "y" * 100, "value": 1.0}]
    assert max(map(len, Table.from_records(records).text(width=width).splitlines())) <= width
    assert max(map(len, facts_text({"name": "y" * 100}, width=width).splitlines())) <= width


def test_titles_of_numbers_are_broken_before_text_is_cut():
    records = [{"family": name, "E": 1260.7391, "Dirichlet energy": 1.0} for name in ("renorm_sym", "renorm_rw")]
    title, second, *rows = Table.from_records(records).text(width=34).splitlines()
    assert [title.split(), second.split()] == [["Dirichlet"], ["family", "E", "energy"]]
    assert [row.split()[0] for row in rows] == ["renorm_sym", "renorm_rw"]
    assert len({len(line) for line in (title, second, *rows)}) == 1


def test_columns_of_text_that_look_numeric_are_aligned_to_the_right():
    assert list(Table(["a", "b", "c"], [["x", "−1.5", "·"], ["1", "< 0.1", ""]]).numeric) == [False, True, False]
