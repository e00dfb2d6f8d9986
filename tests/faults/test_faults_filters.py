"""Rows 65 and 66 of the catalogue of faults: bad degrees and kernels that are not functions of arrays."""

import math

import numpy as np
import pytest

from gsp_fb import Graph, operator
from gsp_fb.errors import ParameterError
from gsp_fb.filters import FilterBank, heat

RING = operator(Graph.from_edges([(i, (i + 1) % 8) for i in range(8)]), "sym", channel="high")


@pytest.mark.parametrize("order", [0, -3, 2.5, True, "30", 10**9])
def test_fault_065_chebyshev_degree_zero_or_huge(order):
    with pytest.raises(ParameterError, match="order"):
        FilterBank(RING, heat(1.0), order=order)


@pytest.mark.parametrize(
    ("kernel", "frequency"),
    [
        (lambda f: np.where(f > 1.9, np.nan, f), "1.9375"),
        (lambda f: 1.0 / f, "0"),
        (lambda f: np.log(f - 1.0), "0"),
        (lambda f: np.exp(1e6 * f), "0.0625"),
    ],
)
def test_fault_065_kernel_that_is_not_finite_is_named_with_its_frequency(kernel, frequency):
    with pytest.raises(ParameterError, match=rf"kernel '<lambda>' is -?(nan|inf) at frequency {frequency};"):
        FilterBank(RING, [heat(1.0), kernel])


def test_fault_065_kernel_that_fails_only_at_an_eigenvalue_is_found_there():
    bank = FilterBank(RING, lambda f: np.where(np.abs(f - (1 - math.sqrt(0.5))) < 1e-9, np.nan, 1.0))
    with pytest.raises(ParameterError, match=r"is nan at frequency 0\.292893"):
        bank.analyze(np.ones(8))


@pytest.mark.parametrize(
    "kernel", [lambda f: 1.0, lambda f: f[:-1], lambda f: f[:, None], lambda f: f.sum(), lambda f: []]
)
def test_fault_066_kernel_with_the_wrong_shape(kernel):
    with pytest.raises(ParameterError, match=r"returned shape .* one value per frequency"):
        FilterBank(RING, kernel)


@pytest.mark.parametrize("kernel", [math.exp, lambda f: 1.0 if f > 1 else 0.0, lambda a, b: a])
def test_fault_066_kernel_that_is_not_vectorised(kernel):
    with pytest.raises(ParameterError, match="vectorised"):
        FilterBank(RING, kernel)


@pytest.mark.parametrize(("kernel", "message"), [(lambda f: f + 1j, "complex128"), (lambda f: f.astype(str), "real")])
def test_fault_066_kernel_that_is_not_real(kernel, message):
    with pytest.raises(ParameterError, match=message):
        FilterBank(RING, kernel)


def test_fault_066_kernel_that_changes_its_argument():
    def greedy(frequencies):
        frequencies[:] = 0.0
        return frequencies

    with pytest.raises(ParameterError, match="read-only"):
        FilterBank(RING, greedy)
