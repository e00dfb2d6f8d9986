"""Every row of the catalogue of faults that the library promises has a test of its own number."""

import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
# Not promised yet: 102 (clocks, time zones, very long paths) and 103 (the HTML report).
PROMISED = {*range(1, 102), *range(104, 109)}


def numbered_tests():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    return Counter(int(number) for number in re.findall(r"def test_fault_(\d{3})_", sources))


def test_every_promised_row_has_a_test():
    assert sorted(PROMISED - set(numbered_tests())) == []
