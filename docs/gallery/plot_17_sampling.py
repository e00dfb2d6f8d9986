"""
Sampling a bandlimited signal
=============================

A signal in the span of the k lowest modes is determined by its values at k nodes or a few more. Which nodes decides how
much noise is amplified.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import datasets, plot, sampling

graph = datasets.sensor(300, rng=0)
op = gf.operator(graph, "comb", channel="high")
k, rng = 10, np.random.default_rng(0)
signal = gf.spectrum(op, k=k).basis @ rng.standard_normal(k)

# %%
# Nodes chosen greedily, by leverage, and at random; the noise gain bounds the error of the recovery.
sets = {
    "greedy": sampling.sampling_set(op, k, 20),
    "leverage": sampling.sampling_set(op, k, 20, method="leverage", rng=0),
    "uniform": rng.choice(300, 20, replace=False),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained")
plot.signal(graph, signal, ax=axes[0, 0], node_size=12)
axes[0, 0].set_title("signal")
for ax, (name, nodes) in zip(axes.flat[1:], sets.items(), strict=True):
    error = np.linalg.norm(sampling.recover(op, nodes, signal[nodes], k) - signal)
    gain = sampling.condition(op, nodes, k).noise_gain
    plot.signal(graph, signal, ax=ax, colorbar=False, node_size=12)
    ax.scatter(*graph.coordinates[nodes].T, s=60, facecolors="none", edgecolors="black")
    ax.set_title(f"{name}: noise gain {gain:.1f}")
    print(f"{name}: exact to {error:.1e}, amplifies noise at most {gain:.1f} times")
