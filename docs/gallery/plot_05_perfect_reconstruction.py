"""
Take a signal apart and put it together
=======================================

A filterbank splits a signal into bands. If the channels sum to the identity, adding the bands gives the signal back to
the last digit, and whatever you change in one band changes that band only.
"""

# sphinx_gallery_thumbnail_number = 3

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# An image is a signal on a grid: a slope, a disc and some noise.
side = 28
graph = gf.datasets.grid(side)
row, column = np.divmod(np.arange(side * side), side)
places = np.stack([column, -row], axis=1)
disc = (row - 9) ** 2 + (column - 18) ** 2 < 36
x = row / side + disc + 0.15 * np.random.default_rng(0).standard_normal(side * side)

# %%
# A cascade of three levels splits the low band again and again. The coarsest band comes first; the noise is in the
# finest one.
bank = gf.FilterBank.two_channel(graph, "lazy_rw", levels=3)
bands = bank.analyze(x)
figure, axes = plt.subplots(1, 5, figsize=(14, 2.9), layout="constrained")
for ax, band, name in zip(axes, (x, *bands), ("signal", "low", "high 3", "high 2", "high 1"), strict=True):
    plot.signal(graph, band, layout=places, node_size=14, ax=ax)
    ax.set_title(name)

# %%
# All bands together are the signal; without the finest one the noise is gone, and the edge of the disc is soft.
print("error of all bands:", np.abs(bank.synthesize(*bands) - x).max())
without = bank.synthesize(*bands[:-1], np.zeros_like(x))
figure, kept = plt.subplots(figsize=(6.2, 4), layout="constrained")
plot.signal(graph, without, layout=places, node_size=30, ax=kept)
kept.set_title("without the finest band")

# %%
# Each band multiplies the frequencies by its kernel, and the kernels sum to one.
figure, kernels = plt.subplots(figsize=(6.2, 4), layout="constrained")
plot.response(bank, ax=kernels)
kernels.set_title("the bands on the frequency axis")
