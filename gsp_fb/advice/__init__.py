"""Whether a data set needs the high channel: evidence, and an advisor that generated graphs have trained."""

from .advise import Advice, advise
from .advisor import ANSWERS, Advisor, Record, advisors
from .evidence import Evidence, gather

__all__ = ["ANSWERS", "Advice", "Advisor", "Evidence", "Record", "advise", "advisors", "gather"]
