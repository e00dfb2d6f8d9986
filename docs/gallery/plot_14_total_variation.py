"""
Gradients and piecewise constant signals
========================================

The gradient of a signal is one value an edge. Where a signal is constant on regions, few edges carry all of it: total
variation recovers such signals from noise, the quadratic penalty blurs their borders.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import datasets, filters, plot

graph = datasets.road(400, rng=0)
op = gf.operator(graph, "comb", channel="high")
x, y = graph.coordinates.T
clean = np.where((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.08, 1.0, 0.0) + (x > 0.8)
noisy = clean + 0.25 * np.random.default_rng(0).standard_normal(graph.n_nodes)

# %%
# The divergence is the adjoint of the gradient, and divergence of gradient is the Laplacian.
slopes = gf.gradient(op, clean)
print(f"{np.count_nonzero(slopes)} of {graph.n_edges} edges carry the gradient")
print("div grad = L:", np.allclose(gf.divergence(op, slopes), op @ clean))

# %%
# Both strengths are chosen from the data by Stein's unbiased estimate of the risk. The duality gap certifies that the
# minimum of the total-variation problem is reached.
found = {method: filters.denoise(op, noisy, method=method, strength="sure") for method in ("tikhonov", "tv")}
signals = {"clean": clean, "noisy": noisy, **{method: result.signal for method, result in found.items()}}
figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained")
for ax, (name, signal) in zip(axes.flat, signals.items(), strict=True):
    plot.signal(graph, np.clip(signal, 0, 2), ax=ax)
    ax.set_title(f"{name}: error {np.linalg.norm(signal - clean) / np.linalg.norm(clean):.2f}")
print(found["tv"])
