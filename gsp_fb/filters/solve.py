r"""What filters are for: denoising, filling in missing values, spreading labels.

All of them minimise a fit to what was observed plus ``tau`` times the Dirichlet energy
:math:`\langle f, L f\rangle`, in the inner product in which the high channel ``L`` is symmetric (for random-walk
families :math:`\sum_i s_i^2 x_i y_i`, ``s = op.scale``).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_device, check_labels, check_positive
from ..backend import FloatArray, IntArray, Signal, asarray_like, cast, device_of, eps, group_sum, namespace, norm
from ..energy.dirichlet import check_high
from ..errors import GraphError, GspWarning, ParameterError, SignalError
from ..operators import Operator
from ..solvers import Solution, System, solve
from ._arguments import check_mask, signal_block
from .bank import FilterBank
from .kernels import Kernel, as_kernel
from .krylov import affine_system

__all__ = ["check_smoothness", "classify", "interpolate", "tikhonov", "wiener"]

EPS = float(np.finfo(np.float64).eps)


def check_smoothness(op: Operator) -> Operator:
    """Return ``op`` if it is the high channel of an undirected graph, whose form measures smoothness."""
    if op.graph.directed:
        raise GraphError("a directed graph has no symmetric smoothness; give symmetrize= to the graph")
    return check_high(op, "smoothness is measured by")


def tikhonov(op: Operator, x: Any, tau: float, *, tol: float = 1e-8) -> Signal:
    r"""Return the denoised signal :math:`\arg\min_f \|f - x\|^2 + \tau\langle f, Lf\rangle = (I + \tau L)^{-1} x`.

    Parameters
    ----------
    op : Operator
        The high channel L.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        The noisy signal.
    tau : float > 0
        Larger means smoother.
    tol : float
        Largest error relative to the norm of ``x``, both in the inner product of the operator (weights
        ``op.scale**2``: at light nodes of a random-walk family the error may be larger).

    Returns
    -------
    array, shape as ``x``

    Raises
    ------
    GraphError
        The graph is directed.
    ParameterError
        ``op`` is a low channel, or a value is out of range.

    See Also
    --------
    wiener : Denoising with known power spectra.
    interpolate : The same penalty where only some values are known.

    References
    ----------
    .. [1] D. I. Shuman et al., "The emerging field of signal processing on graphs", IEEE SPM 30(3), 2013.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> tikhonov(operator(datasets.path(2), "comb", channel="high"), [0.0, 3.0], tau=1.0).round(6)
    array([1., 2.])
    """
    core, tau = check_smoothness(op).symmetrized, check_positive(tau, "tau")
    op.graph.in_one_process()
    x = op.graph.check_signal(x)
    columns = _columns(op, x)
    z = op.scale[:, None] * columns
    # I + tau L >= I: the error is at most the residual. Rounding keeps it above eps times the condition.
    size = norm(z, axis=0)
    allowed = check_positive(tol, "tol") * size
    rounding = 64 * EPS * (1.0 + tau * op.bounds[1]) * size
    xp = namespace(z)
    found = solve(affine_system(core, 1.0, tau, floor=1.0), z, allowed, acceptable=xp.maximum(allowed, rounding))
    _warn_if_inaccurate(found, size, max(tol, 1e6 * eps(columns)))
    f = cast(found.x / op.scale[:, None], columns.dtype)
    return f[:, 0] if x.ndim == 1 else f


def _columns(op: Operator, x: Signal) -> Any:
    """Return a checked signal as a dense block on the operator's device."""
    block = signal_block(x)
    check_device(block, op.diag)
    return block


def _warn_if_inaccurate(found: Solution, size: Any, tol: float) -> None:
    xp = namespace(size)
    worst = float(xp.max(found.error_bound / xp.where(size > 0, size, 1.0))) if size.shape[0] else 0.0
    if worst > tol:
        warnings.warn(
            f"{found.method} is within {worst:.2g} |x|, more than tol={tol:g}: rounding allows no better bound at this "
            "tau; use a smaller tau, or scale heavy edges down",
            GspWarning,
            stacklevel=3,
        )


