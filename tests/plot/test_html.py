"""The table that objects show in a notebook: well formed, escaped, with numbers in short."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from gsp_fb._html import table


def cells(html):
    return [[cell.text for cell in row] for row in ET.fromstring(html).iter("tr")]


def test_every_value_is_escaped():
    html = table("<script>alert(1)</script>", {"<b>": "<i onload='x'>", "a&b": '"'})
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
    assert cells(table("t", {"value": value})) == [["value", shown]]


def test_what_is_none_is_left_out():
    assert cells(table("t", {"a": None, "b": 0})) == [["b", "0"]]
