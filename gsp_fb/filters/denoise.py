r"""Denoising and inpainting: four regularisers, one interface, a strength chosen from the data or given.

Every method estimates x from :math:`y = x + n`, white noise in the inner product in which the operator is self-adjoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .._arguments import check_choice, check_host, check_positive
from ..backend import to_dense
from ..calculus import gradient
from ..errors import ParameterError
from ..operators import Operator
from ._arguments import check_mask
from ._spectral_model import SpectralModel, risk, spectral_model
from .bank import FilterBank
from .kernels import Kernel, meyer
from .solve import check_smoothness, interpolate, tikhonov
from .variation import minimize_variation

__all__ = ["METHODS", "Denoised", "denoise"]

RULES = ("gcv", "sure")
# Strengths that are compared, relative to what moves the noise by its own size.
CANDIDATES = np.geomspace(1e-3, 1e3, 25)
WAVELETS, WAVELET_TOL = 5, 1e-3
# Relative accuracy of total variation: its error is at most this times the norm of the data.
VARIATION_TOL = 1e-4
# Relative accuracy of the Wiener filter: its gain has a kink at each band, and is estimated to no better than this.
WIENER_TOL = 1e-2


@dataclass(frozen=True, eq=False, repr=False)
class Denoised:
    """A denoised signal with the choices behind it; ``numpy.asarray`` gives the signal.

    Parameters
    ----------
    signal : array, shape of the data
    strength : float
        The regularisation that was given or chosen.
    method : str
    noise : float or None
        Estimated standard deviation of the noise, where the choice needed one.
    gap : float or None
        Total variation: certified duality gap of the worst column; ``|x - x*|^2 <= 2 gap`` without a mask.
    error_bound : float or None
        Linear filters: bound on the numerical error relative to the norm of the data.

    See Also
    --------
    denoise : Makes it.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> found = denoise(operator(datasets.ring(8), "comb", channel="high"), np.eye(8)[0], strength=1.0)
    >>> found, np.asarray(found).shape
    (Denoised(tikhonov, strength=1), (8,))
    """

    signal: Any
    strength: float
    method: str
    noise: float | None = None
    gap: float | None = None
    error_bound: float | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.signal, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap={self.gap:.2g}"
        return f"Denoised({self.method}, strength={self.strength:.4g}{gap})"


@dataclass(frozen=True, eq=False)
class DenoisingTask:
    """One denoising problem: float64 columns, the observed nodes (or all), and the spectrum of data and operator."""

    op: Operator
    y: Any
    mask: Any | None
    tol: float
    rng: np.random.Generator

    def model(self) -> SpectralModel:
        """Return the energies of the data over bands of the frequency axis."""
        return spectral_model(self.op, self.y, self.rng)


def denoise(
    op: Operator,
    y: Any,
    *,
    method: str = "tikhonov",
    strength: float | str = "gcv",
    mask: Any = None,
    noise: float | None = None,
    tol: float = 1e-6,
    rng: Any = 0,
) -> Denoised:
    r"""Return an estimate of a signal from noisy, possibly incomplete values.

    ===========  ======================================================================================
    method       estimate
    ===========  ======================================================================================
    tikhonov     :math:`\arg\min_x \frac12\|x-y\|^2 + \frac{s}{2}\langle x, Lx\rangle`
    tv           :math:`\arg\min_x \frac12\|x-y\|^2 + s\,\|\nabla x\|_1`, to a certified duality gap
    wavelet      soft thresholds of ``s`` noise deviations on the coefficients of a tight Meyer frame
    wiener       gain :math:`\max(p_y - s^2, 0) / p_y` with the estimated power spectrum :math:`p_y`
    ===========  ======================================================================================

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph.
    y : array_like, shape (n_nodes,) or (n_nodes, n_signals)
        Real values; those at nodes outside ``mask`` do not matter but must be finite.
    method : {'tikhonov', 'tv', 'wavelet', 'wiener'}
    strength : float > 0, 'gcv' or 'sure'
        ``gcv`` minimises generalised cross-validation, ``sure`` Stein's unbiased estimate of the risk; both choose one
        strength for all columns. For ``wiener`` the strength is the noise deviation itself, and both rules estimate it.
    mask : bool array, shape (n_nodes,), optional
        Observed nodes; the others are filled in (``tikhonov`` and ``tv``, with a number for ``strength``).
    noise : float > 0, optional
        Standard deviation of the noise; by default from the upper half of the spectrum, right for smooth signals.
    tol : float
        Numerical accuracy relative to the norm of ``y`` (``tv``: 1e-4, ``wavelet``: 1e-3 and ``wiener``: 1e-2 at best).
    rng : None, int or numpy Generator
        Probes of traces on graphs too large for a full decomposition, and of the risk of ``wavelet``.

    Returns
    -------
    Denoised
        ``signal``, ``strength``, ``gap`` or ``error_bound``; converts to an array.

    Raises
    ------
    ParameterError
        Unknown method or strength, a low channel, or a mask where the method takes none.
    ConvergenceError
        Total variation did not reach its gap.

    See Also
    --------
    tikhonov, interpolate, wiener : The linear filters themselves.
    gsp_fb.total_variation : What ``tv`` penalises.

    References
    ----------
    .. [1] G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for choosing a good ridge
       parameter", Technometrics 21(2), 1979.
    .. [2] C. Stein, "Estimation of the mean of a multivariate normal distribution", Ann. Stat. 9(6), 1981.
    .. [3] R. J. Tibshirani and J. Taylor, "Degrees of freedom in lasso problems", Ann. Stat. 40(2), 2012.
    .. [4] N. Perraudin and P. Vandergheynst, "Stationary signal processing on graphs", IEEE TSP 65(13), 2017.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> op = operator(datasets.path(40), "comb", channel="high")
    >>> clean = np.repeat([0.0, 1.0], 20)
    >>> noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> found = denoise(op, noisy, method="tv", strength="sure")
    >>> bool(np.linalg.norm(found.signal - clean) < 0.5 * np.linalg.norm(noisy - clean))
    True
    """
    columns, shape = _check_data(op, y)
    row = METHODS[check_choice(method, METHODS, "method")]
    seen = _check_mask(mask, op.graph.n_nodes, method, strength)
    task = DenoisingTask(op, columns, seen, check_positive(tol, "tol"), np.random.default_rng(rng))
    sigma = None if noise is None else check_positive(noise, "noise")
    if isinstance(strength, str):
        check_choice(strength, RULES, "strength")
        found = row.choose(task, strength, sigma)
    else:
        found = row.apply(task, check_positive(strength, "strength"), sigma)
    return Denoised(found.signal.reshape(shape), found.strength, method, found.noise, found.gap, found.error_bound)


def _check_data(op: Operator, y: Any) -> tuple[Any, tuple[int, ...]]:
    check_smoothness(op).graph.check_real("denoising")
    check_host(op.graph.device, "denoising runs")
    op.graph.in_one_process()
    y = op.graph.check_signal(y)
    dense = np.asarray(to_dense(y))
    if dense.dtype.kind == "c":
        raise ParameterError("denoise takes real signals; denoise real and imaginary part as two columns")
    return dense.astype(np.float64).reshape(len(dense), -1), dense.shape


def _check_mask(mask: Any, n_nodes: int, method: str, strength: Any) -> Any | None:
    if mask is None:
        return None
    seen = check_mask(mask, n_nodes, ParameterError, "mask")
    if not seen.any():
        raise ParameterError(f"mask is False at all {n_nodes} nodes; it needs at least one True")
    if not METHODS[method].masked:
        able = ", ".join(name for name, row in METHODS.items() if row.masked)
        raise ParameterError(f"method={method!r} takes no mask; methods with one: {able}")
    if isinstance(strength, str):
        raise ParameterError(f"strength={strength!r} is chosen from complete data; with a mask give a number")
    return seen


def _tikhonov(task: DenoisingTask, strength: float, noise: float | None) -> Denoised:
    if task.mask is not None:
        signal = interpolate(task.op, task.y, task.mask, tau=strength, tol=task.tol)
        return Denoised(np.asarray(signal), strength, "tikhonov", noise)
    signal = tikhonov(task.op, task.y, strength, tol=task.tol)
    return Denoised(np.asarray(signal), strength, "tikhonov", noise, error_bound=task.tol)


def _choose_tikhonov(task: DenoisingTask, rule: str, noise: float | None) -> Denoised:
    model = task.model()
    sigma = model.noise if noise is None else noise
    # The frequency at which the gain is 1/2 runs over the whole axis.
    strengths = CANDIDATES / max(model.mean_frequency, np.finfo(float).tiny)
    scores = [model.score(1.0 / (1.0 + strength * model.frequencies), rule, sigma) for strength in strengths]
    return _tikhonov(task, float(strengths[int(np.argmin(scores))]), sigma)


def _variation(task: DenoisingTask, strength: float, noise: float | None) -> Denoised:
    seen = np.ones((len(task.y), 1), dtype=bool) if task.mask is None else task.mask[:, None]
    found = minimize_variation(task.op, task.y, seen, strength, tol=max(task.tol, VARIATION_TOL))
    return Denoised(found.signal, strength, "tv", noise, gap=float(np.max(found.gap, initial=0.0)))


def _choose_variation(task: DenoisingTask, rule: str, noise: float | None) -> Denoised:
    sigma = task.model().noise if noise is None else noise
    slopes = np.abs(gradient(task.op, task.y))
    scale = float(np.median(slopes)) if slopes.size else 1.0
    strengths = CANDIDATES[8:17] * (scale or 1.0)
    tried = [_variation(task, float(strength), sigma) for strength in strengths]
    metric = np.asarray(task.op.scale**2)[:, None]
    scores = []
    for found in tried:
        residual = float(np.sum(metric * (found.signal - task.y) ** 2))
        scores.append(risk(residual, _plateaus(task.op, found.signal), task.y.size, rule, sigma))
    return tried[int(np.argmin(scores))]


def _plateaus(op: Operator, x: Any) -> float:
    """Return the number of connected groups of nodes that share a value, over all columns: the degrees of freedom."""
    source, target, _ = op.graph.edges()
    slopes = np.abs(gradient(op, x))
    n_nodes, count = op.graph.n_nodes, 0
    for column, size in zip(slopes.T, np.abs(x).max(axis=0, initial=0.0), strict=True):
        flat = column <= 1e-3 * max(float(size), np.finfo(float).tiny)
        joined = sparse.coo_array((np.ones(flat.sum()), (source[flat], target[flat])), shape=(n_nodes, n_nodes))
        count += csgraph.connected_components(joined, directed=False)[0]
    return float(count)


def _shrunk(bank: FilterBank, y: Any, thresholds: Any) -> Any:
    c = np.asarray(bank.analyze(y))
    return np.asarray(bank.synthesize(np.sign(c) * np.maximum(np.abs(c) - thresholds, 0.0)))


def _wavelets(task: DenoisingTask, noise: float | None) -> tuple[FilterBank, float, Any]:
    """Return a tight frame, the noise deviation of the data and of the coefficients, 0 for the scaling function."""
    model, bank = task.model(), FilterBank(task.op, meyer(WAVELETS), tol=WAVELET_TOL)
    sigma = model.noise if noise is None else noise
    energies = [model.trace(kernel(model.frequencies) ** 2) / task.op.graph.n_nodes for kernel in bank.kernels]
    deviations = sigma * np.sqrt(energies)
    deviations[0] = 0.0
    return bank, sigma, deviations[None, None, :] / np.asarray(task.op.scale)[:, None, None]


def _wavelet(task: DenoisingTask, strength: float, noise: float | None) -> Denoised:
    bank, sigma, unit = _wavelets(task, noise)
    signal = _shrunk(bank, task.y, strength * unit)
    return Denoised(signal, strength, "wavelet", sigma, error_bound=2 * bank.tol)


def _choose_wavelet(task: DenoisingTask, rule: str, noise: float | None) -> Denoised:
    """Choose the threshold by the Monte Carlo divergence of the shrinkage (Ramani, Blu and Unser 2008)."""
    (bank, sigma, unit), scale = _wavelets(task, noise), np.asarray(task.op.scale)[:, None]
    probe = task.rng.choice([-1.0, 1.0], task.y.shape) / scale
    small = 0.01 * (sigma or 1.0)
    strengths = np.linspace(0.25, math.sqrt(2.0 * math.log(max(task.op.graph.n_nodes, 2))), 10)
    best, score = 0.0, math.inf
    for strength in strengths:
        signal = _shrunk(bank, task.y, strength * unit)
        moved = _shrunk(bank, task.y + small * probe, strength * unit)
        freedom = float(np.sum(scale**2 * probe * (moved - signal))) / small
        tried = risk(float(np.sum(scale**2 * (signal - task.y) ** 2)), freedom, task.y.size, rule, sigma)
        best, score = (float(strength), tried) if tried < score else (best, score)
    return _wavelet(task, best, sigma)


def _wiener(task: DenoisingTask, strength: float, noise: float | None) -> Denoised:
    gain = task.model().wiener_gain(strength)
    kernel = Kernel(gain, "wiener", r"\max(p_y(\lambda) - \sigma^2, 0) / p_y(\lambda)")
    bank = FilterBank(task.op, kernel, max(task.tol, WIENER_TOL))
    signal = np.asarray(bank.analyze(task.y))[..., 0]
    return Denoised(signal, strength, "wiener", strength, error_bound=bank.plan(task.y).error_bound)


def _choose_wiener(task: DenoisingTask, rule: str, noise: float | None) -> Denoised:
    sigma = task.model().noise if noise is None else noise
    return _wiener(task, max(sigma, np.finfo(float).tiny), sigma)


@dataclass(frozen=True)
class Denoiser:
    """A row of the table: how a method applies a strength, how it chooses one, whether it fills in missing values."""

    apply: Callable[[DenoisingTask, float, float | None], Denoised]
    choose: Callable[[DenoisingTask, str, float | None], Denoised]
    masked: bool


METHODS = {
    "tikhonov": Denoiser(_tikhonov, _choose_tikhonov, True),
    "tv": Denoiser(_variation, _choose_variation, True),
    "wavelet": Denoiser(_wavelet, _choose_wavelet, False),
    "wiener": Denoiser(_wiener, _choose_wiener, False),
}
