"""The paper by command: its tables re-run on the real data, our figures beside the printed ones."""

from .paper import PaperNumber, paper_numbers
from .s_values import SValueCell, s_value_table

__all__ = ["PaperNumber", "SValueCell", "paper_numbers", "s_value_table"]
