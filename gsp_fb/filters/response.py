"""What a bank's kernels look like to its operator: on the axis, as Chebyshev series, at the frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..backend import FloatArray, to_host
from ..operators import Operator
from ..spectrum import Spectrum, spectrum
from ..variants import VARIANTS
from .expansion import Expansion, Interval, expand
from .frames import sampled_frequencies
from .kernels import Kernel

__all__ = ["MAX_ORDER", "Response", "frequency_axis"]

# Beyond this degree a polynomial is no longer cheap: the exact basis, or a wider tolerance, is the better offer.
MAX_ORDER = 2000
# Share of the tolerance that is left to rounding.
FOR_ROUNDING = 0.1


def frequency_axis(op: Operator) -> Interval:
    """Return ``op.bounds`` freed of rounding at 0, and widened to length 1 where no edge gives it a length."""
    low, high = op.bounds
    negligible = 1e-12 * (high if VARIANTS[op.family].norm == "none" and op.channel == "high" else 1.0)
    low = low if abs(low) > negligible else 0.0
    return (low, high) if high - low > negligible else (low, low + 1.0)


@dataclass(frozen=True, eq=False)
class Response:
    """Kernels on one operator, with the two ways of looking at them, each made when first asked for."""

    op: Operator
    kernels: tuple[Kernel, ...]
    tol: float

    @cached_property
    def interval(self) -> Interval:
        """The frequencies to cover."""
        return frequency_axis(self.op)

    @cached_property
    def summands(self) -> float:
        """The size of the numbers that a product adds up: beside heavy loops they are far greater than its result."""
        diagonal = to_host(self.op.diag)
        return float(max(*np.abs(self.interval), np.abs(diagonal).max(initial=0.0)))

    @cached_property
    def expansion(self) -> Expansion:
        """The kernels as Chebyshev series."""
        return expand(self.kernels, self.interval)

    @cached_property
    def spectrum(self) -> Spectrum:
        """All modes of the operator."""
        return spectrum(self.op)

    @cached_property
    def frequencies(self) -> FloatArray:
        """The operator's own frequencies, on the host: kernels are functions of numpy arrays."""
        found: FloatArray = to_host(self.spectrum.frequencies)
        return found

    @cached_property
    def values(self) -> FloatArray:
        """The kernels at the operator's own frequencies, shape (n_filters, n_nodes), on the host."""
        return np.stack([kernel(self.frequencies) for kernel in self.kernels])

    @property
    def allowed(self) -> float:
        """The error that ``tol`` stands for: relative to the greatest kernel value, where that exceeds 1."""
        return self.tol * max(1.0, self.greatest)

    @cached_property
    def greatest(self) -> float:
        """The largest absolute value of a kernel."""
        at = sampled_frequencies(self.kernels, self.interval)
        return max(float(np.abs(kernel(at)).max()) for kernel in self.kernels)

    @cached_property
    def order(self) -> int | None:
        """The least degree of polynomials within ``allowed``, or None if it is not known to be below the cap."""
        truncation = self.allowed * (1 - FOR_ROUNDING)
        order = self.expansion.order(truncation)
        if order is not None and order <= MAX_ORDER:
            return order
        return MAX_ORDER if self.expansion.error(MAX_ORDER) <= truncation else None
