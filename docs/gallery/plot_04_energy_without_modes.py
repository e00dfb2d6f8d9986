"""
Where the energy lies, without eigenvectors
===========================================

All modes of a graph of a hundred thousand nodes would fill 80 GB. You need none of them to know how much of a signal's
energy lies below a frequency: a few matrix-vector products with the Laplacian bound it from both sides.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# Three signals on a graph of 20 000 nodes in ten communities: the communities themselves, noise, and the noise after
# three propagation steps, as three layers of a graph network would leave it.
rng = np.random.default_rng(0)
graph = gf.datasets.community(20_000, 10, rng=rng, degree=12.0)
laplacian = gf.operator(graph, "sym", channel="high")
walk = gf.operator(graph, "renorm_rw")
noise = rng.standard_normal(20_000)
signals = {
    "communities": np.repeat(rng.standard_normal(10), 2000),
    "noise": noise,
    "noise, averaged three times": walk @ (walk @ (walk @ noise)),
}

# %%
# Eighty matrix-vector products each are enough for a histogram.
profiles = {name: gf.energy_profile(laplacian, x, bins=24) for name, x in signals.items()}
figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
plot.energy_profile(profiles, ax=ax)
ax.set_title(f"{profiles['noise'].matvecs} matrix-vector products")

# %%
# The bounds are proven: however few matrix-vector products are spent, the cumulative energy lies between them.
coarse = {f"{n} products": gf.energy_profile(laplacian, noise, bins=60, matvecs=n) for n in (5, 20)}
figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
plot.energy_profile(coarse, cumulative=True, ax=ax)
ax.set_title("noise: between its bounds")
