"""A plugin of pytest for mutation runs: the fastest tests go first, so that a mutant is killed as soon as can be.

``GSP_FB_MUTATION_SECONDS`` leaves out the tests that take longer: a first pass over all mutants, cheap for those that
survive it; the second pass gives the survivors to all tests.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

# Written by mutmut, beside the mutants, when it measured which test calls which function.
STATS = Path("mutmut-stats.json")
LIMIT = "GSP_FB_MUTATION_SECONDS"
# What mutmut is at, while it takes stock of all tests.
UNDER_TEST = "MUTANT_UNDER_TEST"
TAKING_STOCK = ("stats", "list_all_tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in the order of their measured seconds; those not measured stay last."""
    if not STATS.is_file():
        return
    seconds = json.loads(STATS.read_text("utf-8"))["duration_by_test"]
    items.sort(key=lambda item: seconds.get(item.nodeid, float("inf")))
    limit = float("inf" if os.environ.get(UNDER_TEST) in TAKING_STOCK else os.environ.get(LIMIT, "inf"))
    slow = [item for item in items if seconds.get(item.nodeid, 0.0) > limit]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
