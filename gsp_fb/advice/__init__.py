"""Whether a data set needs the high channel: evidence, decision rules, and the cross-validated record of each rule."""

from .advise import Advice, advise
from .evidence import Evidence, gather
from .record import Measured, Verdict, measured, verdicts
from .rules import RULES, Rule

__all__ = ["RULES", "Advice", "Evidence", "Measured", "Rule", "Verdict", "advise", "gather", "measured", "verdicts"]
