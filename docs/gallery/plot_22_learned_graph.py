"""
Learn a graph from smooth signals
=================================

Nearest neighbours give every node the same number of edges, wherever it lies. Graph learning chooses the weights on
which the data are smooth, and reports how far they are from the optimum.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import learning

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 120)
moons = np.concatenate(
    [
        np.stack([np.cos(angle), np.sin(angle)], axis=1),
        np.stack([1 - np.cos(angle), 0.4 - np.sin(angle)], axis=1),
    ]
) + 0.06 * rng.standard_normal((240, 2))

# %%
# The error bound follows from the duality gap.
found = {model: learning.learn_weights(moons, degree=5, model=model) for model in learning.MODELS}
for model, result in found.items():
    mean_degree = 2 * result.graph.n_edges / result.graph.n_nodes
    print(f"{model}: {mean_degree:.1f} neighbours, error <= {result.error:.0e}, {result.iterations} steps")

# %%
# Heavy edges are drawn thick. The logarithmic model keeps every node connected; the other spends its weight where nodes
# are dense.
side = np.repeat([0.0, 1.0], 120)
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, (model, result) in zip(axes, found.items(), strict=True):
    source, target, weights = result.graph.edges()
    for i, j, w in zip(source, target, weights / weights.max(), strict=True):
        ax.plot(*moons[[i, j]].T, color="0.4", linewidth=0.2 + 2 * w, zorder=1)
    ax.scatter(*moons.T, c=side, cmap="coolwarm", s=12, zorder=2)
    op = gf.operator(result.graph, "sym", channel="high")
    ax.set(title=f"{model}: S of the two halves {gf.s_value(op, side - 0.5):.3f}", xticks=[], yticks=[])
plt.show()
