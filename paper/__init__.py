"""The paper by command: its tables re-run on the real data, our figures beside the printed ones."""

from .catalogue import EXPERIMENTS, Experiment
from .cells import Cell, select
from .printed import PaperNumber, paper_numbers
from .protocols import PROTOCOLS
from .runner import Outcome, reproduce
from .s_values import SValueCell, s_value_table
from .store import Store

__all__ = [
    "EXPERIMENTS",
    "PROTOCOLS",
    "Cell",
    "Experiment",
    "Outcome",
    "PaperNumber",
    "SValueCell",
    "Store",
    "paper_numbers",
    "reproduce",
    "s_value_table",
    "select",
]
