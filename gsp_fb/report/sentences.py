"""What the numbers mean on this data, in sentences that are computed from them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..variants import VARIANTS
from .facts import Density, Embedding, EnergyRow, GraphFacts, Homophily, Profile, Report, RunFacts, SignificanceRow

ROUNDING = 1e-12
# Shares are given in whole percents; a smaller uncertainty is not mentioned.
DOUBT = 0.005
# Two-sided p-value below which a difference is more than random permutation explains.
LEVEL = 0.05
# Signals whose names are in the singular.
ONE = ("degree", "constant")
# Share of the frequencies near 1, or of the edges at one node, that is worth a sentence.
STRIKING = 0.2
# Share of the features' energy in one named column that is worth a sentence.
DOMINANT = 0.9
# Edge homophily minus its expected value, either way, that is worth a sentence.
ALIKE_STRIKING = 0.3
# Edge homophily minus its expected value under random permutation, up to each bound.
ALIKE = (
    (-0.02, "Neighbours are alike less often than under random permutation: averaging over them mixes the classes."),
    (0.02, "That is the expected value under random permutation: the edges carry no information about the classes."),
    (0.2, "Neighbours are alike little more often than under random permutation: averaging still mixes the classes."),
    (math.inf, "Neighbours are alike more often than under random permutation: averaging separates the classes."),
)
# Weight of high minus weight of low in a layer's mixing, up to each bound.
LEANING = ((-0.1, "it leans on the low channel"), (0.1, "it uses both"), (math.inf, "it leans on the high channel"))


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "edge"), count(1200, "edge"), count(2, "class", "classes")
    ('1 edge', '1,200 edges', '2 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """Return a share as a percentage that never rounds to all or nothing."""
    if 0 < share < 0.01:
        return "under 1%"
    if 0.99 < share < 1:
        return "over 99%"
    return f"{100 * share:.0f}%"


def _first(ratio: float, table: Sequence[tuple[float, str]]) -> str:
    return next(words for bound, words in table if ratio <= bound)


def about_graph(facts: GraphFacts) -> str:
    """Return what kind of graph it is: size, pieces, and what is unusual about it."""
    kind = "arc" if facts.directed else "edge"
    if facts.edges == 0:
        return f"{count(facts.nodes, 'node')} and no {kind}: there is nothing for a filter to average."
    pieces = "one component" if facts.components == 1 else count(facts.components, "component")
    unit = f"{'weighted ' if facts.weighted else ''}{'out-degree' if facts.directed else 'degree'}"
    parts = [
        f"{count(facts.nodes, 'node')} and {count(facts.edges, kind)} in {pieces}.",
        f"The median {unit} is {facts.median_degree:.4g}, the maximum {facts.max_degree:.4g}.",
    ]
    if facts.loops:
        parts.append(f"{count(facts.loops, f'{kind} joins', f'{kind}s join')} a node to itself.")
    if facts.isolated:
        value = "its value" if facts.isolated == 1 else "their values"
        kinds = ("node has no arc that leaves", "nodes have no arc that leaves")
        which = count(facts.isolated, *(kinds if facts.directed else ("node is isolated", "nodes are isolated")))
        parts.append(f"{which}: the low channel keeps {value}.")
    if facts.bipartite == facts.components == 1:
        parts.append("The graph is bipartite: its nodes fall into two sides, and every edge joins the two.")
    elif facts.bipartite:
        parts.append(f"{count(facts.bipartite, 'component is', 'components are')} bipartite.")
    return " ".join(parts)


def about_energies(report: Report) -> str:
    """Return, for each signal, S under the report's family beside its distribution under random permutation."""
    compared = {row.signal: row for row in report.significance}
    rows = [row for row in report.energies if row.family == report.family]
    return " ".join(_about_energy(row, compared.get(row.signal), report.graph) for row in rows)


def _about_energy(row: EnergyRow, compared: SignificanceRow | None, graph: GraphFacts) -> str:
    verb, they = ("has", "it") if row.signal in ONE else ("have", "they")
    start = f"The {row.signal} {verb} S = {_rounded(row.s_value):.4g}"
    if graph.edges == graph.loops:
        return f"{start}: no edge joins two nodes, so every signal has frequency 0."
    if _rounded(row.expected) == 0:
        return f"{start}, as {they} would wherever the same values were placed."
    beside = f"the same values placed at random on the nodes have {row.expected:.4g} on average"
    if compared is None or not math.isfinite(compared.z_score):
        return f"{start}; {beside}."
    spread = f"standard deviation {compared.std:.2g}, z = {compared.z_score:+.1f}, {p_value(compared)}"
    return f"{start}, {_ratio(row.s_value, row.expected)}; {beside} ({spread})."


