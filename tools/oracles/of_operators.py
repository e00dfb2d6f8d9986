"""Numbers of an operator and a signal, for every family: ours, and dense matrices from the paper's definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb import filters, sampling
from gsp_fb.theory import paper_dense, paper_matrix

from .moments import expected_ratio, mean_form, product_moment
from .truth import Truth

__all__ = ["PER_FAMILY", "sizes"]


# Eigenvalues closer than this, relative to the largest, are taken as equal.
GAP = 1e-6


def _op(truth: Truth, family: str) -> gf.Operator:
    return gf.operator(truth.graph, family, channel="high")


def _spectrum(truth: Truth, family: str) -> Any:
    return np.linalg.eigvalsh(truth.symmetric(family)[0])


def _form(truth: Truth, family: str) -> tuple[float, float]:
    """Return the Dirichlet energy and the energy of the signal, in the operator's inner product."""
    high, weights = truth.laplacian(family)
    return float(truth.x @ (weights * (high @ truth.x))), float(truth.x @ (weights * truth.x))


def _forms(truth: Truth, family: str) -> tuple[Any, Any, Any]:
    """Return the matrices of both energies, and the Gram matrix of the signal."""
    high, weights = truth.laplacian(family)
    unit = weights.max()
    return (weights / unit)[:, None] * high, np.diag(weights / unit), np.outer(truth.x, truth.x)


def _variance(truth: Truth, family: str) -> float:
    """Return the variance of the form of the test, ``<x, (L - S) x>``, relative to the expected energy squared."""
    above, below, gram = _forms(truth, family)
    energy, norm = _form(truth, family)
    level = above - energy / norm * below
    return (product_moment(level, level, gram) - mean_form(level, gram) ** 2) / mean_form(below, gram) ** 2


def _variance_size(truth: Truth, family: str) -> float:
    above, below, gram = _forms(truth, family)
    return product_moment(above, above, gram) / mean_form(below, gram) ** 2


def _incidence(truth: Truth, family: str) -> Any:
    """Return one row an edge, the square root of its weight at both ends, divided by the root degrees for sym.

    The row of a loop is zero.
    """
    weights = truth.laplacian(family.replace("sym", "rw"))[1] if family.endswith("sym") else np.ones(len(truth.x))
    matrix = np.zeros((len(truth.edges), len(truth.x)))
    for row, (i, j, w) in enumerate(truth.edges):
        matrix[row, i] -= np.sqrt(w / weights[i])
        matrix[row, j] += np.sqrt(w / weights[j])
    return matrix


def _flow(truth: Truth) -> Any:
    return np.cos(np.arange(len(truth.edges)))


def _bands(truth: Truth, family: str) -> Any:
    """Return up to four bands whose inner edges lie in the widest gaps between eigenvalues."""
    values = _spectrum(truth, family)
    widest = [at for at in np.argsort(np.diff(values))[-3:] if values[at + 1] - values[at] > GAP * values[-1]]
    widest = np.sort(np.array(widest, dtype=int))
    low, high = _op(truth, family).bounds
    return np.unique([min(low, 0.0), *((values[widest] + values[widest + 1]) / 2), high])


def _energies(truth: Truth, family: str) -> Any:
    matrix, root = truth.symmetric(family)
    values, basis = np.linalg.eigh(matrix)
    edges = _bands(truth, family)
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges, weights=(basis.T @ (root * truth.x)) ** 2)[0]


def _density(truth: Truth, family: str) -> Any:
    edges = _bands(truth, family)
    return np.histogram(np.clip(_spectrum(truth, family), edges[0], edges[-1]), edges)[0] / len(truth.x)


