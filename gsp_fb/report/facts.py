"""The facts of a report as data: all that a renderer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from .._document import facts_html, plain
from ..backend import FloatArray, IntArray
from ..theory import ClaimResult

__all__ = ["Report"]

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class GraphFacts:
    """What there is to know of a graph before any operator.

    ``bipartite`` counts the components with an edge whose nodes fall in two sides; None for a directed graph.
    """

    nodes: int
    edges: int
    directed: bool
    weighted: bool
    loops: int
    isolated: int
    components: int
    bipartite: int | None
    least_degree: float
    median_degree: float
    mean_degree: float
    max_degree: float
    sha256: str


@dataclass(frozen=True)
class SignalFacts:
    """A measured signal and how it was made; of several named columns the one of most energy, and its share."""

    name: str
    columns: int
    preparation: str
    largest: str = ""
    share: float = 0.0


@dataclass(frozen=True)
class EnergyRow:
    """S and the energies of one signal under one family; ``expected`` is the mean S over permutations of its rows."""

    signal: str
    family: str
    s_value: float
    expected: float
    energy: float
    dirichlet_energy: float
    nonsmooth_energy: float


@dataclass(frozen=True)
class SignificanceRow:
    """S of one signal under the report's family beside its distribution under random permutation of the rows.

    ``p_value`` is two-sided; ``method`` is that of :func:`gsp_fb.s_value_significance`, ``surrogates`` how many
    permutations were drawn.
    """

    signal: str
    s_value: float
    expected: float
    std: float
    z_score: float
    p_value: float
    method: str
    surrogates: int


@dataclass(frozen=True)
class Profile:
    """The share of a signal's energy in each band, below the middle one and above it.

    ``doubt`` is how far the shares beside the middle band may be off by quadrature. ``mixtures`` is the number of
    mixtures of columns that stand for all of them; 0 where none were needed.
    """

    signal: str
    edges: Numbers
    fraction: Numbers
    below: float
    above: float
    doubt: float
    mixtures: int


@dataclass(frozen=True)
class Density:
    """The share of the frequencies in each band.

    Of an estimate ``error`` is the largest standard error of a band and ``doubt`` what quadrature may have counted in
    the band beside; both 0 where the frequencies were counted. ``near_one`` is the share within 0.05 of 1, where one
    propagation step leaves less than 5 % of a mode; None where they were not counted.
    """

    edges: Numbers
    fraction: Numbers
    error: float
    doubt: float
    exact: bool
    near_one: float | None = None


@dataclass(frozen=True)
class Homophily:
    """How alike neighbours are; ``expected`` is its mean over random permutations of the labels."""

    edge: float
    node: float
    class_insensitive: float
    expected: float
    classes: int
    unlabelled: int


@dataclass(frozen=True)
class Gap:
    """The second eigenvalue of a family's low channel, the first being 1; nan where the solver gave up.

    ``proof`` names what the error bound rests on, as in :class:`gsp_fb.Eigengap`.
    """

    family: str
    ratio: float
    error: float
    method: str
    proof: str


@dataclass(frozen=True)
class Embedding:
    """One channel of a trained layer: two principal components of some nodes, and how much the classes explain."""

    channel: str
    points: tuple[tuple[float, float], ...]
    classes: tuple[int, ...]
    explained: float


@dataclass(frozen=True)
class RunFacts:
    """One training: its curves by epoch, the row of the chosen epoch, and the embeddings of its channels."""

    name: str
    model: str
    epochs: int
    best_epoch: int | None
    best: Mapping[str, float]
    curves: Mapping[str, Numbers]
    embeddings: tuple[Embedding, ...]


@dataclass(frozen=True)
class AdviceFacts:
    """What to train, in words and as rows; ``nodes`` names those whose labels were read, ``source`` the data."""

    text: str
    rows: tuple[Mapping[str, Any], ...]
    channels: str = ""
    family: str = ""
    nodes: str = ""
    source: str = "DATA"
    command: str = ""


@dataclass(frozen=True, eq=False)
class Drawing:
    """What the page needs to draw the graph between ``nodes``, and to filter its signals if it is ``live``.

    Then the nodes are all of them. ``positions`` lie in the unit square; ``keep_shape``: they are coordinates of the
    data, whose two axes have one scale. ``classes`` are -1 where unlabelled, ``columns`` cells of the node table.
    """

    nodes: IntArray
    positions: FloatArray
    indptr: IntArray
    indices: IntArray
    weights: FloatArray | None
    signals: Mapping[str, FloatArray]
    names: list[str]
    live: bool
    directed: bool = False
    classes: IntArray | None = None
    class_names: tuple[str, ...] = ()
    columns: Mapping[str, list[str | None]] = field(default_factory=dict)
    keep_shape: bool = False


@dataclass(frozen=True, repr=False)
class Report:
    """The facts about one graph, as :func:`collect` computes them.

    Parameters
    ----------
    name, family : str
        The title, and the family of the profiles and frequencies.
    gamma : float
        Weight of the added self-loops in the families that have them.
    graph : GraphFacts
        Size, degrees, components and fingerprint.
    signals : tuple of SignalFacts
        What was measured.
    energies : tuple of EnergyRow
        S and the energies of every signal under every family.
    significance : tuple of SignificanceRow
        S under the report's family beside its distribution under random permutation.
    profiles : tuple of Profile
        Energy over the frequencies, one a signal.
    density : Density or None
        The distribution of the frequencies.
    homophily : Homophily or None
        None without labels.
    gaps : tuple of Gap
        The eigengap of every family.
    claims : tuple of ClaimResult
        The claims of the paper, checked.
    advice : AdviceFacts or None
        Whether to use the high channel.
    runs : tuple of RunFacts
        Training runs.
    notes : mapping
        By section, what was left out and why.
    drawing : Drawing
        The drawn part of the graph with its signals.
    audit : gsp_fb.nn.Audit or None
        Of a network on this graph.
    columns : tuple of SignificanceRow
        S beside random permutation of single features that have names, less their means.

    See Also
    --------
    collect : Compute the facts.
    write_report : Write them as HTML, Markdown or JSON.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> report = gf.report.collect(gf.datasets.ring(6), name="six in a ring")
    >>> report
    Report('six in a ring', 6 nodes, 6 edges, signals: degree)
    >>> report.homophily, sorted(report.notes)
    (None, [])
    """

    name: str
    family: str
    gamma: float
    graph: GraphFacts
    signals: tuple[SignalFacts, ...]
    energies: tuple[EnergyRow, ...]
    significance: tuple[SignificanceRow, ...]
    profiles: tuple[Profile, ...]
    density: Density | None
    homophily: Homophily | None
    gaps: tuple[Gap, ...]
    claims: tuple[ClaimResult, ...]
    advice: AdviceFacts | None
    runs: tuple[RunFacts, ...]
    notes: Mapping[str, str]
    drawing: Drawing
    audit: Any = None
    columns: tuple[SignificanceRow, ...] = ()

    def __repr__(self) -> str:
        signals = ", ".join(signal.name for signal in self.signals)
        return f"Report({self.name!r}, {self.graph.nodes} nodes, {self.graph.edges} edges, signals: {signals})"

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {"nodes": self.graph.nodes, "edges": self.graph.edges}
        for row in self.energies:
            if row.family == self.family:
                facts |= {f"S of the {row.signal}": row.s_value, f"expected S of the {row.signal}": row.expected}
        facts["edge homophily"] = None if self.homophily is None else self.homophily.edge
        return facts_html(f"Report {self.name}", {**facts, "advice": None if self.advice is None else self.advice.text})

    def as_dict(self) -> dict[str, Any]:
        """Return the facts as JSON holds them, without the drawing; a number that is not finite becomes None.

        >>> import gsp_fb as gf
        >>> gf.report.collect(gf.datasets.ring(6)).as_dict()["graph"]["edges"]
        6
        """
        return {item.name: plain(getattr(self, item.name)) for item in fields(self) if item.name != "drawing"}
