"""Is a signal smoother on this graph than chance? A surrogate test of the S-value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count, check_rng, check_signal
from .._html import table
from ..backend import FloatArray, Signal, asarray_like, column, freeze, take_rows
from ..operators import Operator
from ..spectrum import spectrum
from .dirichlet import s_value

__all__ = ["SURROGATES", "Significance", "s_value_significance"]

Draw = Callable[[np.random.Generator], Signal]


@dataclass(frozen=True, repr=False)
class Significance:
    """The measured S-value beside those of surrogate signals.

    Attributes
    ----------
    s_value : float
    surrogates : float64 array
        S of each surrogate.
    p_smooth, p_rough : float
        Share of surrogates at most, or at least, as large as ``s_value`` (the signal itself counted once).
    z_score : float
        ``(s_value - mean) / std`` of the surrogates; nan where they do not vary.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> ring = operator(datasets.ring(20), "sym", channel="high")
    >>> found = s_value_significance(ring, np.cos(np.arange(20) * np.pi / 10), n_surrogates=99, rng=0)
    >>> round(found.s_value, 4), found.p_smooth, found.z_score < -2
    (0.0489, 0.01, True)
    """

    s_value: float
    surrogates: FloatArray
    p_smooth: float
    p_rough: float
    z_score: float

    def __repr__(self) -> str:
        return (
            f"Significance(s_value={self.s_value:.6g}, p_smooth={self.p_smooth:.6g}, p_rough={self.p_rough:.6g}, "
            f"{len(self.surrogates)} surrogates)"
        )

    def _repr_html_(self) -> str:
        facts = {
            "S": self.s_value,
            "p as smooth": self.p_smooth,
            "p as rough": self.p_rough,
            "z": self.z_score,
            "surrogates": len(self.surrogates),
        }
        return table("Significance", facts)


def _permuted(op: Operator, x: Signal) -> Draw:
    return lambda rng: take_rows(x, rng.permutation(x.shape[0]))


def _sign_flipped(op: Operator, x: Signal) -> Draw:
    modes = spectrum(op)
    coefficients = modes.gft(x)

    def draw(rng: np.random.Generator) -> Signal:
        signs = asarray_like(rng.choice([-1.0, 1.0], size=coefficients.shape[0]), coefficients)
        return modes.igft(column(signs, coefficients) * coefficients)

    return draw


SURROGATES: dict[str, Callable[[Operator, Signal], Draw]] = {
    "permute": _permuted,
    "spectral_sign": _sign_flipped,
}


def s_value_significance(
    laplacian: Operator, x: Any, *, n_surrogates: int = 999, kind: str = "permute", rng: Any = None
) -> Significance:
    """Return how the S-value of ``x`` compares with those of surrogate signals.

    Parameters
    ----------
    laplacian : Operator
        A high channel.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
    n_surrogates : int
    kind : {'permute', 'spectral_sign'}
        ``permute`` moves whole rows to random nodes: the values stay, their place on the graph is forgotten.
        ``spectral_sign`` flips the signs of the Fourier coefficients: the energy at each frequency stays, where on the
        graph it sits is forgotten. For a symmetric family S is a function of those energies alone, so every surrogate
        has the S of ``x`` and both p-values are 1: use it as a control, or with random-walk families.
    rng : None, int or numpy Generator

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = Graph.from_edges([(i, i + 1) for i in range(19)])
    >>> smooth = [0.0] * 10 + [1.0] * 10
    >>> result = s_value_significance(operator(path, "sym", channel="high"), smooth, n_surrogates=99, rng=0)
    >>> result.p_smooth
    0.01
    """
    laplacian.graph.in_one_process()
    x = check_signal(x, laplacian.graph.n_nodes)
    draw = SURROGATES[check_choice(kind, SURROGATES, "kind of surrogate")](laplacian, x)
    generator = check_rng(rng)
    measured = s_value(laplacian, x)
    drawn = [s_value(laplacian, draw(generator)) for _ in range(check_count(n_surrogates, "n_surrogates"))]
    return _compare(float(measured), np.asarray(drawn, dtype=np.float64), laplacian.diag)


def _compare(measured: float, drawn: FloatArray, like: Any) -> Significance:
    # A surrogate that equals the signal up to rounding counts on both sides.
    slack = 1e-12 * max(1.0, abs(measured))
    spread = float(drawn.std())
    return Significance(
        s_value=measured,
        surrogates=freeze(asarray_like(drawn, like)),
        p_smooth=float((1 + np.count_nonzero(drawn <= measured + slack)) / (1 + drawn.size)),
        p_rough=float((1 + np.count_nonzero(drawn >= measured - slack)) / (1 + drawn.size)),
        z_score=float((measured - drawn.mean()) / spread) if spread > slack else float("nan"),
    )
