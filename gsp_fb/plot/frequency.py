"""The frequency axis: eigenvalues, frequency responses of banks, and Fourier coefficients of signals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._arguments import check_count
from ..backend import FloatArray, abs_squared
from ..energy import SpectralDensity
from ..errors import ParameterError
from ..filters import FilterBank, Kernel, TwoChannelBank
from ..operators import Operator
from ..spectrum import Spectrum
from ..spectrum import spectrum as decompose
from ..variants import VARIANTS
from ._style import AMOUNTS, CHANNEL_COLOURS, GREY, beside_legend, categorical, new_axes

__all__ = ["gft", "kernel", "response", "spectrogram", "spectrum"]

FREQUENCY = r"frequency $\lambda$"
SAMPLES = 512


def spectrum(modes: Operator | Spectrum | SpectralDensity, *, ax: Any = None) -> Any:
    """Draw the eigenvalues in ascending order, or the histogram of a spectral density.

    Parameters
    ----------
    modes : Operator, Spectrum or SpectralDensity
        An operator is decomposed completely; for a large graph pass ``spectrum(op, k)`` or ``spectral_density(op)``.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    gft : Coefficients of a signal over these frequencies.
    gsp_fb.spectral_density : Histogram of a large graph.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> ax = spectrum(gf.operator(gf.datasets.ring(4), "sym", "high"))
    >>> ax.lines[0].get_ydata().round(6)
    array([0., 1., 1., 2.])
    """
    if isinstance(modes, SpectralDensity):
        axes = new_axes(ax)
        axes.stairs(modes.fraction, modes.edges, fill=True, color=categorical(1)[0], alpha=0.8)
        axes.set(xlabel=FREQUENCY, ylabel="share of the eigenvalues")
        return axes
    modes = modes if isinstance(modes, Spectrum) else decompose(modes)
    op, axes = modes.operator, new_axes(ax)
    axes.plot(np.arange(1, len(modes) + 1), modes.frequencies, ".", color=categorical(1)[0])
    axes.set(xlabel="mode", ylabel=FREQUENCY, title=f"${getattr(VARIANTS[op.family], op.channel)}$")
    return axes


def gft(modes: Operator | Spectrum, x: Any, *, ax: Any = None) -> Any:
    r"""Draw the absolute Fourier coefficients of a signal over their frequencies.

    Parameters
    ----------
    modes : Operator or Spectrum
        An operator is decomposed completely.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        For several signals :math:`\sqrt{\sum_j |\hat x_{ij}|^2}` is drawn.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    SignalError
        ``x`` does not fit the graph.

    See Also
    --------
    gsp_fb.energy_profile : The energy in bands, without eigenvectors.
    gsp_fb.spectrum : The eigenvectors.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> ax = gft(gf.operator(gf.datasets.ring(4), "sym", "high"), [1.0, 1.0, 1.0, 1.0])
    >>> ax.lines[0].get_ydata().round(6) + 0.0
    array([2., 0., 0., 0.])
    """
    modes = modes if isinstance(modes, Spectrum) else decompose(modes)
    squares = np.asarray(abs_squared(modes.gft(x)))
    sizes = np.sqrt(squares if squares.ndim == 1 else squares.sum(axis=1))
    axes = new_axes(ax)
    colour = categorical(1)[0]
    axes.vlines(modes.frequencies, 0.0, sizes, colors=colour, linewidths=1.0)
    axes.plot(modes.frequencies, sizes, "o", color=colour, markersize=3)
    axes.set(xlabel=FREQUENCY, ylabel=r"$|\hat x|$")
    axes.set_ylim(bottom=0.0)
    return axes


def kernel(kernel: Kernel, *, interval: tuple[float, float] | None = None, ax: Any = None) -> Any:
    r"""Draw one kernel :math:`g(\lambda)`.

    Parameters
    ----------
    kernel : Kernel
    interval : (float, float), optional
        By default [0, 1] for a kernel of :math:`\lambda/\lambda_{max}` and [0, 2] for others.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    response : All kernels of a bank.
    gsp_fb.filters.Kernel : The kernel.

    Examples
    --------
    >>> from gsp_fb.filters import heat
    >>> kernel(heat(1.0)).lines[0].get_label()
    'heat(1)'
    """
    at = np.linspace(*((0.0, 1.0 if kernel.relative else 2.0) if interval is None else interval), SAMPLES)
    axes = new_axes(ax)
    axes.plot(at, kernel(at), color=categorical(1)[0], label=kernel.name)
    axes.set(xlabel=FREQUENCY, ylabel=r"$g(\lambda)$")
    return axes


def response(bank: FilterBank | TwoChannelBank, *, eigenvalues: bool | Spectrum = False, ax: Any = None) -> Any:
    r"""Draw the frequency response of a bank: its kernels and their sum.

    For a bank of kernels the dashed line is :math:`\sum_m g_m^2`, constant for a tight frame. For a two-channel bank
    the bands :math:`(1-\lambda)^L` and :math:`\lambda(1-\lambda)^l` over the frequencies of the high channel are drawn,
    which sum to 1.

    Parameters
    ----------
    bank : FilterBank or TwoChannelBank
    eigenvalues : bool or Spectrum
        Mark the eigenvalues of the operator on the curves: all of them, or those of a partial spectrum.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    See Also
    --------
    kernel : One kernel.
    filtered : The channels of a signal.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> ax = response(FilterBank.two_channel(ring(4), "lazy_rw"))
    >>> [line.get_label() for line in ax.lines]
    ['low', 'high', '$\\sum_m g_m$']
    """
    two = isinstance(bank, TwoChannelBank)
    kernels = FilterBank(bank.high, _bands(bank.levels)) if isinstance(bank, TwoChannelBank) else bank
    at = np.linspace(*kernels.axis, SAMPLES)
    values = np.stack([kernel(at) for kernel in kernels.kernels])
    axes = new_axes(ax)
    colours = list(CHANNEL_COLOURS.values()) if len(values) == 2 and two else categorical(len(values))
    for kernel, curve, colour in zip(kernels.kernels, values, colours, strict=True):
        axes.plot(at, curve, color=colour, label=kernel.name)
    total, name = (values.sum(axis=0), r"$\sum_m g_m$") if two else ((values**2).sum(axis=0), r"$\sum_m g_m^2$")
    axes.plot(at, total, "--", color=GREY, linewidth=1.0, label=name)
    if eigenvalues is not False:
        _mark(axes, kernels, eigenvalues, colours)
    axes.set(xlabel=FREQUENCY, ylabel=r"$g(\lambda)$")
    beside_legend(axes)
    return axes


def _mark(axes: Any, bank: FilterBank, eigenvalues: bool | Spectrum, colours: list[str]) -> None:
    """Draw a cross on each curve at every eigenvalue, and ticks below the axis."""
    modes = eigenvalues if isinstance(eigenvalues, Spectrum) else decompose(bank.op)
    at = np.asarray(modes.frequencies)
    for kernel, colour in zip(bank.kernels, colours, strict=True):
        axes.plot(at, kernel(at), "x", color=colour, markersize=3, markeredgewidth=0.7)
    axes.plot(at, np.zeros_like(at), "|", color=GREY, markersize=8, label="eigenvalues")


def spectrogram(op: Operator, x: Any = None, *, bands: int = 50, order: Any = None, ax: Any = None) -> Any:
    r"""Draw the energy of a signal over nodes and frequencies: :math:`|(g_m(L) x)_i|^2` for Gaussian bands :math:`g_m`.

    Parameters
    ----------
    op : Operator
        A high channel.
    x : array_like, shape (n_nodes,) or (n_nodes, n_signals), optional
        Energies of several signals are summed. By default the squared norms of the atoms :math:`g_m(L)\delta_i`, a
        property of the graph alone; it needs the full spectrum.
    bands : int
        Number of bands.
    order : array_like of int, shape (n_nodes,), optional
        Nodes from left to right; by number by default.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        ``op`` is a low channel, or ``order`` is no permutation of the nodes.

    See Also
    --------
    gft : Coefficients over frequency alone.
    signal : Values over nodes alone.

    References
    ----------
    .. [1] D. I. Shuman, B. Ricaud and P. Vandergheynst, "Vertex-frequency analysis on graphs", ACHA 40(2), 2016.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> ax = spectrogram(gf.operator(gf.datasets.path(12), "comb", "high"), [1.0] + [0.0] * 11, bands=8)
    >>> ax.collections[0].get_array().shape
    (8, 12)
    """
    top, n = op.bounds[1], op.graph.n_nodes
    centres = np.linspace(0.0, top, check_count(bands, "bands", minimum=2))
    kernels = [Kernel(partial(_gaussian, float(at), top / bands), f"band {at:.3g}") for at in centres]
    nodes = np.arange(n) if order is None else np.asarray(order)
    if not np.array_equal(np.sort(nodes), np.arange(n)):
        raise ParameterError(f"order must list each of the {n} nodes once")
    if x is None:
        power = _atom_energies(op, kernels)
    else:
        power = np.asarray(abs_squared(FilterBank(op, kernels, tol=1e-3).analyze(x)))
        power = power.sum(axis=1) if power.ndim == 3 else power
    axes = new_axes(ax)
    mesh = axes.pcolormesh(np.arange(n), centres, power[nodes].T, cmap=AMOUNTS, shading="nearest")
    axes.figure.colorbar(mesh, ax=axes, label="energy")
    axes.set(xlabel="node", ylabel=FREQUENCY)
    return axes


def _gaussian(centre: float, width: float, frequencies: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(((frequencies - centre) / width) ** 2)))


def _atom_energies(op: Operator, kernels: list[Kernel]) -> FloatArray:
    modes = decompose(op)
    gains = np.stack([kernel(modes.frequencies) for kernel in kernels], axis=1)
    return np.asarray(abs_squared(modes.symmetrized_basis)) @ gains**2


def _bands(levels: int) -> list[Kernel]:
    """Return the bands of a cascade, coarsest first, as functions of the frequency of the high channel."""
    names = {level: f"high {level + 1}" for level in reversed(range(levels))} if levels > 1 else {0: "high"}
    details = [Kernel(partial(_detail, level), name) for level, name in names.items()]
    return [Kernel(lambda frequencies: (1.0 - frequencies) ** levels, "low"), *details]


def _detail(level: int, frequencies: FloatArray) -> FloatArray:
    return np.asarray(frequencies * (1.0 - frequencies) ** level)
