"""
Is it more than chance?
=======================

A small S means that neighbours agree. Would it be as small under the null model? Permute the values over the
nodes a few hundred times and look.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gsp_fb as gf

club = nx.karate_club_graph()
graph = gf.from_networkx(club, weight=None)
laplacian = gf.operator(graph, "sym", channel="high")
side = np.array([name == "Mr. Hi" for _, name in club.nodes(data="club")]).astype(float)

# %%
# Three signals: the side a member took, the degree, and the node's number modulo 2, which means nothing. Grey are the
# shuffled ones, the line is the signal itself.
signals = {"side taken": side - side.mean(), "even or odd number": np.arange(34) % 2 - 0.5, "degree": graph.degrees}
figure, axes = plt.subplots(3, 1, figsize=(6.5, 5), layout="constrained", sharex=True)
for ax, (name, x) in zip(axes, signals.items(), strict=True):
    test = gf.s_value_significance(laplacian, x, n_surrogates=999, rng=0)
    ax.hist(test.surrogates, bins=40, color="0.75")
    ax.axvline(test.s_value, color="#D55E00", linewidth=2)
    ax.set_title(f"{name}: p(as smooth) = {test.p_smooth:.3f}", loc="left")
axes[-1].set_xlabel("S")
figure.supylabel("shuffled signals")

# %%
# The side is smooth beyond doubt, the parity is not. The degree is smooth too, though hubs have neighbours of small
# degree: the smoothest signal of this Laplacian is the root of the degree itself. Note where its shuffled values lie,
# far below 1: a signal without sign is close to the constant, so that a small S alone proves nothing.
print({name: round(float(gf.s_value(laplacian, x)), 3) for name, x in signals.items()})