def _ratio(value: float, expected: float) -> str:
    return f"{value / expected:.2f} times the expected value" if expected > 0 else f"{value - expected:+.3g} from it"


def p_value(row: SignificanceRow) -> str:
    """Return the two-sided p-value in words, never smaller than the permutations can show."""
    if _least(row):
        return f"p ≤ {2 / (row.surrogates + 1):.2g}"
    return "p < 1e-6" if not row.surrogates and row.p_value < 1e-6 else f"p = {row.p_value:.2g}"


def answers(report: Report) -> dict[str, str]:
    """Return the four questions of the first screen; the first line is the answer, the second what it rests on."""
    return {
        "How rough are the signals?": _how_rough(report),
        "Is it more than chance?": _more_than_chance(report),
        "Would a second channel help?": _second_channel(report),
        "What to try": _what_to_try(report),
    }


def _how_rough(report: Report) -> str:
    rows = [row for row in report.energies if row.family == report.family]
    short = ", ".join(f"{row.signal} {_rounded(row.s_value):.3f}" for row in rows)
    random = " and ".join(f"{_rounded(row.expected):.3f}" for row in rows)
    whose = f"the {VARIANTS[report.family].title} Laplacian ({report.family})"
    parts = [f"S is the mean frequency under {whose}{_axis(report)}. The same values placed at random have {random}."]
    above = [f"{percent(profile.above)} of the energy of the {profile.signal}" for profile in report.profiles]
    if above:
        parts.append(f"Above frequency {_middle(report.profiles[0].edges)[1]:.2f} lies {' and '.join(above)}.")
    return f"S: {short}\n{' '.join(parts)}"


def _axis(report: Report) -> str:
    """Return which signals have frequency 0, and where the axis of a normalised family ends."""
    family = VARIANTS[report.family]
    if family.norm == "none":
        return ""
    smoothest = "constant" if family.norm == "rw" else "the root of the degree"
    ends = {"none": "to 2", "unit": "to less than 2", "degree": f"to {2 / (1 + report.gamma):.3g}"}
    return f", from 0 ({smoothest} on every component) {ends.get(family.loops, 'upwards')}"


def _more_than_chance(report: Report) -> str:
    rows = report.significance
    if not rows:
        return "Not tested\nA test needs an edge between two nodes, and four nodes."
    short = _capital(", ".join(f"{row.signal}: {'yes' if _differs(row) else 'no'}" for row in rows))
    return f"{short}\n{' '.join([*map(_verdict, rows), *_by_column(report.columns)])}"


def _differs(row: SignificanceRow) -> bool:
    return math.isfinite(row.z_score) and row.p_value <= LEVEL


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _verdict(row: SignificanceRow) -> str:
    name = row.signal.capitalize()
    if not math.isfinite(row.z_score):
        return f"{name}: every placement of the values has the same S."
    sizes = f"{abs(row.z_score):.1f} standard deviations {'below' if row.z_score < 0 else 'above'} random permutations"
    shown = f", the least that {row.surrogates} permutations can show" if _least(row) else ""
    return f"{name}: S is {sizes}, {_ratio(row.s_value, row.expected)} ({p_value(row)}{shown})."


def _least(row: SignificanceRow) -> bool:
    # No permutation was as far from the mean as the signal.
    return bool(row.surrogates) and row.p_value <= 2 / (row.surrogates + 1)


def _by_column(rows: Sequence[SignificanceRow]) -> list[str]:
    """Return which named columns differ from random permutation, and to which side."""
    sides: dict[str, list[str]] = {"smoother than random permutation": [], "rougher": [], "no difference": []}
    for row in rows:
        smooth, rough, neither = sides
        sides[(smooth if row.z_score < 0 else rough) if _differs(row) else neither].append(row.signal)
    listed = "; ".join(f"{side}: {', '.join(names)}" for side, names in sides.items() if names)
    return [f"Column by column, less the mean: {listed}."] if listed else []


def _second_channel(report: Report) -> str:
    if report.advice is None:
        return "Open\nThe advisor needs labels of some nodes, on an undirected graph."
    short, _, rest = report.advice.text.partition(". ")
    used = f"Computed from {report.advice.nodes}." if report.advice.nodes else ""
    return f"{short.removesuffix('.')}\n{' '.join(filter(None, [rest, used]))}".rstrip()


_TRAINED = {
    "fb-gcn": "fb-gcn (both channels) beside an MLP",
    "gcn": "gcn with an identity path beside an MLP",
    "mlp": "an MLP: the graph is not expected to help",
}


