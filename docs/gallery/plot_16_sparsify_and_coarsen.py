"""
Fewer edges, fewer nodes
========================

Sparsification keeps all nodes and some edges, coarsening groups nodes. Both report how far the Laplacian has moved.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import datasets, plot, reduction

graph = datasets.sensor(250, rng=0, n_neighbors=60)
sparse = reduction.sparsify(graph, 0.8)
coarse = reduction.coarsen(graph, 0.4, k=10)
print(sparse)
print(coarse)

# %%
# An edge is kept with a probability proportional to its weight times its effective resistance, so that bridges stay.
# The error is that of the quadratic form: every signal's Dirichlet energy changes by at most this share.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for ax, (name, drawn) in zip(
    axes, {"given": graph, "sparsified": sparse.graph, "coarsened": coarse.graph}.items(), strict=True
):
    plot.graph(drawn, ax=ax)
    ax.set_title(f"{name}: {drawn.n_nodes} nodes, {drawn.n_edges} edges")

# %%
# The low frequencies, which coarsening keeps. Those of the coarse graph are never below the given ones.
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
# sphinx_gallery_thumbnail_number = 2
thin = gf.spectrum(gf.operator(sparse.graph, "comb", channel="high"), k=10).frequencies
for name, values in {"given": coarse.frequencies, "coarsened": coarse.coarse_frequencies, "sparsified": thin}.items():
    ax.plot(np.arange(10), values, "o-", label=name, markersize=4)
ax.set(xlabel="mode", ylabel=r"frequency $\lambda$")
ax.legend(frameon=False)
