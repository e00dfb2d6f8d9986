"""
What low and high mean
======================

A signal on a graph is one number a node. Average each node with its neighbours and you have the *low* half; what the
average took away is the *high* half. Together they are the signal: a graph network that only averages throws the
second half away.
"""

import networkx as nx
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# Zachary's karate club has 34 members who later split into two clubs. The signal is +1 for one club and -1 for the
# other, with three members who differ from all around them.
club = nx.karate_club_graph()
graph = gf.from_networkx(club, weight=None)
sides = np.array([1.0 if name == "Mr. Hi" else -1.0 for _, name in club.nodes(data="club")])
x = sides.copy()
x[[10, 22, 26]] *= -1

# %%
# The lazy random walk keeps half of a node's own value and takes the other half from its neighbours' mean. The camps
# show in the low half, the three who differ stand out in the high half.
low, high = gf.FilterBank.two_channel(graph, "lazy_rw").analyze(x)
axes = plot.filtered(graph, low, high)
axes[0].figure.suptitle("one signal, two halves")
print("largest entry of low + high - x:", np.abs(low + high - x).max())
print("the three largest entries of high are nodes", sorted(np.argsort(-np.abs(high))[:3].tolist()))

# %%
# How much of the energy is in each half? The Laplacian of the same walk measures it. White noise is what you get if
# the graph knows nothing of the signal.
# sphinx_gallery_thumbnail_number = 2
laplacian = gf.operator(graph, "lazy_sym", channel="high")
noise = np.random.default_rng(0).standard_normal(34)
plot.energy_split(laplacian, {"the two clubs": sides, "with three exceptions": x, "noise": noise})
