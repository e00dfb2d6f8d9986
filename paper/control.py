"""The control experiment: the high channel against the identity, as rows that differ in nothing but their channels.

The high channel is the identity minus the low one, so that without an inner ReLU low + high and low + identity span the
same functions. Every row is one layer stack with other channels; each is given the same settings to choose among.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from .rows import Row

__all__ = ["ARMS", "CONTRASTS", "Arm", "Contrast", "arm_rows", "core_rows", "seed_rows"]

# Channels of an arm; the identity alone is a multilayer perceptron.
ARMS: Mapping[str, tuple[str, ...]] = {
    "low": ("low",),
    "high": ("high",),
    "identity": ("identity",),
    "low+high": ("low", "high"),
    "low+identity": ("low", "identity"),
    "low+high+identity": ("low", "high", "identity"),
}
_FAMILIES = {"sym": "renorm_sym", "lazy": "lazy_rw"}
_INNER = {"linear": "linear", "relu": "nonlinear"}
_FORMS: Mapping[str, Mapping[str, Any]] = {
    "2": {"layers": 2, "residual": False, "norm": "none"},
    "deep": {"layers": 4, "residual": True, "norm": "layer"},
}
_MIXINGS = ("scalar", "node")


@dataclass(frozen=True)
class Arm:
    """Channels with everything else that a stack may vary: mixing, inner ReLU, family and form.

    Examples
    --------
    >>> Arm("low+high").label, Arm("identity", inner="linear").label
    ('low+high-scalar-relu-sym-2', 'identity-linear-2')
    """

    name: str
    mixing: str = "scalar"
    inner: str = "relu"
    family: str = "sym"
    form: str = "2"

    @property
    def label(self) -> str:
        """Name of its row; what cannot matter is left out."""
        mixing = [self.mixing] if len(ARMS[self.name]) > 1 else []
        family = [self.family] if self.name != "identity" else []
        return "-".join([self.name, *mixing, self.inner, *family, self.form])

    @property
    def options(self) -> dict[str, Any]:
        """Options of the layer stack."""
        return {
            "channels": ARMS[self.name],
            "mixing": self.mixing,
            "transformation": _INNER[self.inner],
            "family": _FAMILIES[self.family],
            **_FORMS[self.form],
        }

    def row(self, seed: int = 0) -> Row:
        """Return the row of a table."""
        return Row(self.label + (f"-seed{seed}" if seed else ""), "gcn", self.options, seed=seed)


def _core() -> list[Arm]:
    """Return the arms that decide: renormalised filter, scalar mixing, two layers; single channels as published."""
    singles = [Arm(name, inner="linear") for name in ARMS if len(ARMS[name]) == 1]
    return singles + [Arm(name, inner=inner) for name in ARMS if len(ARMS[name]) > 1 for inner in _INNER]


def core_rows() -> tuple[Row, ...]:
    """Return the rows that decide the question at the smallest cost.

    Examples
    --------
    >>> [row.label for row in core_rows()][:3]
    ['low-linear-sym-2', 'high-linear-sym-2', 'identity-linear-2']
    """
    return tuple(arm.row() for arm in _core())


def arm_rows() -> tuple[Row, ...]:
    """Return the rows of all other combinations of arm, mixing, inner ReLU, family and form."""
    core = {arm.label for arm in _core()}
    every = {arm.label: arm for arm in _combinations()}
    return tuple(arm.row() for label, arm in every.items() if label not in core)


def _combinations() -> Iterator[Arm]:
    for form, family, mixing, inner, name in product(_FORMS, _FAMILIES, _MIXINGS, _INNER, ARMS):
        yield Arm(name, mixing, inner, family, form)


def seed_rows() -> tuple[Row, ...]:
    """Return the two decisive arms searched again with other settings, weights and dropout."""
    return tuple(Arm(name).row(seed) for name in ("low+high", "low+identity") for seed in (1, 2))


@dataclass(frozen=True)
class Contrast:
    """A question that compares two arms in every configuration that both are measured in.

    Examples
    --------
    >>> next(CONTRASTS["high or identity"].pairs())
    ('low+high-scalar-linear-sym-2', 'low+identity-scalar-linear-sym-2')
    """

    name: str
    question: str
    better: str
    worse: str

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the labels of the two rows, configuration by configuration.

        A single channel without an inner ReLU (the published layer) is the baseline of both forms of the other arm.
        """
        for arm in _combinations():
            if arm.name == self.better:
                inner = "linear" if len(ARMS[self.worse]) == 1 else arm.inner
                yield arm.label, Arm(self.worse, arm.mixing, inner, arm.family, arm.form).label


_TABLE = (
    Contrast("high or identity", "Is the high channel better than an identity path?", "low+high", "low+identity"),
    Contrast("high beside low", "Does a high channel help a low-pass network?", "low+high", "low"),
    Contrast("identity beside low", "Does an identity path help a low-pass network?", "low+identity", "low"),
    Contrast(
        "high beside both",
        "Does a high channel help where there is an identity path?",
        "low+high+identity",
        "low+identity",
    ),
    Contrast("graph or not", "Is the low channel better than no graph?", "low", "identity"),
)
CONTRASTS: Mapping[str, Contrast] = {row.name: row for row in _TABLE}
