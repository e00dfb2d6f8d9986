"""Whether a data set needs the high channel: evidence, rules, and how often each rule was right."""

from .advise import Advice, advise
from .evidence import Evidence, gather
from .record import Measured, Verdict, measured, verdicts
from .rules import RULES, Rule

__all__ = ["RULES", "Advice", "Evidence", "Measured", "Rule", "Verdict", "advise", "gather", "measured", "verdicts"]