def _what_to_try(report: Report) -> str:
    advice = report.advice
    if advice is not None and advice.command:
        model = advice.command.split()[2]
        return f"Train {_TRAINED[model]}\n{advice.command}"
    rows = [row for row in report.significance if _differs(row)]
    if not rows:
        return "Compare with a method without the graph\nOn this signal the edges show no effect."
    verb, them = ("follows", "it") if rows[0].signal in ONE else ("follow", "them")
    low = rows[0].z_score < 0
    side = f"low-pass filters (heat, Tikhonov) denoise {them}" if low else "high-pass filters show the pattern"
    return f"The {rows[0].signal} {verb} the edges: {side}\nMove the slider below."


def striking(report: Report) -> list[str]:
    """Return facts of this graph that are unusual, in words."""
    found = []
    density, facts = report.density, report.graph
    if density is not None and density.near_one is not None and STRIKING <= density.near_one < 1:
        found.append(
            f"{percent(density.near_one)} of the eigenvalues lie within 0.05 of 1: one step of the low channel erases "
            "these modes almost entirely."
        )
    if facts.edges and not facts.weighted and facts.nodes > 10 and facts.max_degree >= STRIKING * facts.edges:
        found.append(f"One node is in {percent(min(facts.max_degree / facts.edges, 1.0))} of the edges.")
    alike = report.homophily
    if alike is not None and alike.classes > 1 and abs(alike.edge - alike.expected) >= ALIKE_STRIKING:
        found.append(_beside_random(alike, "arcs" if facts.directed else "edges"))
    found += [
        f"{_capital(percent(signal.share))} of the energy of the {signal.name} is the column {signal.largest}, so "
        "their S is its S; bring the columns to one scale to weigh them alike."
        for signal in report.signals
        if signal.share >= DOMINANT
    ]
    if facts.components > 1 and facts.edges:
        pieces = count(facts.components, "component")
        found.append(f"The graph falls into {pieces}; no filter carries values between them.")
    return found


def _rounded(value: float) -> float:
    """Return the value, or 0 where it is rounding error."""
    return 0.0 if abs(value) < ROUNDING else value


def _middle(edges: Sequence[float]) -> tuple[float, float]:
    """Return the two ends of the middle band."""
    half = len(edges) // 2
    return edges[half - 1], edges[half]


def about_profiles(profiles: Sequence[Profile], family: str) -> str:
    """Return how much of each signal lies on either side of the middle band, and what the low channel does there."""
    low, high = _middle(profiles[0].edges)
    parts = [
        f"Of the energy of the {profile.signal} {percent(profile.below)} lies below frequency {low:.2f} and "
        f"{percent(profile.above)} above {high:.2f}."
        for profile in profiles
    ]
    parts.append(
        "The low channel multiplies frequency λ by 1 − λ: it keeps what lies near 0, erases what lies near 1 and turns "
        "the sign of what lies beyond; the high channel multiplies it by λ."
    )
    if VARIANTS[family].norm == "rw":
        parts.append("Energy here weighs each node by its degree, as the random walk does.")
    mixed = next((profile for profile in profiles if profile.mixtures), None)
    if mixed is not None:
        parts.append(f"Estimated for the {mixed.signal} from {mixed.mixtures} mixtures of their columns.")
    doubt = max(profile.doubt for profile in profiles)
    if doubt >= DOUBT:
        parts.append(f"Quadrature leaves {100 * doubt:.2g} points of these shares open.")
    return " ".join(parts)


def about_density(density: Density, report: Report) -> str:
    """Return how the frequencies are spread, how many are 0 and whether the axis ends at 2."""
    half, (low, high) = len(density.fraction) // 2, _middle(density.edges)
    below, above = (min(sum(part), 1.0) for part in (density.fraction[:half], density.fraction[half + 1 :]))
    parts = [f"{percent(below)} of the frequencies lie below {low:.2f}, {percent(above)} above {high:.2f}."]
    facts = report.graph
    if facts.components == facts.nodes:
        parts.append("All of them are 0: no edge joins two nodes.")
    else:
        times, pieces = (count(facts.components, noun) for noun in ("time", "component"))
        often = "once, as the graph is in one piece" if facts.components == 1 else f"{times}, as there are {pieces}"
        parts += [f"Frequency 0 occurs {often}.", *_about_the_end(report)]
    if not density.exact:
        parts.append(
            f"Estimated with random vectors: the standard error of a band is at most {100 * density.error:.2g} points, "
            f"and quadrature may have counted up to {100 * density.doubt:.2g} points in the band beside."
        )
    return " ".join(parts)


def _about_the_end(report: Report) -> list[str]:
    variant = VARIANTS[report.family]
    if variant.norm == "none" or variant.has_gamma:
        return []
    if report.graph.bipartite:
        which = "the graph is" if report.graph.components == 1 else "a component is"
        return [f"The largest is exactly 2, because {which} bipartite: there the sign can change along every edge."]
    return ["None reaches 2, because no component is bipartite."]


