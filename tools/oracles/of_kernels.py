"""Responses of the built-in kernels beside their formulas and PyGSP's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pygsp

from gsp_fb import filters

from .truth import Truth

__all__ = ["RESPONSES"]


def _end(truth: Truth) -> float:
    return float(np.linalg.eigvalsh(truth.laplacian("comb")[0])[-1])


def _axis(truth: Truth) -> Any:
    # Not the very ends, where PyGSP's sqrt(1 - h^2) has no digits left.
    return np.linspace(1e-9, 1 - 1e-5, 500) * _end(truth)


def _ours(make: Callable[[float], Any]) -> Callable[[Truth], Any]:
    def response(truth: Truth) -> Any:
        made = make(_end(truth))
        kernels = (made,) if isinstance(made, filters.Kernel) else made
        return np.stack([kernel(_axis(truth)) for kernel in kernels])

    return response


def _formula(gain: Callable[[Any, float], Any]) -> Callable[[Truth], Any]:
    return lambda t: gain(_axis(t), _end(t))[None, :]


def _theirs(name: str, *arguments: Any, **options: Any) -> Callable[[Truth], Any]:
    def response(truth: Truth) -> Any:
        graph = pygsp.graphs.Graph(truth.adjacency - np.diag(np.diag(truth.adjacency)))
        graph.compute_fourier_basis()
        found = np.atleast_2d(getattr(pygsp.filters, name)(graph, *arguments, **options).evaluate(_axis(truth)))
        return found if truth.pairs else np.full_like(found, np.nan)

    return response


def _squared(response: Callable[[Truth], Any]) -> Callable[[Truth], Any]:
    """PyGSP's second filter is sqrt(1 - g^2), which keeps 8 digits where g is near 1; its square agrees."""
    return lambda t: response(t) ** 2


def _pair(name: str) -> tuple[Callable[[Truth], Any], Callable[[Truth], Any]]:
    return _squared(_ours(lambda end: filters.KERNELS[name](lmax=end))), _squared(_theirs(name.capitalize()))


# Name of a kernel to ours and the oracle's, on the frequency axis of D - A.
RESPONSES: dict[str, tuple[Callable[[Truth], Any], Callable[[Truth], Any]]] = {
    "heat": (_ours(lambda end: filters.heat(0.7)), _formula(lambda f, end: np.exp(-0.7 * f))),
    "heat (lmax)": (_ours(lambda end: filters.heat(7.0, normalize="lmax", lmax=end)), _theirs("Heat", 7.0)),
    "wave": (_ours(lambda end: filters.wave(5.5, speed=1.3, lmax=end)), _theirs("Wave", 5.5, 1.3)),
    "low_pass": (_ours(lambda end: filters.low_pass(lmax=end)), _formula(lambda f, end: 1 - f / end)),
    "high_pass": (_ours(lambda end: filters.high_pass(lmax=end)), _formula(lambda f, end: f / end)),
    "ppr": (_ours(lambda end: filters.ppr(0.3)), _formula(lambda f, end: 0.3 / (0.3 + 0.7 * f))),
    "rational": (
        _ours(lambda end: filters.rational([1.0, 2.0], [2.0, 1.0, 3.0])),
        _formula(lambda f, end: (1 + 2 * f) / (2 + f + 3 * f**2)),
    ),
    "as_kernel": (_ours(lambda end: filters.as_kernel(np.cos)), _formula(lambda f, end: np.cos(f))),
    "ideal": (_ours(lambda end: filters.ideal(0.1, 0.5, lmax=end)), _theirs("Rectangular", 0.1, 0.5)),
    "exponential_window": (
        _ours(lambda end: filters.exponential_window(0.1, 0.5, slope=2.0, lmax=end)),
        _theirs("Expwin", 0.1, 0.5, 2),
    ),
    "mexican_hat": (_ours(lambda end: filters.mexican_hat(lmax=end)), _theirs("MexicanHat")),
    "abspline": (_ours(lambda end: filters.abspline(lmax=end)), _theirs("Abspline")),
    "meyer": (_ours(lambda end: filters.meyer(lmax=end)), _theirs("Meyer")),
    "simple_tight": (_ours(lambda end: filters.simple_tight(lmax=end)), _theirs("SimpleTight")),
    "itersine": (_ours(lambda end: filters.itersine(lmax=end)), _theirs("Itersine")),
    "half_cosine": (
        _ours(lambda end: filters.half_cosine(lmax=end)),
        # Scaled to the frame bound 1.
        lambda t: _theirs("HalfCosine")(t) / np.sqrt(9 / 8),
    ),
    "gabor": (
        _ours(lambda end: filters.gabor(filters.heat(1.0), (0.0, 0.5 * end))),
        lambda t: np.exp(-(_axis(t) - np.array([[0.0], [0.5 * _end(t)]]))),
    ),
    "regular": (
        _squared(_ours(lambda end: filters.regular(2, lmax=end))),
        # Theirs come in the other order and count one sine more.
        lambda t: _theirs("Regular", 3)(t)[::-1] ** 2,
    ),
    **{name: _pair(name) for name in ("held", "simoncelli", "papadakis")},
}
