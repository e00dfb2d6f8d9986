"""What a bank's kernels look like to its operator: on the axis, as Chebyshev series, at the frequencies, as a frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from .._lambda_max import largest_eigenvalue
from .._lanczos import gauss_rule, lanczos
from ..backend import FloatArray, Signal, asarray_like, cast, namespace, norm, to_host
from ..errors import ParameterError
from ..operators import Operator
from ..solvers import System, solve
from ..spectrum import Spectrum, spectrum
from ..variants import VARIANTS
from .expansion import MARGIN, Expansion, Interval, both_sides, chebyshev_points, expand
from .kernels import Kernel
from .kernels._kernel import Float64

if TYPE_CHECKING:
    from .bank import FilterBank

__all__ = ["FOR_ROUNDING", "MAX_ORDER", "Response", "axis_end", "complement_kernel", "dual_kernels", "frame_kernel"]
__all__ += ["frequency_axis", "sampled_frequencies", "solve_frame"]

# Beyond this degree a polynomial is no longer cheap: the exact basis, or a wider tolerance, is the better offer.
MAX_ORDER = 2000
# Relative error of the largest eigenvalue that relative kernels are scaled to.
AXIS_RTOL = 1e-6
# Share of the tolerance that is left to rounding.
FOR_ROUNDING = 0.1
# Products that show where the spectrum lies, and quantiles of the diagonal, for kernels known by samples only.
WITNESS_STEPS, WITNESS_QUANTILES = 40, 65
# Points of either kind at which the size of kernels and the bounds of their frame are looked up.
SAMPLES = 4096


def frequency_axis(op: Operator) -> Interval:
    """Return ``op.bounds`` freed of rounding at 0, and widened to length 1 where no edge gives it a length."""
    low, high = op.bounds
    negligible = 1e-12 * (high if VARIANTS[op.family].norm == "none" and op.channel == "high" else 1.0)
    low = low if abs(low) > negligible else 0.0
    return (low, high) if high - low > negligible else (low, low + 1.0)


def axis_end(op: Operator) -> float:
    """Return the largest eigenvalue, to which relative kernels are scaled; the end of the axis where it is zero."""
    _, high = frequency_axis(op)
    value = largest_eigenvalue(op, rtol=AXIS_RTOL).value
    return value if value > AXIS_RTOL * high else high


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
        return float(max(*np.abs(self.interval), np.abs(to_host(self.op.diag)).max(initial=0.0)))

    @cached_property
    def expansion(self) -> Expansion:
        """The kernels as Chebyshev series."""
        sampled = any(not kernel.is_declared for kernel in self.kernels)
        return expand(self.kernels, self.interval, _witnesses(self.op, self.interval) if sampled else None)

    @cached_property
    def spectrum(self) -> Spectrum:
        """All modes of the operator."""
        return spectrum(self.op)

    @cached_property
    def frequencies(self) -> FloatArray:
        """The operator's own frequencies, on the host: kernels are functions of numpy arrays."""
        return np.asarray(to_host(self.spectrum.frequencies))

    @cached_property
    def values(self) -> FloatArray:
        """The kernels at the operator's own frequencies, shape (n_filters, n_nodes), on the host."""
        return np.stack([kernel(self.frequencies) for kernel in self.kernels])

    @property
    def allowed(self) -> float:
        """The error that ``tol`` stands for: relative to the largest kernel value, where that exceeds 1."""
        return self.tol * max(1.0, self.largest)

    @property
    def bound_kind(self) -> str:
        """``'proven'``, or ``'sampled'`` where a kernel declares nothing that a proof could use."""
        return "proven" if self.expansion.is_proven else "sampled"

    @cached_property
    def largest(self) -> float:
        """The largest absolute value of a kernel."""
        at = sampled_frequencies(self.kernels, self.interval)
        return max(float(np.abs(kernel(at)).max()) for kernel in self.kernels)

    @cached_property
    def order(self) -> int | None:
        """The least degree of polynomials within ``allowed``, or None if it is not known to be below the cap."""
        return self.degree(self.allowed * (1 - FOR_ROUNDING))

    def degree(self, tolerance: float) -> int | None:
        """Return the least degree within ``tolerance``, or None if it is not known to be below the cap."""
        if self.expansion.vanishing is not None:
            return None
        # The tails of a sampled kernel assume that it goes on as it did; its error at more samples shows whether.
        wanted = (self.expansion.order(level) or MAX_ORDER for level in (tolerance, tolerance / MARGIN))
        degrees = (*(min(degree, MAX_ORDER) for degree in wanted), MAX_ORDER)
        return next((degree for degree in degrees if self.expansion.error(degree) <= tolerance), None)


