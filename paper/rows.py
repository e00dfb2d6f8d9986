"""The rows of the paper's tables: which model each is, and where the paper lists and prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gsp_fb.datasets.loading import RELATIONS_SUFFIX

__all__ = [
    "ATTENTION",
    "SAINT",
    "SHALLOW",
    "S_VALUES",
    "Row",
    "ablation",
    "deep",
    "elsewhere",
    "geometric",
    "isomorphism",
    "searched",
    "selected",
]


@dataclass(frozen=True)
class Row:
    """One model of a table.

    Attributes
    ----------
    label : str
        What the cell is called; the paper's own name where it has one.
    model : str
        A row of ``gsp_fb.nn.MODELS``.
    options : mapping
        Options of the model and of its training that make the row what it is; no search changes them.
    listed : tuple of str
        Model and filter under which the paper lists hyperparameters; no model where it lists none, and the defaults
        of the model are taken.
    printed : str
        The row's name in the paper's table, if it differs from ``label``.
    home : str
        The experiment whose cells these are, where two tables show the same training.
    candidates : int
        How many hyperparameters protocol ``tuned`` compares on all splits; 0 for the race of the data set's size.
    beside : str
        How the name of further data of a data set ends, where the model reads such, as Geom-GCN its relations.
    seed : int
        Of a repeated search: other settings, weights and dropout.
    directed : bool
        Train on the arcs as they are listed.
    choices : mapping
        Options that the row's search chooses beside the settings that all rows share; the values take turns.
    splits : {'public', 'balanced', 'seeded'}
        Those of the data set, or random ones with equally many training nodes of every class: ours, or the authors'.
    """

    label: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    listed: tuple[str, str] = ("", "renorm_sym")
    printed: str = ""
    home: str = ""
    candidates: int = 0
    beside: str = ""
    seed: int = 0
    directed: bool = False
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    splits: str = "public"


_LAZY = {"family": "lazy_rw"}
S_VALUES = Row("S-values", "")

SHALLOW = (
    Row("MLP", "mlp", listed=("MLP", "renorm_sym")),
    Row("GCN", "gcn", listed=("GCN", "renorm_sym")),
    Row("FB-GCN-sym", "fb-gcn", listed=("FB-GCN", "renorm_sym")),
    Row("FB-GCN-lazy", "fb-gcn", _LAZY, listed=("FB-GCN", "lazy_rw")),
    Row("GraphSAGE", "graphsage", listed=("GraphSAGE", "renorm_sym")),
    Row("FB-GraphSAGE", "fb-graphsage", listed=("FB-GraphSAGE", "renorm_sym"), printed="FB-GraphSAGE-sym"),
)
ATTENTION = (
    Row("GAT", "gat", listed=("GAT", "renorm_sym")),
    Row("FB-GAT", "fb-gat", listed=("FB-GAT", "renorm_sym"), printed="FB-GAT-sym"),
)
SAINT = (Row("GraphSAINT", "graphsaint"), Row("FB-GraphSAINT", "fb-graphsaint"))


def elsewhere(label: str, model: str, home: str, **other: Any) -> Row:
    """Return a row whose cells another experiment holds under ``label``."""
    return Row(label, model, home=home, **other)


def geometric() -> tuple[Row, ...]:
    """Return Geom-GCN over its three latent spaces, with one channel and with two."""
    return tuple(
        Row(
            f"{bank}Geom-GCN-{space.upper()}",
            f"{bank.lower()}geom-gcn-{space}",
            listed=("FB-Geom-GCN*" if bank else "", "renorm_sym"),
            beside=RELATIONS_SUFFIX,
        )
        for space in "psi"
        for bank in ("", "FB-")
    )


def deep() -> tuple[Row, ...]:
    """Return GCNII and GCNII* at the depths of Table 4."""
    return tuple(
        Row(f"{bank}{name}-{depth}", f"{bank}{name}".lower(), {"depth": depth}, listed=("GCNII", ""))
        for depth in (8, 16, 32, 64)
        for name in ("GCNII", "GCNII*")
        for bank in ("", "FB-")
    )


def ablation() -> tuple[Row, ...]:
    """Return GraphSAINT with one or two channels, linear or not."""
    return tuple(
        Row(f"{channels}-channel-{transformation}", model, {"transformation": transformation})
        for channels, model in ((1, "graphsaint"), (2, "fb-graphsaint"))
        for transformation in ("linear", "nonlinear")
    )


def searched(label: str, **options: Any) -> Row:
    """Return FB-GCN-lazy whose search compares 64 settings on all splits."""
    listed = ("FB-GCN", "lazy_rw")
    return Row(label, "fb-gcn", {**_LAZY, **options}, listed=listed, printed="FB-GCN-lazy", candidates=64)


def selected(count: int = 64) -> tuple[Row, ...]:
    """Return FB-GCN with both filters, with so many settings of the grid that train on all splits.

    Examples
    --------
    >>> [row.label for row in selected()]
    ['FB-GCN-sym', 'FB-GCN-lazy']
    """
    rows = (row for row in SHALLOW if row.model == "fb-gcn")
    return tuple(Row(row.label, row.model, row.options, candidates=count) for row in rows)


def isomorphism() -> tuple[Row, ...]:
    """Return GIN-0 and GIN-eps; the paper lists hyperparameters of the two-channel forms alone."""
    return tuple(
        Row(f"{bank}GIN-{kind}", f"{bank.lower()}gin-{kind}", listed=(f"FB-GIN-{kind}" if bank else "", ""))
        for kind in ("0", "eps")
        for bank in ("", "FB-")
    )
