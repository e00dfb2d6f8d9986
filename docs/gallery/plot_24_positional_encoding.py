"""
Positional encodings and repeated frequencies
=============================================

The smoothest modes of a Laplacian give every node a position that a network or transformer can read. A mode is
determined up to its sign, and modes of one repeated frequency only up to a rotation: the encoding fixes the sign and
names the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb.positional import degenerate_groups

# %%
# On a rectangle all frequencies differ; on a square those of the two axes are equal in pairs.
grids = {"5 x 8 grid": gf.datasets.grid(5, 8), "6 x 6 grid": gf.datasets.grid(6, 6)}
operators = {name: gf.operator(graph, "comb", channel="high") for name, graph in grids.items()}
for name, op in operators.items():
    print(name, "groups of columns:", degenerate_groups(op, 4))

# %%
# Another numbering of the nodes moves the rows and, within a group, turns the columns. What is determined is the
# projector on the space of a group.
op = operators["6 x 6 grid"]
order = np.random.default_rng(0).permutation(36)
moved = gf.operator(op.graph.subgraph(order), "comb", channel="high")
first, second = gf.laplacian_pe(op, 2, warn=False), gf.laplacian_pe(moved, 2, warn=False)
print("largest difference of the columns:", np.abs(first[order] - second).max().round(3))
print(
    "largest difference of the projectors:",
    np.abs((first @ first.T)[order][:, order] - second @ second.T).max().round(12),
)

# %%
# The first two columns as coordinates draw the grid.
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, (name, op) in zip(axes, operators.items(), strict=True):
    place = gf.laplacian_pe(op, 2, warn=False)
    source, target, _ = op.graph.edges()
    ax.plot(place[[source, target], 0], place[[source, target], 1], color="0.7", linewidth=1, zorder=1)
    ax.scatter(*place.T, c=np.arange(len(place)), cmap="viridis", s=25, zorder=2)
    ax.set(title=name, xlabel="column 0", ylabel="column 1")
plt.show()
