"""Is one model better than another? Paired tests over splits that share nodes, and many of them at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from gsp_fb.errors import ParameterError

__all__ = ["corrected_t_test", "holm"]


def corrected_t_test(differences: Sequence[float], *, test_share: float) -> float:
    r"""Return the two-sided p-value of Nadeau and Bengio's corrected resampled t-test.

    .. math:: t = \bar d \,/\, \sqrt{(1/k + n_{test}/n_{train}) \, s_d^2}

    Splits of one data set share their nodes, so the k differences are not independent: the plain paired t-test and
    Wilcoxon's signed ranks take their spread for the uncertainty of the mean and call chance a finding. The correction
    adds the share of test to training items, for which independent splits would have nothing.

    Parameters
    ----------
    differences : sequence of float
        Score of one model minus that of the other, a split each.
    test_share : float
        Test items divided by training items.

    Examples
    --------
    >>> round(corrected_t_test([0.02, 0.03, 0.01, 0.02], test_share=0.0), 4)
    0.0163
    >>> round(corrected_t_test([0.02, 0.03, 0.01, 0.02], test_share=0.5), 4)
    0.0663
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.size < 2:
        raise ParameterError(f"a paired test needs at least two differences, not {d.size}")
    spread = float(np.sqrt((1.0 / d.size + test_share) * d.var(ddof=1)))
    if spread == 0.0:
        return 1.0 if d.mean() == 0.0 else 0.0
    return float(2.0 * stats.t.sf(abs(d.mean()) / spread, d.size - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down method for as many tests as there are.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted, worst = [math.nan] * len(p_values), 0.0
    for rank, position in enumerate(order.tolist()):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = worst
    return adjusted
