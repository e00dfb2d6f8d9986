"""
Graphs to play with
===================

Every generator places its nodes, in the plane or in space; ``graph.plot()`` draws them there.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import datasets, plot

graphs = {
    "ring, 3 neighbours": datasets.ring(24, 3),
    "comet": datasets.comet(24, 10),
    "low-stretch tree": datasets.low_stretch_tree(4),
    "road": datasets.road(200, rng=0),
    "two moons": datasets.two_moons(150, rng=0),
    "torus": datasets.torus(20, 10),
    "sphere": datasets.sphere(200, rng=0),
    "swiss roll": datasets.swiss_roll(300, rng=0),
}
figure = plt.figure(figsize=(8, 5.2), layout="constrained")
for at, (name, graph) in enumerate(graphs.items()):
    space = graph.coordinates.shape[1] == 3
    ax = figure.add_subplot(2, 4, at + 1, projection="3d" if space else None)
    graph.plot(ax=ax, node_size=9)
    ax.set_title(name)

# %%
# Products: a path times a ring is a cylinder, whose frequencies are the sums of those of its factors.
product = gf.cartesian_product(datasets.path(6), datasets.ring(12))
values = [
    gf.spectrum(gf.operator(g, "comb", channel="high")).frequencies for g in (datasets.path(6), datasets.ring(12))
]
found = gf.spectrum(gf.operator(product, "comb", channel="high")).frequencies
print("frequencies are sums:", np.allclose(found, np.sort(np.add.outer(*values).ravel())))

# %%
# A chirp on a path, over nodes and frequencies.
n = np.arange(200)
path = gf.operator(datasets.path(200), "comb", channel="high")
plot.spectrogram(path, np.cos(0.006 * n**2))
