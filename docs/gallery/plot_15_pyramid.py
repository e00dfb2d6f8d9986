"""
A Laplacian pyramid
===================

Half of the nodes are kept at each level and joined by Kron reduction. A signal becomes a coarse approximation and the
errors of predicting each level from the next; together they give the signal back to rounding.
"""

import matplotlib.pyplot as plt
import numpy as np

from gsp_fb import datasets
from gsp_fb.reduction import Pyramid

graph = datasets.sensor(500, rng=0)
signal = np.sin(6 * graph.coordinates[:, 0]) + (graph.coordinates[:, 1] > 0.5)
pyramid = Pyramid(graph, 3)
parts = pyramid.analyze(signal)
print(pyramid)
print("largest error of the reconstruction:", abs(pyramid.synthesize(parts) - signal).max())

# %%
# The graphs, each with the coarse approximation of the signal on it. Coordinates come with the nodes.
figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained")
coarse = signal
for level, ax in enumerate(axes.flat):
    pyramid.graphs[level].plot(coarse, ax=ax, colorbar=False)
    ax.set_title(f"{pyramid.graphs[level].n_nodes} nodes")
    if level < 3:
        coarse = Pyramid(pyramid.graphs[level], 1).analyze(coarse)[0]

# %%
# How large the prediction errors are, level by level: what is left after the coarse approximation.
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, part in zip(("level 3", "level 2", "level 1"), parts[1:], strict=True):
    sizes = np.sort(np.abs(part))[::-1]
    ax.semilogy(np.linspace(0, 1, len(sizes)), np.maximum(sizes, 1e-8), label=name)
ax.set(xlabel="share of the coefficients", ylabel="prediction error, sorted")
ax.legend(frameon=False)
