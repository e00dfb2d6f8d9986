"""The table of operator families: every Laplacian and affinity matrix of the paper is one row.

A family adds self-loops ``gamma * s`` to the adjacency (s = 0, 1 or the degree) and normalises the sum. A new family is
a new row of ``VARIANTS``; command-line choices, error messages, plot labels and tests iterate over the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ._arguments import check_choice, check_positive
from .backend import namespace
from .errors import ParameterError

__all__ = ["CHANNELS", "ISOLATED", "LOOPS", "VARIANTS", "Variant", "check_family", "check_gamma"]

Loops = Literal["none", "unit", "degree"]
Norm = Literal["none", "sym", "rw"]

CHANNELS = ("low", "high")
ISOLATED = ("self", "zero", "error")


@dataclass(frozen=True)
class Variant:
    """One operator family: the self-loops it adds to the adjacency and the normalisation that follows.

    Parameters
    ----------
    low, high : str
        LaTeX of the two channels, for documents and plots.
    loops : {'none', 'unit', 'degree'}
        The added self-loops: none, ``gamma I`` or ``gamma D``.
    norm : {'none', 'sym', 'rw'}
        None, ``D~^-1/2 A~ D~^-1/2`` or ``D~^-1 A~``.
    title : str
        Descriptive name.

    See Also
    --------
    check_family : Look up a row by name.
    gsp_fb.operator : Build an operator of a family.

    Examples
    --------
    >>> VARIANTS["lazy_rw"].loops, VARIANTS["lazy_rw"].norm, VARIANTS["lazy_rw"].has_gamma
    ('degree', 'rw', True)
    """

    low: str
    high: str
    loops: Loops
    norm: Norm
    title: str

    @property
    def has_gamma(self) -> bool:
        """Whether the family has the parameter gamma, the weight of the added self-loops."""
        return self.loops != "none"


VARIANTS = {
    "comb": Variant(r"I - L", r"L", "none", "none", "combinatorial"),
    "sym": Variant(r"A_{sym}", r"L_{sym}", "none", "sym", "symmetric"),
    "rw": Variant(r"A_{rw}", r"L_{rw}", "none", "rw", "random walk"),
    "renorm_sym": Variant(r"\hat A_{sym}^\gamma", r"\hat L_{sym}^\gamma", "unit", "sym", "renormalised symmetric"),
    "renorm_rw": Variant(r"\hat A_{rw}^\gamma", r"\hat L_{rw}^\gamma", "unit", "rw", "renormalised random walk"),
    "lazy_sym": Variant(r"A_{slrw}^\gamma", r"L_{slrw}^\gamma", "degree", "sym", "lazy symmetric"),
    "lazy_rw": Variant(r"A_{lrw}^\gamma", r"L_{lrw}^\gamma", "degree", "rw", "lazy random walk"),
}


def _no_loops(degrees: Any, gamma: float) -> tuple[Any, Any, Any]:
    xp = namespace(degrees)
    return 1.0 / degrees, xp.sqrt(degrees), xp.zeros_like(degrees)


def _unit_loops(degrees: Any, gamma: float) -> tuple[Any, Any, Any]:
    total = degrees + gamma
    return 1.0 / total, namespace(degrees).sqrt(total), gamma / total


def _degree_loops(degrees: Any, gamma: float) -> tuple[Any, Any, Any]:
    # (1 + gamma) * d overflows for a large gamma; its reciprocal and its square root do not.
    xp = namespace(degrees)
    lazy = 1.0 + gamma
    return 1.0 / lazy / degrees, lazy**0.5 * xp.sqrt(degrees), xp.full_like(degrees, gamma / lazy)


# (degrees > 0, gamma) -> (1 / d~, sqrt(d~), weight of the added loop / d~).
LOOPS: dict[Loops, Callable[[Any, float], tuple[Any, Any, Any]]] = {
    "none": _no_loops,
    "unit": _unit_loops,
    "degree": _degree_loops,
}


def check_family(family: object) -> Variant:
    """Return the row of a family.

    Parameters
    ----------
    family : str
        A key of ``VARIANTS``.

    Returns
    -------
    Variant

    Raises
    ------
    ParameterError
        The family is unknown; the message lists all families and the nearest name.

    See Also
    --------
    check_gamma : Check the loop weight of a family.

    Examples
    --------
    >>> check_family("renorm_sym").loops
    'unit'
    """
    return VARIANTS[check_choice(family, VARIANTS, "family")]


def check_gamma(family: str, gamma: object) -> float:
    """Return the loop weight to use for a family.

    Parameters
    ----------
    family : str
        A key of ``VARIANTS``.
    gamma : float > 0 or None
        None selects the default.

    Returns
    -------
    float
        ``gamma``, or by default 1 if the family adds self-loops and 0 if it does not.

    Raises
    ------
    ParameterError
        ``gamma`` is not a finite positive number, or the family has no gamma.

    See Also
    --------
    check_family : Look up a family.

    Examples
    --------
    >>> check_gamma("lazy_rw", None), check_gamma("lazy_rw", 2), check_gamma("sym", None)
    (1.0, 2.0, 0.0)
    >>> check_gamma("sym", 2.0)
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: family 'sym' has no gamma (got 2.0); families with one: renorm_sym, ...
    """
    has_gamma = check_family(family).has_gamma
    if gamma is None:
        return 1.0 if has_gamma else 0.0
    if not has_gamma:
        with_gamma = ", ".join(name for name, row in VARIANTS.items() if row.has_gamma)
        raise ParameterError(f"family {family!r} has no gamma (got {gamma!r}); families with one: {with_gamma}")
    return check_positive(gamma, "gamma")
