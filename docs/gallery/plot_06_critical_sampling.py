"""
Two halves in the space of one
==============================

Low and high together are two numbers a node: twice the data. A critically sampled bank keeps one of them at each node,
low here and high there, and still gives the signal back.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# Which node keeps what? A large cut puts neighbours on different sides. On a grid, which is bipartite, that is a
# chessboard, and hardly any accuracy is lost: the condition number is close to the root of two.
side = 12
graph = gf.datasets.grid(side)
row, column = np.divmod(np.arange(side * side), side)
places = np.stack([column, -row], axis=1)
bank = gf.FilterBank.two_channel(graph, "lazy_rw")
sampling = bank.sampling("max_cut")
print(sampling)

# %%
# One number a node goes in, one comes out; the factors of the sampled bank restore the rest.
x = np.sin(row / 3) + np.cos(column / 2)
coefficients = bank.analyze_sampled(x, sampling)
restored = bank.synthesize_sampled(coefficients, sampling)
print("largest error:", np.abs(restored - x).max())
figure, axes = plt.subplots(1, 4, figsize=(14, 3.2), layout="constrained")
plot.labels(graph, (~sampling.keep).astype(int), names=["keeps low", "keeps high"], layout=places, ax=axes[0])
axes[0].set_title("what is kept where")
for ax, values, title in zip(axes[1:], (x, coefficients, restored), ("signal", "kept", "restored"), strict=True):
    plot.signal(graph, values, layout=places, ax=ax)
    ax.set_title(title)

# %%
# On graphs with odd cycles no cut separates all neighbours, and the condition number states what that costs.
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
graphs = {
    "ring of 100": gf.datasets.ring(100),
    "ring of 101": gf.datasets.ring(101),
    "grid": graph,
    "sensors": gf.datasets.sensor(150, rng=0),
    "communities": gf.datasets.community(150, 3, rng=0),
}
conditions = [gf.FilterBank.two_channel(g, "lazy_rw").sampling().condition for g in graphs.values()]
ax.barh(list(graphs), conditions, color="#0072B2")
ax.invert_yaxis()
ax.axvline(2**0.5, color="0.55", linestyle="--", linewidth=1)
ax.set(xlabel="condition number (dashed: root of two)")
