"""A heterophilic directed data set as directed, magnetic and undirected graph: rows that differ in the graph alone.

Every row is the layer stack of a GCN with the renormalised random walk and the same settings to choose among. The
magnetic rows choose the phase of an arc too: every second setting has the one value of q, the others the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .control import Arm
from .rows import Row

__all__ = ["CHARGES", "FORMS", "Form", "directed_rows", "form_pairs"]

# Turns per arc: a small phase, and the one at which an arc and its reverse are opposite.
CHARGES = (0.1, 0.25)


@dataclass(frozen=True)
class Form:
    """What a network sees of the listed arcs.

    Attributes
    ----------
    directed : bool
        Whether the arcs are kept as they are listed.
    choices : mapping
        What a search chooses beside the common settings.
    """

    directed: bool
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


FORMS: Mapping[str, Form] = {
    "undirected": Form(directed=False),
    "magnetic": Form(directed=True, choices={"q": CHARGES}),
    "out-arcs": Form(directed=True),
}
_ARMS = (Arm("low", inner="linear"), Arm("low+high"))


def _label(form: str, arm: Arm) -> str:
    return f"{form}-{arm.name}"


def directed_rows() -> tuple[Row, ...]:
    """Return a row for each form of the graph, with a low channel alone and with both.

    Examples
    --------
    >>> [row.label for row in directed_rows()][:3]
    ['undirected-low', 'magnetic-low', 'out-arcs-low']
    """
    return tuple(
        Row(
            _label(name, arm),
            "gcn",
            {**arm.options, "family": "renorm_rw"},
            directed=form.directed,
            choices=form.choices,
            candidates=64,
        )
        for arm in _ARMS
        for name, form in FORMS.items()
    )


def form_pairs(better: str, worse: str) -> tuple[tuple[str, str], ...]:
    """Return the labels of two forms with equal channels.

    Examples
    --------
    >>> form_pairs("magnetic", "undirected")
    (('magnetic-low', 'undirected-low'), ('magnetic-low+high', 'undirected-low+high'))
    """
    return tuple((_label(better, arm), _label(worse, arm)) for arm in _ARMS)
