"""Is a signal smoother on this graph than a random placement of its values? A test of the S-value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._arguments import check_choice, check_count, check_rng
from .._cost import state_cost
from .._document import facts_html
from .._kernels import quadratic_form
from ..backend import (
    FloatArray,
    Signal,
    asarray_like,
    device_of,
    diagonal_times,
    freeze,
    is_sparse,
    namespace,
    take_rows,
    to_host,
)
from ..backend import column as beside
from ..operators import Operator
from ..spectrum import spectrum
from ._sums import gram, inner_weights, weights_of
from .dirichlet import s_value
from .permutation import expected_ratio, permutation_moments

__all__ = ["METHODS", "SURROGATES", "Significance", "label_codes", "label_forms", "normal_p_values"]
__all__ += ["s_value_significance"]

Codes = npt.NDArray[np.int16]
# Expectation and standard deviation of S over the surrogates, and the z-score of the measured value.
Null = tuple[FloatArray, FloatArray, FloatArray]
METHODS = ("permutation", "analytic")
# Columns of a block of surrogates: wide enough for the compiled product, small beside the signal of a large graph.
BLOCK_COLUMNS = 64
# Surrogates that equal the measured value up to this share of the values compared count on both sides.
SLACK = 1e-12


@dataclass(frozen=True, repr=False)
class Significance:
    """The measured S-value beside those of surrogate signals. One number each, or arrays with one entry a signal.

    Parameters
    ----------
    s_value : float or float64 array
        The measured value.
    expected, std : float or float64 array
        Mean and standard deviation of S over the surrogates: of all permutations in closed form, see
        :func:`expected_s_value`; of the drawn ones for other kinds.
    surrogates : float64 array, shape (n_surrogates,) or (n_surrogates, n_signals)
        S of each surrogate; none for ``method='analytic'``.
    p_smooth, p_rough : float or float64 array
        Share of surrogates at most, or at least, ``s_value`` (the signal counted once), or its normal approximation.
    z_score : float or float64 array
        ``(s_value - expected) / std``; nan where surrogates do not vary.

    See Also
    --------
    s_value_significance : The function that returns it.
    expected_s_value : The expectation under random permutation.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> ring = operator(datasets.ring(20), "sym", channel="high")
    >>> found = s_value_significance(ring, np.cos(np.arange(20) * np.pi / 10), n_surrogates=99, rng=0)
    >>> round(found.s_value, 4), round(found.expected, 4), found.p_smooth, found.z_score < -2
    (0.0489, 1.0526, 0.01, True)
    """

    s_value: Any
    expected: Any
    std: Any
    surrogates: FloatArray
    p_smooth: Any
    p_rough: Any
    z_score: Any

    def __repr__(self) -> str:
        if np.ndim(self.s_value):
            return f"Significance({len(self.s_value)} signals, {len(self.surrogates)} surrogates)"
        return (
            f"Significance(s_value={self.s_value:.6g}, expected={self.expected:.6g}, p_smooth={self.p_smooth:.6g}, "
            f"p_rough={self.p_rough:.6g}, {len(self.surrogates)} surrogates)"
        )

    def _repr_html_(self) -> str:
        facts = {"S": self.s_value, "expected under permutation": self.expected, "p as smooth": self.p_smooth}
        facts |= {"p as rough": self.p_rough, "z": self.z_score, "surrogates": len(self.surrogates)}
        return facts_html("Significance", facts)


def _s_values(op: Operator, x: Signal, per_column: bool) -> FloatArray:
    return np.atleast_1d(to_host(s_value(op, x, per_column=per_column)))


def _permuted(op: Operator, x: Signal, n_draws: int, per_column: bool, rng: np.random.Generator) -> FloatArray:
    """Return S of random placements of the rows of ``x``, shape (n_draws, 1 or n_signals)."""
    permutations = (rng.permutation(x.shape[0]) for _ in range(n_draws))
    codes = None if per_column else label_codes(x)
    if codes is not None and not op.graph.directed:
        return label_forms(op, codes, permutations)[:, None]
    size = 1 if is_sparse(x) else max(1, BLOCK_COLUMNS // max(x.shape[1], 1))
    blocks = iter(lambda: list(islice(permutations, size)), [])
    return np.concatenate([_block_values(op, x, block, per_column) for block in blocks])


def _block_values(op: Operator, x: Signal, block: list[Any], per_column: bool) -> FloatArray:
    """Return S of a few placements, whose columns stand side by side in one signal."""
    if len(block) == 1:
        return _s_values(op, take_rows(x, block[0]), per_column)[None, :]
    placed = namespace(x).concat([take_rows(x, permutation) for permutation in block], axis=1)
    # In the coordinates of the symmetric core the operator's inner product is the plain one.
    core = op if op.graph.directed else op.symmetrized
    placed = placed if core is op else diagonal_times(op.scale, placed)
    above = to_host(quadratic_form(op.graph, placed, core.left, core.right, core.diag)).reshape(len(block), -1)
    below = to_host(namespace(placed).sum(abs(placed) ** 2, axis=0)).reshape(len(block), -1)
    if not per_column:
        above, below = above.sum(axis=1, keepdims=True), below.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0))


def _sign_flipped(op: Operator, x: Signal, n_draws: int, per_column: bool, rng: np.random.Generator) -> FloatArray:
    modes = spectrum(op)
    coefficients = modes.gft(x)
    draws = (rng.choice([-1.0, 1.0], size=coefficients.shape[0]) for _ in range(n_draws))
    signs = (beside(asarray_like(draw, coefficients), coefficients) for draw in draws)
    return np.stack([_s_values(op, modes.igft(sign * coefficients), per_column) for sign in signs])


def label_codes(x: Signal) -> Codes | None:
    """Return the class of each row, -1 for a zero row, or None if the rows are not one-hot up to a factor."""
    values = x.data if is_sparse(x) else x
    if device_of(values) != "cpu" or x.shape[1] < 2 or x.shape[1] > np.iinfo(np.int16).max:
        return None
    host = to_host(x)
    rows, columns = host.nonzero()
    entries = np.asarray(host[rows, columns]).ravel()
    if len(rows) == 0 or np.any(rows[1:] == rows[:-1]) or np.any(entries != entries[0]):
        return None
    codes = np.full(x.shape[0], -1, dtype=np.int16)
    codes[rows] = columns
    return codes


def label_forms(op: Operator, codes: Codes, permutations: Iterable[npt.NDArray[np.integer]]) -> FloatArray:
    """Return S of the labels placed by each of ``permutations``: one pass over the edges for each, nothing stored."""
    norm = inner_weights(op)
    matrix = sparse.triu(op.to_scipy().multiply(norm[:, None]), k=1, format="csr")
    diagonal, weights, columns = norm * op.to_scipy().diagonal(), 2.0 * matrix.data, matrix.indices.astype(np.intp)
    counts = np.diff(matrix.indptr)
    # Classes as bytes stay in the cache for a hundred thousand nodes.
    small = codes.astype(np.int8) if codes.max() <= np.iinfo(np.int8).max else codes
    found, products = [], np.empty_like(weights)
    for permutation in permutations:
        placed = small[permutation]
        labelled = placed >= 0
        # An unlabelled node has no class in common with another.
        other = np.where(labelled, placed, -2).astype(placed.dtype)
        same = np.repeat(placed, counts) == other.take(columns)
        # Not by BLAS, whose threads wait for each other longer than a sum of this length takes.
        pairs = np.multiply(weights, same, out=products).sum()
        found.append((np.sum(diagonal[labelled]) + pairs) / np.sum(norm[labelled]))
    return np.array(found)


SURROGATES = {"permute": _permuted, "spectral_sign": _sign_flipped}


def s_value_significance(
    op: Operator,
    x: Any,
    *,
    per_column: bool = False,
    n_surrogates: int = 999,
    kind: str = "permute",
    method: str = "permutation",
    rng: Any = None,
) -> Significance:
    r"""Return how the S-value of ``x`` compares with those of surrogate signals.

    Drawing surrogates costs ``n_surrogates`` energies of ``x``; above 3e9 entries read, about five seconds, a warning
    states how long it takes before it starts. ``method='analytic'`` costs one.

    For random-walk families the norm changes with the placement too. ``S <= s`` is then tested as
    :math:`\langle x, (L - s)x\rangle \le 0`, whose moments are exact; ``expected`` is the expectation of the ratio to
    second order, and ``std`` that of the form relative to the expected energy.

    Parameters
    ----------
    op : Operator
        A high channel.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        Test each signal alone instead of all of them together.
    n_surrogates : int
        The smallest p-value is ``1 / (n_surrogates + 1)``.
    kind : {'permute', 'spectral_sign'}
        ``permute`` moves whole rows to random nodes: the values stay, their place on the graph is lost.
        ``spectral_sign`` flips the signs of the Fourier coefficients: the energy at each frequency stays, its place is
        lost. S depends on these energies alone, so every surrogate has the S of ``x``, both p-values are 1: a control.
    method : {'permutation', 'analytic'}
        ``permutation`` draws surrogates; its p-values are exact. ``analytic`` takes mean and variance over all
        permutations in closed form and p-values from the normal distribution, good where no few nodes dominate.
    rng : None, int or numpy Generator

    Returns
    -------
    Significance

    Raises
    ------
    ParameterError
        ``op`` is a low channel, or an option is unknown.
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere.

    See Also
    --------
    expected_s_value : The expectation alone.
    morans_i, gearys_c : The same question in the terms of spatial statistics.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> path, smooth = operator(datasets.path(20), "sym", channel="high"), [0.0] * 10 + [1.0] * 10
    >>> s_value_significance(path, smooth, n_surrogates=99, rng=0).p_smooth
    0.01
    """
    op.graph.in_one_process()
    x = op.graph.check_signal(x)
    x = x[:, None] if x.ndim == 1 else x
    check_choice(kind, SURROGATES, "kind of surrogate")
    check_choice(method, METHODS, "method")
    count, generator = check_count(n_surrogates, "n_surrogates"), check_rng(rng)
    measured = _s_values(op, x, per_column)
    null = _null_moments(op, x, measured, per_column) if kind == "permute" else None
    if method == "analytic" and null is not None:
        drawn: FloatArray = np.empty((0, len(measured)))
        shares = [normal_p_values(side * null[2], measured) for side in (1, -1)]
        return _result((measured, *null, *shares), drawn, per_column, op.diag)
    # Labels are compared once an edge, whatever the number of classes.
    width = 1 if label_codes(x) is not None else x.shape[1]
    remedy = "give fewer n_surrogates=, or method='analytic', whose cost is that of one energy"
    state_cost(float(op.graph.n_entries) * width * count, f"{count} surrogates of {x.shape[1]} signals", remedy)
    drawn = SURROGATES[kind](op, x, count, per_column, generator)
    shares = [_drawn_p_values(side * drawn, side * measured) for side in (1, -1)]
    return _result((measured, *(null or _drawn_moments(drawn, measured)), *shares), drawn, per_column, op.diag)


def _null_moments(op: Operator, x: Signal, measured: FloatArray, per_column: bool) -> Null:
    """Return expectation and standard deviation of S over all placements, and the z-score of the measured value."""
    weights, signal = weights_of(op), gram(op.graph, x, per_column)
    mean, variance = permutation_moments(weights, signal, measured)
    energy, spread = weights.norm.mean() * signal.trace, np.sqrt(variance)
    negligible = 1e-10 * np.abs(mean) + SLACK * weights.diagonal.max(initial=0.0) * signal.trace
    z = np.divide(-mean, spread, out=np.full_like(spread, np.nan), where=spread > negligible)
    std = np.divide(spread, energy, out=np.full_like(spread, np.nan), where=energy > 0)
    return expected_ratio(weights, signal), std, z


def normal_p_values(z: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the share of placements with a statistic as low: all of them where none differs from the signal."""
    from scipy.special import ndtr  # loads a third of scipy that only tests need

    return np.where(np.isnan(z) & ~np.isnan(measured), 1.0, ndtr(z))


def _drawn_p_values(drawn: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the share of surrogates with an S as low, the signal counted once; nan for a signal without S."""
    slack = SLACK * np.maximum(np.abs(measured), np.abs(drawn).max(axis=0))
    share = (1 + np.count_nonzero(drawn <= measured + slack, axis=0)) / (1 + len(drawn))
    return np.where(np.isnan(measured), np.nan, share)


def _drawn_moments(drawn: FloatArray, measured: FloatArray) -> Null:
    expected, std = drawn.mean(axis=0), drawn.std(axis=0)
    z = np.divide(measured - expected, std, out=np.full_like(std, np.nan), where=std > 1e-10 * np.abs(expected))
    return expected, std, z


def _result(numbers: tuple[FloatArray, ...], drawn: FloatArray, per_column: bool, like: Any) -> Significance:
    """Return floats for one test, arrays beside ``like`` for one test a signal."""
    surrogates = freeze(asarray_like(np.ascontiguousarray(drawn if per_column else drawn[:, 0]), like))
    measured, expected, std, z, p_smooth, p_rough = (
        freeze(asarray_like(number, like)) if per_column else float(number[0]) for number in numbers
    )
    return Significance(measured, expected, std, surrogates, p_smooth, p_rough, z)
