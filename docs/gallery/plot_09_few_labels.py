"""
All labels from two
===================

You know the class of two people out of 34. Spread what you know over the graph so that neighbours agree as far as
possible: the smoothest function through the known values is a classifier.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# Only the instructor (node 0) and the president (node 33) of the karate club are labelled.
club = nx.karate_club_graph()
graph = gf.from_networkx(club, weight=None)
truth = np.array([name == "Officer" for _, name in club.nodes(data="club")]).astype(int)
known = np.full(34, -1)
known[[0, 33]] = truth[[0, 33]]
laplacian = gf.operator(graph, "comb", channel="high")
guess, scores = gf.filters.classify(laplacian, known)
print(f"{np.sum(guess == truth)} of 34 right; wrong at nodes {np.flatnonzero(guess != truth).tolist()}")

places = plot.positions(graph, "spring")
figure, axes = plt.subplots(1, 3, figsize=(14, 3.6), layout="constrained")
plot.labels(graph, known, names=["Mr. Hi", "Officer"], layout=places, ax=axes[0])
axes[0].set_title("known")
plot.signal(graph, scores[:, 1] - scores[:, 0], layout=places, ax=axes[1])
axes[1].set_title("spread")
plot.labels(graph, truth, names=["Mr. Hi", "Officer"], layout=places, ax=axes[2])
axes[2].set_title("what happened")

# %%
# How many labels does it take? Ten random choices each, in block models of different homophily. Where edges are
# independent of classes (one half, with two classes), no number of labels helps.
rng = np.random.default_rng(0)
counts = [2, 5, 10, 20, 50, 100]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for homophily, colour in ((0.9, "#0072B2"), (0.7, "#009E73"), (0.5, "#D55E00")):
    ds = gf.datasets.contextual_sbm(400, 2, homophily=homophily, degree=8.0, rng=1)
    operator = gf.operator(ds.graph, "comb", channel="high")
    means = []
    for count in counts:
        right = []
        for _ in range(10):
            few = np.full(400, -1)
            chosen = np.concatenate([rng.choice(np.flatnonzero(ds.y == c), max(count // 2, 1), False) for c in (0, 1)])
            few[chosen] = ds.y[chosen]
            right.append(np.mean((gf.filters.classify(operator, few, tau=0.1)[0] == ds.y)[few < 0]))
        means.append(np.mean(right))
    ax.plot(counts, means, "o-", color=colour, label=f"homophily {homophily}")
ax.set(xscale="log", xlabel="labelled nodes", ylabel="accuracy on the others", xticks=counts, xticklabels=counts)
ax.legend(frameon=False)
