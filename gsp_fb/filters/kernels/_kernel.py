"""Kernel: a real function of graph frequency with its name, formula and order of continuity."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._arguments import check_positive, host_array
from ..._document import facts_html
from ...backend import freeze
from ...errors import ParameterError

__all__ = ["Envelope", "Float64", "Kernel", "Rational", "Shape", "Variations", "affine_envelope", "as_kernel"]
__all__ += ["bound_to", "of_affine", "of_angle", "scaled_variations"]

Float64: TypeAlias = npt.NDArray[np.float64]
Function: TypeAlias = Callable[[Float64], Any]
Shape: TypeAlias = Callable[[Float64], Float64]
# Polynomial coefficients of numerator and denominator, ascending.
Rational: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
# Centre, real and imaginary semi-axis of an ellipse -> a bound on the modulus of the kernel inside, inf if it has none.
Envelope: TypeAlias = Callable[[float, float, float], float]
# Pairs (nu, V): the derivative of order nu has a total variation of at most V on the real line.
Variations: TypeAlias = tuple[tuple[int, float], ...]


@dataclass(frozen=True, repr=False, eq=False)
class Kernel:
    r"""A real function of graph frequency: the frequency response of a filter.

    A filter bank applies the kernel :math:`g` to a signal as :math:`g(L)x = \sum_i g(\lambda_i) u_i u_i^T x`, where
    :math:`(\lambda_i, u_i)` are the eigenpairs of the operator. The fields beside ``function`` select the method and
    bound its error: a kernel with a rational form is applied by linear solves, a smooth one by a short polynomial. A
    proof of its error needs ``rational``, ``envelope`` or ``variations``; without them the error bounds of banks rest
    on samples.

    Parameters
    ----------
    function : callable
        Maps an array of frequencies to an array of the same shape. It must be vectorised.
    name : str
        Name in legends and messages.
    formula : str
        LaTeX of the value at ``\lambda``.
    relative : bool
        The function takes ``lambda / lmax`` in [0, 1] instead of ``lambda``; :meth:`bind` fixes ``lmax``.
    lower_bound : float
        Smallest frequency in the domain of the formula.
    continuity : float
        Number of continuous derivatives: -1 with a jump, 0 with a kink, ``inf`` if all are, ``nan`` if unknown.
    breakpoints : tuple of float
        Frequencies at which the function or one of its derivatives is discontinuous.
    rational : pair of tuples, optional
        Ascending coefficients of numerator and denominator, if the kernel is a ratio of polynomials.
    envelope : callable, optional
        Of an analytic kernel: ``envelope(center, real, imaginary)`` bounds :math:`|g(z)|` in the ellipse with that
        centre on the real axis and those semi-axes; ``inf`` where the kernel is not analytic.
    variations : tuple of (int, float)
        Of a kernel with breakpoints: pairs ``(nu, V)``. The derivatives below order ``nu`` are absolutely continuous,
        and that of order ``nu`` has a total variation of at most ``V`` over all frequencies, jumps included.

    See Also
    --------
    as_kernel : Convert a plain function.
    gsp_fb.FilterBank : Applies kernels to signals.

    References
    ----------
    .. [1] D. I. Shuman et al., "The emerging field of signal processing on graphs", IEEE SPM 30(3), 2013.

    Examples
    --------
    >>> square = Kernel(lambda frequencies: frequencies**2, name="square", formula=r"\lambda^2")
    >>> square, square([1.0, 3.0])
    (Kernel('square'), array([1., 9.]))
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return all(_same(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash((self.name, self.formula, self.relative, self.breakpoints))

    def __repr__(self) -> str:
        return f"Kernel({self.name!r})"

    def _repr_html_(self) -> str:
        frequencies = "relative to lmax" if self.relative else "absolute"
        facts = {"formula": self.formula or None, "frequencies": frequencies}
        return facts_html(f"Kernel {self.name}", facts | {"error bound": "proven" if self.is_declared else "sampled"})

    def __call__(self, frequencies: Any) -> Float64:
        """Return the values at ``frequencies``: a finite float64 array of the same shape.

        Raises
        ------
        ParameterError
            The function is not vectorised, or a value is complex or not finite; the message names the frequency.
        """
        at = np.asarray(host_array(frequencies, ParameterError, "frequencies"), dtype=np.float64)
        try:
            # Values that are not finite are reported by _checked with their frequency; a numpy warning has none.
            with np.errstate(all="ignore"):
                values = self.function(freeze(at.copy()))
        except (TypeError, ValueError, IndexError) as error:
            raise ParameterError(
                f"kernel {self.name!r} failed on an array of {at.size} frequencies ({error}); "
                "it must be vectorised: write it with numpy functions, or wrap it in numpy.vectorize"
            ) from error
        return _checked(self.name, values, at)

    def bind(self, lmax: float) -> Kernel:
        """Return the kernel as a function of absolute frequency on an axis that ends at ``lmax``.

        Parameters
        ----------
        lmax : float > 0
            End of the frequency axis.

        Returns
        -------
        Kernel
            ``g(lambda / lmax)`` with the breakpoints scaled accordingly; the kernel itself if it is not relative.

        Raises
        ------
        ParameterError
            ``lmax`` is not a finite positive number.

        See Also
        --------
        gsp_fb.lambda_max : The largest frequency of an operator.

        Examples
        --------
        >>> Kernel(lambda t: t / 2, name="half", relative=True).bind(4.0)([4.0])
        array([0.5])
        """
        if not self.relative:
            return self
        lmax = check_positive(lmax, "lmax")
        return replace(
            self,
            function=partial(of_affine, self.function, 0.0, lmax),
            relative=False,
            lower_bound=lmax * self.lower_bound,
            breakpoints=tuple(lmax * at for at in self.breakpoints),
            envelope=None if self.envelope is None else partial(affine_envelope, self.envelope, shift=0.0, scale=lmax),
            variations=scaled_variations(self.variations, lmax),
        )

    def plot(self, ax: Any = None, *, interval: tuple[float, float] | None = None) -> Any:
        """Draw the kernel over an interval of frequencies.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; a new figure by default.
        interval : (float, float), optional
            Range of frequencies; by default [0, 1] for a relative kernel and [0, 2] for an absolute one.

        Returns
        -------
        matplotlib Axes

        See Also
        --------
        gsp_fb.plot.kernel : The function behind this shorthand.

        Examples
        --------
        >>> Kernel(lambda f: 1 - f, name="low").plot(interval=(0.0, 1.0)).lines[0].get_xdata()[[0, -1]]
        array([0., 1.])
        """
        # Pictures are a layer above; a method is only a shorthand for them.
        from ...plot import kernel

        return kernel(self, interval=interval, ax=ax)


def of_affine(function: Function, shift: float, scale: float, frequencies: Float64) -> Any:
    """Return the values of ``function`` after a shift and a rescaling of the frequencies."""
    return function((frequencies - shift) / scale)


def affine_envelope(
    envelope: Envelope, center: float, real: float, imaginary: float, *, shift: float, scale: float
) -> float:
    """Return the bound of :func:`of_affine` from that of its function."""
    return envelope((center - shift) / scale, real / scale, imaginary / scale)


def of_angle(shape: Function, angle: Function, t: Float64) -> Any:
    """Return sine or cosine of an angle."""
    return shape(angle(t))


def scaled_variations(variations: Variations, width: float) -> Variations:
    """Return the variations of ``g(t / width)`` from those of ``g``; those that float64 cannot hold are left out."""
    with np.errstate(all="ignore"):  # weights of 1e100 reach here
        scaled = [(nu, float(np.float64(variation) / np.float64(width) ** nu)) for nu, variation in variations]
    return tuple((nu, variation) for nu, variation in scaled if np.finfo(float).tiny <= variation < math.inf)


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
        raise ParameterError(f"kernel {name!r} is {values[first]} at frequency {at[first]:.6g}; values must be finite")
    return np.array(values, dtype=np.float64)


def as_kernel(kernel: Kernel | Function) -> Kernel:
    """Return a kernel, wrapping a plain function of frequency.

    Parameters
    ----------
    kernel : Kernel or callable
        A callable must accept an array of frequencies. Its continuity is unknown (``nan``).

    Returns
    -------
    Kernel
        ``kernel`` itself if it is one already; otherwise a kernel with the name of the function.

    Raises
    ------
    ParameterError
        ``kernel`` is not callable.

    See Also
    --------
    Kernel : Declares continuity and breakpoints too, which yields sharper error bounds.

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


def bound_to(lmax: float | None, kernel: Kernel) -> Kernel:
    """Return ``kernel`` bound to ``lmax``; unchanged for ``lmax=None``, so that a bank binds it later."""
    return kernel if lmax is None else kernel.bind(lmax)


def _same(a: Any, b: Any) -> bool:
    """Return whether two fields are equal; functions are where the same lines were closed over equal values."""
    if a is b:
        return True
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        closed = (tuple(cell.cell_contents for cell in one.__closure__ or ()) for one in (a, b))
        return a.__code__ is b.__code__ and a.__defaults__ == b.__defaults__ and _same(*closed)
    if isinstance(a, partial) and isinstance(b, partial):
        return _same((a.func, a.args, *a.keywords.items()), (b.func, b.args, *b.keywords.items()))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and np.shape(a) == np.shape(b) and bool(np.all(a == b))
