"""A kernel: a real function of graph frequency that knows its name, its formula and how smooth it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._arguments import check_positive, host_array
from ...backend import freeze
from ...errors import ParameterError

__all__ = ["Envelope", "Float64", "Kernel", "Rational", "Variations", "as_kernel", "bound_to", "scaled_variations"]

Float64: TypeAlias = npt.NDArray[np.float64]
Function: TypeAlias = Callable[[Float64], Any]
# Polynomial coefficients of numerator and denominator, ascending.
Rational: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
# Centre, real and imaginary semi-axis of an ellipse -> a bound on the modulus of the kernel inside, inf if it has none.
Envelope: TypeAlias = Callable[[float, float, float], float]
# Pairs (nu, V): the derivative of order nu has a total variation of at most V on the real line.
Variations: TypeAlias = tuple[tuple[int, float], ...]


@dataclass(frozen=True, repr=False)
class Kernel:
    r"""A real function of frequency, applied to an operator through its eigenvalues.

    Attributes
    ----------
    function : callable
        Array of frequencies in, array of the same shape out.
    name : str
        For legends and messages.
    formula : str
        LaTeX of the value at ``\lambda``.
    relative : bool
        The function takes ``lambda / lmax`` in [0, 1] instead of ``lambda``; :meth:`bind` fixes ``lmax``.
    lower_bound : float
        Smallest frequency at which the formula has a meaning.
    continuity : float
        Number of continuous derivatives: -1 with a jump, 0 with a kink, ``inf`` if analytic, ``nan`` if not known.
    breakpoints : tuple of float
        Where the derivatives jump.
    rational : pair of tuples, optional
        Ascending coefficients of numerator and denominator, if the kernel is a ratio of polynomials.
    envelope : callable, optional
        Of an analytic kernel: ``envelope(center, real, imaginary)`` bounds :math:`|g(z)|` in the ellipse with that
        centre on the real axis and those semi-axes; ``inf`` where the kernel is not analytic.
    variations : tuple of (int, float)
        Of a kernel with breakpoints: pairs ``(nu, V)``. The derivatives below order ``nu`` are absolutely continuous,
        and that of order ``nu`` has a total variation of at most ``V`` over all frequencies, jumps included.

    Notes
    -----
    ``rational``, ``envelope`` and ``variations`` are what a proof of the error of a polynomial needs. A kernel that
    declares none of them is known by its samples only, and the error bounds of its banks are of kind ``'sampled'``.

    Examples
    --------
    >>> square = Kernel(lambda frequencies: frequencies**2, name="square", formula=r"\lambda^2")
    >>> square([1.0, 3.0])
    array([1., 9.])
    >>> square
    Kernel('square')
    """

    function: Function
    name: str
    formula: str = ""
    relative: bool = False
    lower_bound: float = -math.inf
    continuity: float = math.nan
    breakpoints: tuple[float, ...] = ()
    rational: Rational | None = None
    envelope: Envelope | None = None
    variations: Variations = ()

    @property
    def is_declared(self) -> bool:
        """Whether the error of a polynomial can be proven, not only sampled."""
        return self.rational is not None or self.envelope is not None or bool(self.variations)

    def __repr__(self) -> str:
        return f"Kernel({self.name!r})"

    def __call__(self, frequencies: Any) -> Float64:
        """Return the values at ``frequencies``, finite and of the same shape, or say where they are not."""
        at = np.asarray(host_array(frequencies, ParameterError, "frequencies"), dtype=np.float64)
        return _checked(self.name, self._raw(freeze(at.copy())), at)

    def _raw(self, at: Float64) -> Any:
        try:
            # A value that is not finite is reported with its frequency, which a numpy warning would not name.
            with np.errstate(all="ignore"):
                return self.function(at)
        except (TypeError, ValueError, IndexError) as error:
            raise ParameterError(
                f"kernel {self.name!r} failed on an array of {at.size} frequencies ({error}); "
                "it must be vectorised: write it with numpy functions, or wrap it in numpy.vectorize"
            ) from error

    def bind(self, lmax: float) -> Kernel:
        """Return the kernel as a function of the frequency itself, ``lmax`` being the end of the axis.

        Examples
        --------
        >>> half = Kernel(lambda t: t / 2, name="half", relative=True)
        >>> half.bind(4.0)([4.0])
        array([0.5])
        """
        if not self.relative:
            return self
        lmax = check_positive(lmax, "lmax")
        breakpoints = tuple(lmax * at for at in self.breakpoints)
        return replace(
            self,
            function=partial(_rescaled, self.function, lmax),
            relative=False,
            lower_bound=lmax * self.lower_bound,
            breakpoints=breakpoints,
            envelope=None if self.envelope is None else partial(_rescaled_envelope, self.envelope, lmax),
            variations=scaled_variations(self.variations, lmax),
        )

    def plot(self, ax: Any = None, *, interval: tuple[float, float] | None = None) -> Any:
        """Draw the kernel over ``interval``, by default [0, 1] if it is relative and [0, 2] if not; return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        interval : (float, float), optional

        Examples
        --------
        >>> ax = Kernel(lambda frequencies: 1 - frequencies, name="low").plot(interval=(0.0, 1.0))
        >>> ax.lines[0].get_xdata()[[0, -1]]
        array([0., 1.])
        """
        # Pictures are a layer above; a method is only a shorthand for them.
        return import_module("gsp_fb.plot").kernel(self, interval=interval, ax=ax)


def _rescaled(function: Function, lmax: float, frequencies: Float64) -> Any:
    return function(frequencies / lmax)


def _rescaled_envelope(envelope: Envelope, lmax: float, center: float, real: float, imaginary: float) -> float:
    return envelope(center / lmax, real / lmax, imaginary / lmax)


def scaled_variations(variations: Variations, width: float) -> Variations:
    """Return the variations of ``g(t / width)`` from those of ``g``."""
    return tuple((nu, variation / width**nu) for nu, variation in variations)


def _checked(name: str, values: Any, at: Float64) -> Float64:
    values = np.asarray(values)
    if values.shape != at.shape:
        raise ParameterError(
            f"kernel {name!r} returned shape {values.shape} for frequencies of shape {at.shape}; "
            "it must return one value per frequency (a constant: numpy.full_like)"
        )
    if values.dtype.kind not in "biuf":
        raise ParameterError(f"kernel {name!r} returned {values.dtype}; kernels are real functions")
    finite = np.isfinite(values)
    if not finite.all():
        first = tuple(int(i[0]) for i in np.nonzero(~finite))
        raise ParameterError(f"kernel {name!r} is {values[first]} at frequency {at[first]:.6g}; it must be finite")
    return np.array(values, dtype=np.float64)


def as_kernel(kernel: Kernel | Function) -> Kernel:
    """Return ``kernel`` itself, or a user's plain function as a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> as_kernel(np.cos).name
    'cos'
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not callable(kernel):
        raise ParameterError(f"a kernel must be a Kernel or a function of frequency, not {kernel!r}")
    return Kernel(kernel, name=getattr(kernel, "__name__", type(kernel).__name__))


def bound_to(lmax: float | None, kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Return ``kernels`` bound to ``lmax``, or as they are, for a bank to bind, if there is none yet."""
    return kernels if lmax is None else tuple(kernel.bind(lmax) for kernel in kernels)