def _witnesses(op: Operator, interval: Interval) -> FloatArray:
    """Return frequencies near which eigenvalues lie: Ritz values of a random vector, and quantiles of the diagonal.

    Equal steps over the axis miss the spectrum of a graph with hubs, most of which lies close to one end.
    """
    if op.graph.storage.kind != "memory" or op.graph.n_nodes == 0:
        return np.empty(0)
    start = asarray_like(np.random.default_rng(0).standard_normal(op.graph.n_nodes), op.diag)
    ritz, _ = gauss_rule(lanczos(op.symmetrized.apply, start, WITNESS_STEPS, orthogonalize=False))
    diagonal = np.quantile(to_host(op.diagonal), np.linspace(0, 1, WITNESS_QUANTILES))
    return np.unique(np.clip(np.concatenate([ritz, diagonal]), *interval))


def _energy(kernels: tuple[Kernel, ...], frequencies: Float64) -> Float64:
    return np.asarray(np.sum([kernel(frequencies) ** 2 for kernel in kernels], axis=0))


def frame_kernel(kernels: tuple[Kernel, ...]) -> Kernel:
    r"""Return :math:`\sum_m g_m(\lambda)^2`, the gain in energy at each frequency."""
    breakpoints = tuple(sorted({at for kernel in kernels for at in kernel.breakpoints}))
    return Kernel(partial(_energy, kernels), "frame", r"\sum_m g_m(\lambda)^2", breakpoints=breakpoints)


def sampled_frequencies(kernels: tuple[Kernel, ...], interval: Interval) -> Float64:
    """Return frequencies that cover ``interval``, its ends and both sides of every break."""
    sides = both_sides(frame_kernel(kernels).breakpoints).ravel()
    points = np.concatenate([chebyshev_points(interval, SAMPLES), np.linspace(*interval, SAMPLES), sides])
    return np.unique(np.clip(points, *interval))


def _missing(kernels: tuple[Kernel, ...], bound: float, frequencies: Float64) -> Float64:
    return np.sqrt(np.maximum(bound - _energy(kernels, frequencies), 0.0))


def complement_kernel(kernels: tuple[Kernel, ...], bound: float) -> Kernel:
    r"""Return :math:`\sqrt{B - \sum_m g_m^2}`, which makes a tight frame of the bank it joins."""
    formula, breakpoints = rf"\sqrt{{{bound:g} - \sum_m g_m(\lambda)^2}}", frame_kernel(kernels).breakpoints
    return Kernel(partial(_missing, kernels, bound), "complement", formula, breakpoints=breakpoints)


def _dual(kernels: tuple[Kernel, ...], index: int, frequencies: Float64) -> Float64:
    energy = _energy(kernels, frequencies)
    if not energy.all():
        at = float(frequencies[energy == 0][0])
        raise ParameterError(f"no filter of the bank passes frequency {at:.6g}; what lies there cannot be restored")
    return kernels[index](frequencies) / energy


def dual_kernels(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    r"""Return :math:`g_m / \sum_k g_k^2`: synthesis with them undoes analysis with ``kernels``."""
    formula, breaks = r"g(\lambda) / \sum_m g_m(\lambda)^2", frame_kernel(kernels).breakpoints
    return tuple(
        Kernel(partial(_dual, kernels, m), f"dual of {one.name}", formula, False, one.lower_bound, breakpoints=breaks)
        for m, one in enumerate(kernels)
    )


def solve_frame(bank: FilterBank, c: Signal) -> Signal:
    r"""Return the solution x of :math:`\sum_m g_m(op)^2\,x = \sum_m g_m(op)\,c_m` by conjugate gradients.

    The left side is a bank of one filter. The error is at most ``bank.tol`` relative to the signal, as the residual is
    divided by the lower frame bound while the right side is at most the upper one times the signal.
    """
    least, greatest = bank.frame_bounds()
    if least <= bank.tol * greatest:
        raise ParameterError(
            f"the frame bounds are {least:.3g} and {greatest:.3g}: some frequency hardly passes the bank, and what "
            "lies there cannot be restored; add bank.complement() to it"
        )
    condition, right, scale = greatest / least, bank.synthesize(c), bank.op.scale[:, None]
    frame = replace(bank, kernels=(frame_kernel(bank.kernels),), tol=bank.tol / condition)
    target = frame.tol * norm(scale * right, axis=0)
    ones = namespace(bank.op.diag).ones_like(bank.op.diag)
    system = System(lambda z: scale * frame.analyze(z / scale)[..., 0], ones)
    z = solve(system, scale * right, target, max_steps=int(20 * math.sqrt(condition)) + 100).x
    return cast(z / scale, right.dtype)