def _beside_random(facts: Homophily, kind: str) -> str:
    joined = f"{percent(facts.edge)} of the {kind} join nodes of one class"
    return f"{joined}; with the same labels placed at random {percent(facts.expected)} would."


def about_homophily(facts: Homophily, directed: bool) -> str:
    """Return how often neighbours share a class, beside the expected value."""
    kind = "arcs" if directed else "edges"
    if facts.classes == 1:
        return "All labelled nodes are of one class, so there is nothing to compare."
    if math.isnan(facts.edge):
        return f"There are no {kind} between labelled nodes, so homophily is undefined."
    parts = [_beside_random(facts, kind), _first(facts.edge - facts.expected, ALIKE)]
    if facts.unlabelled:
        parts.append(f"{count(facts.unlabelled, 'unlabelled node is', 'unlabelled nodes are')} left out.")
    return " ".join(parts)


def about_gaps(report: Report) -> str:
    """Return the mixing rate, from the second eigenvalue of the report's family."""
    gap = next(row for row in report.gaps if row.family == report.family)
    start = f"Under {gap.family} the second eigenvalue of the low channel is {gap.ratio:.4g}"
    if math.isnan(gap.ratio):
        return f"The second eigenvalue under {gap.family} was not resolved."
    if report.graph.components > 1:
        return f"{start}: propagation never leaves any of the {report.graph.components} components."
    if gap.ratio <= 0:
        return f"{start}, which is not positive: one propagation step leaves only the constant mode of low frequency."
    if gap.ratio >= 1:
        return f"{start} to rounding: propagation mixes the graph very slowly."
    halved = math.ceil(math.log(0.5) / math.log(gap.ratio))
    slowest = f"{start}: the slowest mode falls to half after {count(halved, 'propagation step')}."
    variant = VARIANTS[gap.family]
    if report.graph.bipartite and variant.loops == "none" and variant.norm != "none":
        slowest += " The pattern that changes sign along every edge keeps its amplitude, as the graph is bipartite."
    return slowest


def about_claims(report: Report) -> str:
    """Return how many of the paper's claims hold where their conditions are met."""
    rows = [row for row in report.claims if row.applicable]
    failing = [row.claim for row in rows if row.holds is False]
    undecided = [row.claim for row in rows if row.holds is None]
    verdict = f"These fail: {', '.join(failing)}." if failing else ""
    open_ = f"Within rounding, so undecided: {', '.join(undecided)}." if undecided else ""
    held = f"Of {count(len(report.claims), 'claim')} of the paper, {len(rows)} apply to this graph"
    held += f" and {len(rows) - len(failing) - len(undecided)} of those hold."
    return " ".join(filter(None, [held, verdict, open_]))


def about_first_theorem(report: Report) -> str:
    """Return whether the lazy walk has the larger second eigenvalue, from the eigengaps alone; empty without them."""
    found = {VARIANTS[row.family].loops: row for row in report.gaps if math.isfinite(row.ratio)}
    if not {"degree", "unit"} <= found.keys():
        return ""
    lazy, renormalised = found["degree"], found["unit"]
    holds = lazy.ratio + lazy.error >= renormalised.ratio - renormalised.error
    verdict = "as theorem 1 states" if holds else "against theorem 1, which needs every degree to be at least 1"
    both = f"{lazy.ratio:.4g} for the lazy walk and {renormalised.ratio:.4g} for the renormalised one"
    return f"The second eigenvalue is {both}, {verdict}."


def about_run(run: RunFacts) -> str:
    """Return what validation chose, and what the network made of its two channels there."""
    if run.best_epoch is None or not run.best:
        return f"{count(run.epochs, 'epoch')}; which one validation chose is not recorded."
    scores = [(name, value) for name, value in run.best.items() if name.startswith("val_") and name != "val_loss"]
    reached = ", ".join(f"{name.removeprefix('val_')} {value:.4g} in validation" for name, value in scores)
    parts = [f"Epoch {run.best_epoch} of {run.epochs} was chosen{': ' + reached if reached else ''}."]
    layers = [name for name in run.best if name.startswith("alpha_low")]
    if layers:
        low, high = run.best[layers[-1]], run.best[layers[-1].replace("low", "high")]
        parts.append(f"The last layer weighs low by {low:.3f} and high by {high:.3f}: {_first(high - low, LEANING)}.")
    return " ".join(parts)


def about_embeddings(embeddings: Sequence[Embedding]) -> str:
    """Return how much of each channel's variance the classes explain."""
    parts = [f"{percent(part.explained)} ({part.channel})" for part in embeddings if math.isfinite(part.explained)]
    return f"Of the variance of the last layer's embedding the classes explain {', '.join(parts)}." if parts else ""
