"""Every row of the catalogue of faults has a test of its own number: 108 of 108."""

import re
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = range(1, 109)
# Rows of the second part of the catalogue; their tests are added one by one.
MORE = range(109, 151)
# The catalogue is kept beside the repository, not in it.
CATALOGUE = TESTS.parents[1] / "shared" / "FAULTS.md"


def numbered_tests():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    return Counter(int(number) for number in re.findall(r"^(?:async )?def test_fault_(\d{3})_", sources, re.MULTILINE))


def test_every_row_has_a_test_and_every_test_a_row():
    counts = numbered_tests()
    assert len(ROWS) == 108
    assert sorted(set(ROWS) - set(counts)) == []
    assert sorted(set(counts) - set(ROWS) - set(MORE)) == []


@pytest.mark.skipif(not CATALOGUE.is_file(), reason=f"{CATALOGUE} is not here")
def test_the_rows_are_those_of_the_catalogue():
    rows = re.findall(r"^\| (\d+) \|", CATALOGUE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(number) for number in rows] == list(ROWS)