def _bandwidth(truth: Truth, family: str) -> int:
    """Return a number of modes that ends at a gap, in the lower half if there is one: their span is determined."""
    values = _spectrum(truth, family)
    gaps = np.flatnonzero(np.diff(values) > GAP * values[-1])
    half = gaps[gaps < max(1, len(values) // 2)]
    chosen = half if len(half) else gaps
    return 1 + int(chosen[np.argmax(np.diff(values)[chosen])]) if len(chosen) else len(values)


def _bandlimited(truth: Truth, family: str) -> tuple[Any, Any, Any]:
    """Return the basis of the lowest modes, the root weights, and the projection of the signal."""
    matrix, root = truth.symmetric(family)
    basis = np.linalg.eigh(matrix)[1][:, : _bandwidth(truth, family)]
    return basis, root, basis @ (basis.T @ (root * truth.x)) / root


def _recovered(truth: Truth, family: str) -> Any:
    x, k, nodes = _bandlimited(truth, family)[2], _bandwidth(truth, family), np.arange(len(truth.x))
    return sampling.recover(_op(truth, family), nodes, x, k)


def _half(truth: Truth) -> Any:
    return np.arange(0, len(truth.x), 2)


def _smallest(truth: Truth, family: str) -> float:
    sampled = _bandlimited(truth, family)[0][_half(truth)]
    return float(np.linalg.svd(sampled, compute_uv=False)[-1]) if len(sampled) >= sampled.shape[1] else 0.0


def _encoded(truth: Truth, family: str) -> Any:
    """Return the frequencies of the columns of our positional encoding, by the oracle's matrix."""
    matrix, root = truth.symmetric(family)
    modes = gf.laplacian_pe(_op(truth, family), 3, warn=False) * root[:, None]
    return np.sort(np.einsum("ik,ij,jk->k", modes, matrix, modes)), np.linalg.norm(modes, axis=0)


def _encoding(truth: Truth, family: str) -> Any:
    values = _spectrum(truth, family)
    found = values[values > 1e-9 * max(1.0, values[-1])][:3]
    present = np.concatenate([np.ones(len(found)), np.zeros(3 - len(found))])
    return np.sort(np.concatenate([found, np.zeros(3 - len(found))])), present


def _regression(truth: Truth, family: str) -> Any:
    """Return the left side of the normal equations at our solution: its tolerance is that of the residual."""
    matrix, root = truth.symmetric(family)
    found = filters.interpolate(_op(truth, family), truth.x, truth.known, tau=0.7, tol=1e-12)
    return (np.diag(truth.known.astype(float)) + 0.7 * matrix) @ (root * found)


def _harmonic(truth: Truth, family: str, x: Any) -> Any:
    high, weights = truth.laplacian(family)
    seen, form = truth.known, weights[:, None] * high
    found = np.array(x)
    found[~seen] = np.linalg.solve(form[~seen][:, ~seen], -form[~seen][:, seen] @ x[seen])
    return found


def _scores(truth: Truth, family: str) -> Any:
    hidden = np.where(truth.known, truth.y, -1)
    return filters.classify(_op(truth, family), hidden, tol=1e-12)[1]


def _indicators(truth: Truth, family: str) -> Any:
    seen = truth.y[truth.known]
    return _harmonic(truth, family, np.eye(seen.max() + 1)[np.minimum(truth.y, seen.max())])


def _over_time(truth: Truth, family: str) -> Any:
    gains = np.fft.fft(truth.applied(family, lambda f: np.exp(-0.7 * f), truth.table), axis=1)
    return np.fft.ifft(gains * np.cos(np.fft.fftfreq(3)), axis=1).real


def _power(truth: Truth, family: str) -> float:
    root = truth.symmetric(family)[1]
    return float(np.sum((root[:, None] * truth.table) ** 2) / 3)


def _within(truth: Truth, family: str) -> float:
    """Return the oracle's largest eigenvalue, or our bound that it violates."""
    low, high = gf.lambda_max_bounds(_op(truth, family))
    return float(np.clip(_spectrum(truth, family)[-1], low, high))


def _streamed(truth: Truth, family: str) -> Any:
    stream = gf.StreamingEnergy(_op(truth, family), np.zeros_like(truth.x))
    for node, value in enumerate(truth.x):
        stream.set_value(node, float(value))
    return stream.dirichlet_energy


def _moment(op: gf.Operator, x: Any) -> float:
    moments = gf.energy_profile(op, x).moments
    return float(moments[1] / moments[0])


def _sym(truth: Truth, family: str) -> Any:
    return np.eye(len(truth.x)) - truth.laplacian(family)[0]


# Name to ours and the oracle's, of a truth and a family.
PER_FAMILY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "operator @ x": (lambda t, f: _op(t, f) @ t.x, lambda t, f: t.laplacian(f)[0] @ t.x),
    "paper_matrix": (lambda t, f: paper_matrix(_op(t, f)), lambda t, f: t.laplacian(f)[0]),
    "paper_dense": (lambda t, f: paper_dense(t.graph, f), _sym),
    "dirichlet_energy": (lambda t, f: gf.dirichlet_energy(_op(t, f), t.x), lambda t, f: _form(t, f)[0]),
    "StreamingEnergy": (_streamed, lambda t, f: _form(t, f)[0]),
    "signal_energy": (lambda t, f: gf.signal_energy(t.x, _op(t, f)), lambda t, f: _form(t, f)[1]),
    "nonsmooth_energy": (
        lambda t, f: gf.nonsmooth_energy(_op(t, f), t.x),
        lambda t, f: _form(t, f)[1] - _form(t, f)[0],
    ),
    "s_value": (lambda t, f: gf.s_value(_op(t, f), t.x), lambda t, f: _form(t, f)[0] / _form(t, f)[1]),
    "expected_s_value": (
        lambda t, f: gf.expected_s_value(_op(t, f), t.x),
        lambda t, f: expected_ratio(*_forms(t, f)),
    ),
    "s_value_significance (variance)": (
        lambda t, f: gf.s_value_significance(_op(t, f), t.x, method="analytic").std ** 2,
        _variance,
    ),
    "energy_profile (mean)": (lambda t, f: _moment(_op(t, f), t.x), lambda t, f: _form(t, f)[0] / _form(t, f)[1]),
    "energy_profile (bands)": (lambda t, f: gf.energy_profile(_op(t, f), t.x, _bands(t, f)).energy, _energies),
    "spectral_density": (lambda t, f: gf.spectral_density(_op(t, f), _bands(t, f)).fraction, _density),
    "spectrum": (lambda t, f: gf.spectrum(_op(t, f)).frequencies, _spectrum),
    "lambda_max": (lambda t, f: gf.lambda_max(_op(t, f)), lambda t, f: float(_spectrum(t, f)[-1])),
    "lambda_max_bounds": (_within, lambda t, f: float(_spectrum(t, f)[-1])),
    "eigengap": (lambda t, f: gf.eigengap(_op(t, f)).ratio, lambda t, f: 1.0 - float(_spectrum(t, f)[1])),
    "laplacian_pe (frequencies, norms)": (_encoded, _encoding),
    "tikhonov": (
        lambda t, f: filters.tikhonov(_op(t, f), t.x, 3.0, tol=1e-12),
        lambda t, f: np.linalg.solve(np.eye(len(t.x)) + 3.0 * t.laplacian(f)[0], t.x),
    ),
    "denoise": (
        lambda t, f: filters.denoise(_op(t, f), t.x, strength=0.8, tol=1e-12).signal,
        lambda t, f: np.linalg.solve(np.eye(len(t.x)) + 0.8 * t.laplacian(f)[0], t.x),
    ),
    "FilterBank(heat)": (
        lambda t, f: filters.FilterBank(_op(t, f), filters.heat(0.7), 1e-10).analyze(t.x)[:, 0],
        lambda t, f: t.applied(f, lambda v: np.exp(-0.7 * v)),
    ),
    "wiener": (
        lambda t, f: filters.wiener(_op(t, f), t.x, filters.heat(1.0), 0.5, tol=1e-10),
        lambda t, f: t.applied(f, lambda v: np.exp(-v) / (np.exp(-v) + 0.5)),
    ),
    "joint_filter": (
        lambda t, f: gf.joint_filter(_op(t, f), t.table, filters.heat(0.7), np.cos, tol=1e-10),
        _over_time,
    ),
    "joint_gft (energies)": (
        lambda t, f: np.sum(np.abs(gf.joint_gft(_op(t, f), t.table)) ** 2, axis=0),
        lambda t, f: np.sum(
            np.abs(np.fft.fft(t.symmetric(f)[1][:, None] * t.table, axis=1, norm="ortho")) ** 2, axis=0
        ),
    ),
    "joint_igft": (
        lambda t, f: gf.joint_igft(_op(t, f), gf.joint_gft(_op(t, f), t.table)).real,
        lambda t, f: t.table,
    ),
    "stationarity (power)": (
        lambda t, f: filters.stationarity(_op(t, f), t.table, n_surrogates=2).power.sum(),
        _power,
    ),
    "interpolate": (
        lambda t, f: filters.interpolate(_op(t, f), t.x, t.known, tol=1e-12),
        lambda t, f: _harmonic(t, f, t.x),
    ),
    "interpolate (tau, residual)": (_regression, lambda t, f: t.known * t.symmetric(f)[1] * t.x),
    "classify (scores)": (_scores, _indicators),
    "recover": (_recovered, lambda t, f: _bandlimited(t, f)[2]),
    "condition": (lambda t, f: sampling.condition(_op(t, f), _half(t), _bandwidth(t, f)).smallest, _smallest),
    "incidence": (lambda t, f: gf.incidence(_op(t, f)).toarray(), _incidence),
    "gradient": (lambda t, f: gf.gradient(_op(t, f), t.x), lambda t, f: _incidence(t, f) @ t.x),
    "divergence": (
        lambda t, f: gf.divergence(_op(t, f), _flow(t)),
        lambda t, f: (_incidence(t, f).T @ _flow(t)) / t.laplacian(f)[1],
    ),
    "divergence of gradient": (
        lambda t, f: gf.divergence(_op(t, f), gf.gradient(_op(t, f), t.x)),
        lambda t, f: t.laplacian(f)[0] @ t.x,
    ),
    "total_variation": (
        lambda t, f: gf.total_variation(_op(t, f), t.x),
        lambda t, f: float(np.abs(_incidence(t, f) @ t.x).sum()),
    ),
    "total_variation (p=2)": (lambda t, f: gf.total_variation(_op(t, f), t.x, p=2), lambda t, f: _form(t, f)[0]),
}


def sizes(truth: Truth, family: str) -> dict[str, float]:
    """Return the least size that numbers are compared in: a difference is known to the size of what is subtracted."""
    energy, norm = _form(truth, family)
    smooth = norm if family != "comb" else 0.0
    return {
        "nonsmooth_energy": max(energy, norm),
        "dirichlet_energy": smooth,
        "StreamingEnergy": smooth,
        "eigengap": 1.0,
        "condition": 1.0,
        "energy_profile (bands)": norm,
        "s_value_significance (variance)": _variance_size(truth, family),
    }
