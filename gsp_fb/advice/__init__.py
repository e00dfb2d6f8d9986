"""Whether a data set needs the high channel: evidence, decision rules, and the cross-validated record of each rule."""

from .advise import Advice, advise
from .evidence import Evidence, gather
from .record import RULES, Measured, Rule, Verdict, measured, verdicts

__all__ = ["RULES", "Advice", "Evidence", "Measured", "Rule", "Verdict", "advise", "gather", "measured", "verdicts"]