def wiener(op: Operator, x: Any, signal_psd: Any, noise_psd: Any, *, tol: float = 1e-8) -> Signal:
    r"""Return Wiener's estimate, the kernel :math:`s(\lambda) / (s(\lambda) + n(\lambda))` applied to ``x``.

    It has the least mean square error of all linear filters if signal and noise are independent with these spectra.

    Parameters
    ----------
    op : Operator
        Of an undirected graph.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        The noisy signal.
    signal_psd, noise_psd : callable or float >= 0
        Mean square of a coefficient, as a function of frequency or the same at all.
    tol : float
        Largest error relative to the norm of ``x``.

    Returns
    -------
    array, shape as ``x``

    Raises
    ------
    ParameterError
        A power spectrum is neither a function nor a finite number >= 0.

    See Also
    --------
    tikhonov : Denoising with one parameter instead of power spectra.
    gsp_fb.FilterBank : Any other kernel.

    References
    ----------
    .. [1] N. Perraudin and P. Vandergheynst, "Stationary signal processing on graphs", IEEE TSP 65(13), 2017.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> edge = operator(datasets.path(2), "comb", channel="high")
    >>> wiener(edge, [0.0, 3.0], 1.0, lambda frequencies: frequencies).round(6)
    array([1., 2.])
    """
    signal, noise = (_spectral_density(psd, what) for psd, what in ((signal_psd, "signal"), (noise_psd, "noise")))

    def gain(frequencies: Any) -> Any:
        power = signal(frequencies)
        return power / (power + noise(frequencies))

    formula, breakpoints = r"s(\lambda)/(s(\lambda)+n(\lambda))", signal.breakpoints + noise.breakpoints
    return FilterBank(op, Kernel(gain, "wiener", formula, breakpoints=breakpoints), tol).analyze(x)[..., 0]


def _spectral_density(psd: Any, what: str) -> Kernel:
    if callable(psd):
        return as_kernel(psd)
    if not np.isscalar(psd) or not np.isfinite(psd) or psd < 0:  # type: ignore[operator]  # a finite scalar compares
        raise ParameterError(f"{what}_psd must be a number >= 0 or a function of frequency, not {psd!r}")
    return Kernel(lambda frequencies: np.full_like(frequencies, psd), f"{what}_psd")


def interpolate(op: Operator, x: Any, known: Any, *, tau: float = 0.0, tol: float = 1e-8) -> Signal:
    r"""Return the smoothest signal through the known values, or near them: regression on a graph.

    With ``tau = 0`` the minimiser of :math:`\langle f, Lf\rangle` with :math:`f = x` where ``known``; otherwise of
    :math:`\sum_{known} s_i^2 |f_i - x_i|^2 + \tau\langle f, Lf\rangle`.

    Parameters
    ----------
    op : Operator
        The high channel L.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Its values at unknown nodes do not matter, but must be finite.
    known : bool array, shape (n_nodes,)
        True where the value of ``x`` is given.
    tau : float >= 0
        Weight of the smoothness penalty; 0 keeps the known values.
    tol : float
        Relative residual of the linear system.

    Returns
    -------
    array, shape as ``x``

    Raises
    ------
    GraphError, ParameterError
        As :func:`tikhonov`.
    SignalError
        ``known`` is no mask of the nodes, or a component has no known node.

    See Also
    --------
    classify : The same for labels.
    tikhonov : The same penalty where all values are known, with noise.

    References
    ----------
    .. [1] X. Zhu, Z. Ghahramani and J. Lafferty, "Semi-supervised learning using Gaussian fields and harmonic
       functions", ICML 2003 (``tau = 0``).
    .. [2] M. Belkin, I. Matveeva and P. Niyogi, "Regularization and semi-supervised learning on large graphs", COLT
       2004 (``tau > 0``).

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> path = operator(datasets.path(3), "comb", channel="high")
    >>> interpolate(path, [1.0, 0.0, 3.0], [True, False, True]).round(6)
    array([1., 2., 3.])
    """
    op.graph.in_one_process()
    x = check_smoothness(op).graph.check_signal(x)
    columns = _columns(op, x)
    mask, weight = _check_known(op, known), 0.0 if tau == 0 else check_positive(tau, "tau")
    f = _regression(op, columns, mask, weight, tol) if weight else _harmonic(op, columns, mask, tol)
    return f[:, 0] if x.ndim == 1 else f


