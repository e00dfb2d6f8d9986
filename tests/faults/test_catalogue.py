"""Every row of the catalogue of faults has a test of its own number."""

import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
CATALOGUE = Path(__file__).with_name("CATALOGUE.md")


def catalogue_rows():
    return [int(number) for number in re.findall(r"^\| (\d+) \|", CATALOGUE.read_text(encoding="utf-8"), re.MULTILINE)]


def numbered_tests():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    return Counter(int(number) for number in re.findall(r"^(?:async )?def test_fault_(\d{3})_", sources, re.MULTILINE))


def test_the_rows_are_numbered_in_order():
    assert catalogue_rows() == list(range(1, 151))


def test_every_row_has_a_test_and_every_test_a_row():
    counts, rows = numbered_tests(), set(catalogue_rows())
    assert sorted(rows - set(counts)) == []
    assert sorted(set(counts) - rows) == []
