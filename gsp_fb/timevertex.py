r"""Signals over nodes and times: the joint graph and time Fourier transform, and separable filters.

With the modes U of an operator and the unitary discrete Fourier transform F over times, a signal X of shape
(n_nodes, n_times) has the coefficients :math:`\hat X = U^{-1} X F^T`: the transform of the Kronecker product of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arguments import check_host, check_signal
from .backend import FloatArray, Signal, to_dense
from .errors import ParameterError, SignalError
from .filters import FilterBank
from .operators import Operator, check_operator
from .spectrum import Spectrum, spectrum

__all__ = ["joint_filter", "joint_gft", "joint_igft"]


def joint_gft(op: Operator | Spectrum, x: Any) -> Signal:
    r"""Return the joint Fourier coefficients of a signal over nodes and times.

    Row ``k`` belongs to ``spectrum(op).frequencies[k]``, column ``t`` to ``numpy.fft.fftfreq(n_times)[t]`` cycles a
    step. The energy is kept (Parseval), in the inner product of the operator over nodes.

    Parameters
    ----------
    op : Operator or Spectrum
        An operator is decomposed anew at each call, in time cubic in the nodes; give a complete Spectrum for several
        signals.
    x : array_like, shape (n_nodes, n_times)

    Returns
    -------
    complex array, shape (n_nodes, n_times)

    Raises
    ------
    SignalError
        ``x`` is not a table of nodes and times, or not finite.
    ParameterError
        The spectrum has not all modes.

    See Also
    --------
    joint_igft : The inverse.
    joint_filter : Filters in both directions, without modes.

    References
    ----------
    .. [1] F. Grassi, A. Loukas, N. Perraudin and B. Ricaud, "A time-vertex signal processing framework", IEEE Trans.
       Signal Process. 66, 2018.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> op = operator(Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> abs(joint_gft(op, [[1.0, -1.0], [1.0, -1.0]])).round(6)
    array([[0., 2.],
           [0., 0.]])
    """
    modes = _modes(op)
    return np.fft.fft(modes.gft(_table(modes.operator, x)), axis=1, norm="ortho")


def joint_igft(op: Operator | Spectrum, c: Any) -> Signal:
    """Return the signal with these joint Fourier coefficients.

    Parameters
    ----------
    op : Operator or Spectrum
        As in :func:`joint_gft`.
    c : array_like, shape (n_nodes, n_times)

    Returns
    -------
    complex array, shape (n_nodes, n_times)
        Its imaginary part is rounding where the coefficients are those of a real signal.

    See Also
    --------
    joint_gft : The transform.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> op = operator(Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> joint_igft(op, joint_gft(op, [[1.0, 2.0], [3.0, 4.0]])).real.round(6)
    array([[1., 2.],
           [3., 4.]])
    """
    modes = _modes(op)
    # Coefficients have a row for every mode, wherever the rows of the nodes are.
    return modes.igft(np.fft.ifft(_table(modes.operator, c, len(modes)), axis=1, norm="ortho"))


def joint_filter(
    op: Operator,
    x: Any,
    kernel: Callable[..., Any],
    time_kernel: Callable[[FloatArray], Any],
    *,
    tol: float | None = None,
) -> Signal:
    r"""Return a signal filtered over nodes by ``g(op)`` and over times by ``h(f)``: gain :math:`g(\lambda)\,h(f)`.

    Parameters
    ----------
    op : Operator
        The high channel; filtered by :class:`FilterBank`, without modes on large graphs.
    x : array_like, shape (n_nodes, n_times)
    kernel : Kernel or callable
        Gain at a graph frequency; one filter.
    time_kernel : callable
        Finite gain at frequencies ``numpy.fft.fftfreq(n_times)``, cycles a step from -1/2 to 1/2; times are periodic.
    tol : float, optional
        Tolerance of the bank.

    Returns
    -------
    array, shape (n_nodes, n_times)
        Real where signal, weights and the impulse response over times are; in the precision of ``x``.

    Raises
    ------
    ParameterError
        ``kernel`` has several filters, or ``time_kernel`` is no function that returns one finite gain a frequency.

    See Also
    --------
    FilterBank : Filters over nodes alone.

    Examples
    --------
    >>> from gsp_fb import Graph, filters, operator
    >>> op = operator(Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> joint_filter(op, [[1.0, 3.0], [3.0, 5.0]], filters.low_pass(), lambda f: f == 0).round(6)
    array([[3., 3.],
           [3., 3.]])
    """
    table = _table(check_operator(op), x)
    gains = _gains(time_kernel, table.shape[1])
    bank = FilterBank(op, kernel, tol)
    if len(bank) != 1:
        raise ParameterError(f"a joint filter takes one kernel over nodes, not a bank of {len(bank)}")
    smooth = bank.analyze(table)[..., 0]
    response = np.fft.ifft(gains)
    is_real = not np.iscomplexobj(smooth) and np.abs(response.imag).max(initial=0.0) <= 1e-12 * np.abs(response).max()
    spectra = np.fft.fft(smooth, axis=1)
    filtered = np.fft.ifft(gains.astype(spectra.dtype) * spectra, axis=1)
    return filtered.real if is_real else filtered


def _gains(time_kernel: Any, n_times: int) -> Any:
    """Return the checked gains of a time kernel at the frequencies of ``n_times`` samples."""
    if not callable(time_kernel):
        raise ParameterError(f"the time kernel must be a function of frequency, not {type(time_kernel).__name__}")
    gains = np.asarray(time_kernel(np.fft.fftfreq(n_times)))
    if gains.shape != (n_times,) or gains.dtype.kind not in "biufc":
        raise ParameterError(
            f"the time kernel has shape {gains.shape} and type {gains.dtype} for {n_times} frequencies"
        )
    bad = np.flatnonzero(~np.isfinite(gains))
    if bad.size:
        at = np.fft.fftfreq(n_times)[bad[0]]
        raise ParameterError(f"the time kernel is {gains[bad[0]]} at frequency {at:g}; gains must be finite")
    return gains.astype(np.complex128)


def _modes(op: Operator | Spectrum) -> Spectrum:
    modes = op if isinstance(op, Spectrum) else spectrum(op)
    if not modes.is_full:
        raise ParameterError(f"a joint transform needs all {modes.operator.graph.n_nodes} modes, not {len(modes)}")
    return modes


def _table(op: Operator, x: Any, n_rows: int | None = None) -> Any:
    """Return a checked signal over nodes and times, or the coefficients of ``n_rows`` modes, on the host."""
    check_host(op.graph.device, "signals over times are transformed")
    table = np.asarray(to_dense(op.graph.check_signal(x) if n_rows is None else check_signal(x, n_rows)))
    if table.ndim != 2 or not table.shape[1]:
        raise SignalError(f"a signal over times has shape (n_nodes, n_times), not {table.shape}")
    return table