def _check_known(op: Operator, known: Any) -> Any:
    mask = check_mask(known, op.graph.n_nodes, SignalError, "known")
    mask = asarray_like(mask, op.diag) if device_of(mask) == "cpu" else mask
    check_device(mask, op.diag)
    xp = namespace(mask)
    labels = op.graph.component_labels
    reached = group_sum(labels, cast(mask, xp.float64), op.graph.n_components)
    lost = xp.nonzero(reached[labels] == 0)[0]
    if lost.shape[0]:
        node = int(lost[0])
        raise SignalError(f"no value is known in the component of node {node}, so nothing states what it should be")
    return mask


def _solved(system: System, right: Any, tol: float) -> Any:
    return solve(system, right, check_positive(tol, "tol") * norm(right, axis=0)).x


def _harmonic(op: Operator, x: Any, mask: Any, tol: float) -> Any:
    """Solve ``L_uu f_u = -L_uk x_k`` on the unknown nodes, in the coordinates of the symmetrized operator."""
    xp, free, scale = namespace(x), ~mask[:, None], op.scale[:, None]
    z = xp.where(free, 0.0, scale * x)
    y = _solved(_restricted(op.symmetrized, mask), -xp.where(free, op.symmetrized.apply(z), 0.0), tol)
    return cast((xp.where(free, y, 0.0) + z) / scale, x.dtype)


def _restricted(core: Operator, mask: Any) -> System:
    """Return the system of the unknown nodes alone, with the identity on the known ones."""
    xp, free, whole = namespace(core.diag), ~mask[:, None], affine_system(core, 0.0, 1.0)

    def product(v: Any) -> Any:
        return xp.where(free, core.apply(xp.where(free, v, 0.0)), v)

    def matrix() -> Any:
        inside = sparse.diags_array((~mask).astype(np.float64))
        return sparse.csr_array(inside @ core.to_scipy() @ inside + sparse.diags_array(mask.astype(np.float64)))

    diagonal = xp.where(mask, 1.0, whole.diagonal)
    return System(product, diagonal, matrix if whole.make_matrix else None, whole.balance)


def _regression(op: Operator, x: Any, mask: Any, tau: float, tol: float) -> Any:
    xp, scale, seen = namespace(x), op.scale[:, None], mask[:, None]
    system = affine_system(op.symmetrized, cast(mask, xp.float64), tau)
    return cast(_solved(system, xp.where(seen, scale * x, 0.0), tol) / scale, x.dtype)


def classify(op: Operator, y: Any, *, tau: float = 0.0, tol: float = 1e-8) -> tuple[IntArray, FloatArray]:
    """Return a class for every node from the labels of some: the class whose indicator, interpolated, is greatest.

    The methods are those of the references of :func:`interpolate`.

    Parameters
    ----------
    op : Operator
        The high channel.
    y : array_like of int, shape (n_nodes,)
        Classes from 0; a negative label means unlabelled.
    tau, tol
        As in :func:`interpolate`; with ``tau = 0`` the given labels are kept.

    Returns
    -------
    classes : int array, shape (n_nodes,)
    scores : float64 array, shape (n_nodes, n_classes)
        The interpolated indicators.

    Raises
    ------
    GraphError, ParameterError
        As :func:`tikhonov`.
    SignalError
        No node is labelled, or a component has no labelled node.

    See Also
    --------
    interpolate : The same for real values.
    gsp_fb.nn.train : Classification by a trained network.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> classify(operator(datasets.path(4), "comb", channel="high"), [0, -1, -1, 1])[0]
    array([0, 0, 1, 1])
    """
    op.graph.in_one_process()
    y = check_labels(y, op.graph.n_nodes)
    xp = namespace(y)
    known = y >= 0
    if not bool(xp.any(known)):
        raise SignalError("no node is labelled; give at least one label >= 0")
    classes = asarray_like(np.arange(int(xp.max(y)) + 1), y)
    scores = interpolate(op, cast(y[:, None] == classes[None, :], xp.float64), known, tau=tau, tol=tol)
    return xp.argmax(scores, axis=1), scores
