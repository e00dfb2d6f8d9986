r"""
Every Laplacian on one graph
============================

All matrices that are called "the Laplacian" come from one formula: add self-loops of weight :math:`\gamma s`, divide by
the degrees. What changes is where their frequencies lie, and so what "smooth" means.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import gsp_fb as gf
from gsp_fb import plot
from gsp_fb.variants import VARIANTS

graph = gf.from_networkx(nx.les_miserables_graph(), weight=None)

# %%
# One picture a family: the eigenvalues in ascending order. The combinatorial Laplacian has no upper end (the largest
# degree decides), the symmetric one and the random walk share theirs, self-loops pull everything towards 0.
figure, axes = plt.subplots(2, 4, figsize=(12, 5.6), layout="constrained")
for ax, (family, variant) in zip(axes.flat, VARIANTS.items(), strict=False):
    laplacian = gf.operator(graph, family, channel="high")
    plot.spectrum(laplacian, ax=ax)
    ax.set_title(f"{variant.title}, ${variant.high}$", fontsize="medium")
    ax.set(xlabel="", ylabel="", ylim=(0, 2) if variant.norm != "none" else None)
axes[-1, -1].remove()
figure.supxlabel("mode")
figure.supylabel(r"frequency $\lambda$")

# %%
# The weight of the loops moves the frequencies continuously: with :math:`\gamma = 0` nothing is added, with a large
# :math:`\gamma` every node listens to itself alone and the Laplacian fades out.
gammas = np.geomspace(0.01, 100.0, 60)
ends = {
    family: [gf.spectrum(gf.operator(graph, family, "high", gamma)).frequencies[[1, -1]] for gamma in gammas]
    for family in ("renorm_sym", "lazy_sym")
}
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for (family, values), colour in zip(ends.items(), ("#0072B2", "#D55E00"), strict=True):
    lowest, highest = np.array(values).T
    ax.fill_between(gammas, lowest, highest, alpha=0.25, color=colour, linewidth=0)
    ax.plot(gammas, highest, color=colour, label=VARIANTS[family].title)
    ax.plot(gammas, lowest, color=colour)
ax.set(xscale="log", xlabel=r"$\gamma$", ylabel=r"frequencies, without 0", ylim=(0, 2))
ax.legend(frameon=False)
