"""Whether signals are stationary on a graph: uncorrelated Fourier coefficients, tested by random signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_count, check_host, check_rng
from ..backend import FloatArray, to_dense
from ..energy.dirichlet import check_high
from ..errors import SignalError
from ..operators import Operator
from ..spectrum import spectrum

__all__ = ["Stationarity", "stationarity"]


@dataclass(frozen=True, eq=False, repr=False)
class Stationarity:
    """How diagonal the covariance of signals is in the Fourier basis.

    Parameters
    ----------
    level : float
        Norm of the diagonal over the norm of the covariance; 1 for uncorrelated coefficients.
    expected : float
        Its mean under random signs: what finitely many stationary signals reach.
    p_value : float
        Share of random signs with a level as low; small values speak against stationarity.
    power : float64 array, shape (n_nodes,)
        Estimated power spectral density: mean square of each coefficient, by increasing frequency.

    See Also
    --------
    stationarity : Makes it.

    Examples
    --------
    >>> Stationarity(0.9, 0.91, 0.4, np.ones(3))
    Stationarity(level=0.900, expected=0.910, p_value=0.4)
    """

    level: float
    expected: float
    p_value: float
    power: FloatArray

    def __repr__(self) -> str:
        return f"Stationarity(level={self.level:.3f}, expected={self.expected:.3f}, p_value={self.p_value:.3g})"


def stationarity(op: Operator, x: Any, *, n_surrogates: int = 199, rng: Any = 0) -> Stationarity:
    r"""Test whether signals are stationary on a graph: whether their Fourier coefficients are uncorrelated.

    The covariance of a stationary process is a function of the operator, :math:`U \mathrm{diag}(p) U^\top` [1]_. The
    level :math:`\|\mathrm{diag}(\hat C)\| / \|\hat C\|_F` of the sample covariance in the Fourier basis is compared
    with its values after random changes of sign of the coefficients, which keep symmetric stationary processes.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph; its full spectrum is computed, in time cubic in the nodes.
    x : array_like, shape (n_nodes, n_signals)
        Real signals with mean zero, at least 2.
    n_surrogates : int
        Number of random changes of sign.
    rng : None, int or numpy Generator

    Returns
    -------
    Stationarity

    Raises
    ------
    SignalError
        There are fewer than 2 signals, or they are complex or zero.
    ParameterError
        ``op`` is a low channel, or the graph is too large for a full spectrum.
    GraphError
        The graph is directed.

    See Also
    --------
    denoise : ``method='wiener'`` takes signal and noise as stationary.

    References
    ----------
    .. [1] N. Perraudin and P. Vandergheynst, "Stationary signal processing on graphs", IEEE TSP 65(13), 2017.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> op = operator(datasets.ring(16), "comb", channel="high")
    >>> white = np.random.default_rng(0).standard_normal((16, 50))
    >>> bool(stationarity(op, white).p_value > 0.05)
    True
    """
    check_high(op, "frequencies are those of")
    check_host(op.graph.device, "stationarity is tested")
    values = np.asarray(to_dense(op.graph.check_signal(x)))
    if values.ndim != 2 or values.shape[1] < 2 or values.dtype.kind == "c" or not values.any():
        raise SignalError(f"stationarity needs at least 2 real signals as columns, not all 0; got shape {values.shape}")
    coefficients = np.asarray(spectrum(op).gft(values.astype(np.float64)))
    generator, n = check_rng(rng), check_count(n_surrogates, "n_surrogates")
    level = _level(coefficients)
    levels = np.array([_level(coefficients * generator.choice([-1.0, 1.0], coefficients.shape)) for _ in range(n)])
    p_value = (1.0 + np.count_nonzero(levels <= level)) / (n + 1.0)
    return Stationarity(level, float(levels.mean()), float(p_value), np.mean(coefficients**2, axis=1))


def _level(coefficients: FloatArray) -> float:
    """Return the share of the diagonal in the norm of C C', by the smaller of the two Gram matrices."""
    rows, columns = coefficients.shape
    gram = coefficients @ coefficients.T if rows <= columns else coefficients.T @ coefficients
    diagonal = np.sum(coefficients**2, axis=1)
    return float(np.linalg.norm(diagonal) / np.linalg.norm(gram))
