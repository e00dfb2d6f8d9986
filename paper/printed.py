"""The numbers printed in the paper, and those of other papers that rows are compared with, as data."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["PaperNumber", "paper_numbers"]

_FILES = ("results.csv", "published.csv")


@dataclass(frozen=True)
class PaperNumber:
    """One printed number: which table, model, data set and metric.

    Examples
    --------
    >>> paper_numbers()[0]
    PaperNumber(table='table1', model='-', dataset='cornell', metric='nodes', value='183')
    """

    table: str
    model: str
    dataset: str
    metric: str
    value: str


def paper_numbers(*, table: str | None = None, metric: str | None = None) -> list[PaperNumber]:
    """Return the printed numbers, in the order of the paper; of one table or metric if named.

    Examples
    --------
    >>> paper_numbers(table="table1", metric="s_value_features_L_sym")[0]
    PaperNumber(table='table1', model='-', dataset='cornell', metric='s_value_features_L_sym', value='0.904')
    """
    texts = [files("paper").joinpath("data", name).read_text(encoding="utf-8") for name in _FILES]
    rows = [PaperNumber(**row) for text in texts for row in csv.DictReader(text.splitlines())]
    return [row for row in rows if table in (None, row.table) and metric in (None, row.metric)]
