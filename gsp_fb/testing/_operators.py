"""Random families, parameters and operators, over every row of the table of variants."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..graph import Graph
from ..operators import Operator, operator
from ..variants import CHANNELS, VARIANTS
from ._graphs import as_strategy, graphs

__all__ = ["channels", "families", "gammas", "isolated_policies", "operators"]


def families(
    *, norm: str | Iterable[str] | None = None, loops: str | Iterable[str] | None = None
) -> SearchStrategy[str]:
    """Return a strategy of family names.

    Parameters
    ----------
    norm, loops : str or iterable of str, optional
        Restrict to families with one of these normalisations or kinds of self-loops.

    Returns
    -------
    strategy of str
        Keys of ``gsp_fb.variants.VARIANTS``.

    See Also
    --------
    operators : Operators of these families.
    gammas : Their loop weights.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(families(norm="rw", loops=("unit", "degree")), lambda family: True)
    'renorm_rw'
    """
    norms, kinds = (({only} if isinstance(only, str) else only and set(only)) for only in (norm, loops))
    rows = [
        name
        for name, row in VARIANTS.items()
        if (norms is None or row.norm in norms) and (kinds is None or row.loops in kinds)
    ]
    return st.sampled_from(rows)


def channels() -> SearchStrategy[str]:
    """Return a strategy of the two channels.

    Returns
    -------
    strategy of str
        ``'low'`` or ``'high'``.

    See Also
    --------
    operators : Operators of both channels.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(channels(), lambda channel: channel != "low")
    'high'
    """
    return st.sampled_from(CHANNELS)


def isolated_policies() -> SearchStrategy[str]:
    """Return a strategy of the policies that accept isolated nodes.

    Returns
    -------
    strategy of str
        ``'self'`` or ``'zero'``.

    See Also
    --------
    operators : Operators under both policies.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(isolated_policies(), lambda policy: True)
    'self'
    """
    return st.sampled_from(["self", "zero"])


def gammas(*, extreme: bool = False) -> SearchStrategy[float]:
    """Return a strategy of loop weights from 1e-3 to 1e3.

    Parameters
    ----------
    extreme : bool
        Include 1e-300 and 1e300.

    Returns
    -------
    strategy of float
        Shrinks towards 1.

    See Also
    --------
    operators : Operators with these loop weights.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(gammas(), lambda gamma: True)
    1.0
    """
    usual = st.floats(-3.0, 3.0, allow_subnormal=False).map(lambda exponent: 10.0**exponent)
    return usual | st.sampled_from([1e-300, 1e300]) if extreme else usual


def _build(graph: Graph, family: str, channel: str, gamma: float, isolated: str) -> Operator:
    return operator(graph, family, channel, gamma if VARIANTS[family].has_gamma else None, isolated)


def operators(
    graph: SearchStrategy[Graph] | Graph | None = None,
    *,
    family: SearchStrategy[str] | str | None = None,
    channel: SearchStrategy[str] | str | None = None,
    gamma: SearchStrategy[float] | float | None = None,
    isolated: SearchStrategy[str] | str | None = None,
) -> SearchStrategy[Operator]:
    """Return a strategy of operators; ``op.graph`` is the drawn graph.

    Parameters
    ----------
    graph, family, channel, gamma, isolated : strategy or fixed value, optional
        By default drawn from ``graphs()``, ``families()``, ``channels()``, ``gammas()``, which families without
        self-loops ignore, and ``isolated_policies()``.

    Returns
    -------
    strategy of Operator
        Over all rows of the table of families.

    See Also
    --------
    graphs : The graphs.
    families : The families.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(operators(family=families(norm="rw"), isolated="self"))
    ... def rows_sum_to_one_in_the_low_channel(op):
    ...     sums = op.to_scipy().sum(axis=1)
    ...     assert abs(sums - (op.channel == "low")).max() < 1e-12
    >>> rows_sum_to_one_in_the_low_channel()
    """
    defaults = (graphs(), families(), channels(), gammas(), isolated_policies())
    return st.builds(_build, *map(as_strategy, (graph, family, channel, gamma, isolated), defaults))
