r"""
Smooth or rough: S-values
=========================

:math:`S(x) = x'Lx / x'x` is the mean frequency of a signal's energy. Labels with a small S repeat among neighbours, and
averaging helps to guess them. Labels with an S around 1 or above do not: there the high half carries the answer.
"""

import os

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gsp_fb as gf
from gsp_fb import plot


# %%
# Turn the knob yourself: in a block model the homophily is the share of edges that stay within a class. The mean is
# taken off the labels first, since a constant carries no information. Where edges ignore the classes (a share of one
# half for two classes, of one fifth for five), S is 1 as for noise; left of that, neighbours avoid each other.
def s_of_labels(graph, y):
    indicators = gf.one_hot(y).toarray()
    return gf.s_value(gf.operator(graph, "sym", "high"), indicators - indicators.mean(axis=0))


shares = np.linspace(0.0, 1.0, 11)
curves = {}
for n_classes in (2, 5):
    models = [gf.datasets.contextual_sbm(600, n_classes, homophily=share, rng=0) for share in shares]
    curves[f"block model, {n_classes} classes"] = [s_of_labels(ds.graph, ds.y) for ds in models]

# %%
# Two networks that were recorded among people. In the karate club friends join the same side. In Davis's data women are
# linked to the events they attended and to nothing else: *every* edge joins two kinds.
club, davis = nx.karate_club_graph(), nx.davis_southern_women_graph()
people = {
    "karate club": (gf.from_networkx(club, weight=None), [side == "Officer" for _, side in club.nodes(data="club")]),
    "women and events": (gf.from_networkx(davis), [kind for _, kind in davis.nodes(data="bipartite")]),
}
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, values), colour in zip(curves.items(), ("#0072B2", "#D55E00"), strict=True):
    ax.plot(shares, values, "o-", color=colour, label=name)
ax.axhline(1.0, color="0.55", linestyle="--", linewidth=1)
for (name, (graph, y)), marker in zip(people.items(), "s^", strict=True):
    ax.plot(gf.edge_homophily(graph, y), s_of_labels(graph, y), marker, color="black", markersize=9, label=name)
ax.set(xlabel="homophily: share of edges within a class", ylabel="S of the labels, without their mean", ylim=(0, 2.1))
ax.legend(frameon=False)

# %%
# The paper compares the S of labels (their mean left in) with that of features. Here on benchmarks of graph learning,
# where the files are at hand (``GSP_FB_DATA_DIR``), and on block models where they are not. Where labels lie to the
# right of the features, averaging loses more of the answer than of the question. Hollow markers: what S would be if the
# same values were placed on the nodes at random.
if os.environ.get("GSP_FB_DATA_DIR"):
    sets = {
        name: gf.datasets.load(name, loops="drop")
        for name in ("cora", "citeseer", "chameleon", "texas", "wisconsin", "actor")
    }
else:
    sets = {f"block model, h = {h}": gf.datasets.contextual_sbm(600, 4, homophily=h, rng=0) for h in (0.1, 0.3, 0.9)}
table, expected = {}, {}
for name, ds in sets.items():
    laplacian = gf.operator(ds.graph, "sym", "high")
    signals = {"features": ds.x, "labels": gf.one_hot(ds.y)}
    table[name] = {title: gf.s_value(laplacian, x) for title, x in signals.items()}
    expected[name] = {title: gf.expected_s_value(laplacian, x) for title, x in signals.items()}
plot.s_values(table, expected=expected)
