"""
Give a graph network its other half
===================================

A GCN averages a node with its neighbours. On a graph whose edges join *different* classes that blurs the value of the
node itself. The filterbank form also has the high half, how a node differs from its neighbours, and learns how much of
each it wants.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import nn, plot

# %%
# A block model in which one edge in twenty stays within its class, and features that are mostly noise. The setting is
# chosen so that neither features nor edges suffice alone. With stronger features (``signal=1.2``) the network that
# ignores the graph does as well as the filterbank, and with fewer edges (``degree=12``) its lag is smaller: try it.
ds = gf.datasets.contextual_sbm(300, 4, homophily=0.05, degree=20.0, n_features=24, signal=0.5, n_splits=4, rng=0)
laplacian = gf.operator(ds.graph, "sym", channel="high")
print(f"S of features {gf.s_value(laplacian, ds.x):.2f}, of labels {gf.s_value(laplacian, gf.one_hot(ds.y)):.2f}")

# %%
# The same network with one channel and with two, and one that does not look at the graph. Four splits of the nodes are
# trained side by side.
config = nn.TrainConfig(epochs=80, patience=80, lr=0.03, normalize=False)
runs = {
    name: nn.train_splits(name, ds, ds.splits, config, seeds=range(4), hidden=16) for name in ("gcn", "mlp", "fb-gcn")
}
scores = {name: np.array([result.scores["test"] for result in results]) for name, results in runs.items()}

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
colours = ("#D55E00", "#E69F00", "#0072B2")
ax.bar(list(scores), [s.mean() for s in scores.values()], yerr=[s.std() for s in scores.values()], color=colours)
ax.axhline(0.25, color="0.55", linestyle="--", linewidth=1)
ax.set(ylabel="test accuracy, four splits", ylim=(0, 1), title="low half, no graph, both halves")

# %%
# The weights of the two channels are learned, and both grow: the network wants each half.
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
plot.alphas([result.history for result in runs["fb-gcn"]], ax=ax)
ax.set(title="FB-GCN: learned weights", ylim=(0.3, 1.0))
