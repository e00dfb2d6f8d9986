"""A sample of the standing sweep of filter bounds: ``python -m tools.oracles filters`` runs all of it."""

import pytest

from tools.oracles import filters


@pytest.fixture(scope="module")
def known():
    return filters.truths()


def test_no_proven_bound_is_exceeded(known):
    cases = [found for found in (filters.case(seed, known) for seed in range(40)) if found is not None]
    assert len(cases) > 25
    assert "proven" in {found.plan.bound_kind for found in cases}
    assert [found for found in cases if found.plan.bound_kind == "proven" and found.is_exceeded] == []


def test_an_exceeded_bound_is_seen(known):
    """The judge itself: a bound of zero is exceeded by a polynomial of too low a degree."""
    found = next(found for found in (filters.case(seed, known) for seed in range(200)) if found and found.error > 0.01)
    liar = type(found.plan)("chebyshev", 1, 0.0, "proven", 1)
    assert type(found)(found.kernel, found.graph, liar, found.error, found.noise).is_exceeded


def test_the_sweep_writes_its_section():
    section, wrong = filters.sweep(12)
    assert wrong == 0
    assert "| built-in |" in section
