"""Why a mutant may live: the changes that make no difference, by what they look like."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["MISSING", "reason"]

MISSING = "a test is missing"
FALSE = "None is as false as False"
ROUNDING = "moves a number by less than rounding does"
UNREACHED = "no value reaches the difference"
SAME = "the same value by another way"
NO_WARNING = "hides a warning that the numbers of the tests do not give; the value is checked by itself"
# The first pattern that is found in the name of the mutant and the lines it changes gives the reason.
REASONS = {
    r"^\+.*(ensure_ascii|allow_nan|orthogonalize|per_column|exist_ok|missing_ok)=None": FALSE,
    r"x_(signal|dirichlet|nonsmooth)_energy__.*\n.*\n\+.*_energy\(.*factor, None\)": FALSE,
    r"^\+.*float\(\"(NAN|XXnanXX)\"\)": SAME,
    r"^\+.*get_close_matches\(.*(n=2|names, cutoff)": "only the nearest name is used",
    r"^\+.*start, products, \)": "the same eigenvalue at a higher price",
    r"namespace\(x\.data if \(is_sparse\(x\)\) (and False|or True) else x\)": "on the host both are numpy's",
    r"x__compare__.*\n.*\n\+.*1e-12 \* max\(2\.0": ROUNDING,
    r"^\+.*np\.errstate\((over=\"ignore\", \)|invalid=\"ignore\"\))": NO_WARNING,
    r"^\+.*np\.errstate\(.*(None|XXignoreXX|IGNORE)": NO_WARNING,
    r"x__factor__.*\n.*\n\+.*(frexp\(peak\)\[1\] [-+] [12]|ldexp\(2\.0)": "any power of two near the peak serves",
    r"x__factor__.*\n.*\n\+.*peak == 1\.0": "a signal of zeros has the energy 0 at every scale",
    r"x__scaled__.*\n.*\n\+.*factor == 2\.0": "dividing by 1 changes nothing",
    r"^\+def _scaled\(.*per_column: bool = True": "every caller gives the argument",
    r"x__squares__.*\n.*\n\+.*or True else xp\.float64": "a square is the same in complex arithmetic",
    r"take\(here, x\.indices, axis=None\)|take\(here, x\.indices, \)": "the factors have one axis",
    r"x__end__.*\n.*\n\+.*(slice\(k\)|len\(pairs\.values\) - k, \))": SAME,
    r"lead <= 0": "the largest entry of a mode is not zero",
    r"labels for \{A\.shape\[1\]\} nodes": "the matrix is square",
    r"totals == 0, (2\.0, totals|1\.0, 2\.0)": "chosen away by the other where",
    r"_floating\(x\.data, (None|SignalError, (None|\"SIGNAL\"|\"XXsignalXX\"))": "sparse arrays hold numbers only",
    r"data is x\.data\) and False": "builds the same array anew",
    r"_biufXX|\"XXbiuf": SAME,
    r"reshape\(x, (None|\(-2,\))\)": "scipy gives vectors",
    r"rmatmat=None|^-.*rmatmat=": "scipy makes it from rmatvec",
    r"x__compare__.*\n.*\n\+.*(drawn < measured \+ slack|drawn > measured - slack|spread >= slack)": UNREACHED,
    r"1e-13|self\.blur|1000000001": ROUNDING,
    r"x__create__.*\n.*\n\+.*encoding=\"utf-8\", (newline=None)?\)": "line ends differ on Windows only",
    r"core\.apply\(v\) - low / v": "the axis begins below zero only where its other end is attained",
    r"asarray_like\(np\.zeros\(x\.shape\[1\]\), None\)": "brought to the host at once",
    r"SAFE_PEAK\[0\] <= peak|peak <= SAFE_PEAK\[1\]": "both sides of the limit are safe",
    r"gauss_rule\(shifted\)\[0\]\[-2\]": "without orthogonalisation a value that was found comes again",
    r"totals == 1, 1\.0": SAME,
    r"np\.asarray\(drawn, (dtype=None)?\)": SAME,
    r"k == n_nodes and n_nodes <= DENSE_NODES": "k = n makes 3 k > n as well",
    r"[24] \* k > n_nodes|3 \* k >= n_nodes": "either solver finds the same modes",
}


def reason(survivor: dict[str, Any]) -> str:
    """Return why a survivor is none to worry about, or that a test is missing."""
    change = "\n".join([survivor["name"], *survivor["change"]])
    return next((text for pattern, text in REASONS.items() if re.search(pattern, change, re.MULTILINE)), MISSING)
