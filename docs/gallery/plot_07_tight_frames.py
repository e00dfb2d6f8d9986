"""
Wavelets on a graph, and tight frames
=====================================

Two channels separate low from high frequencies. Wavelets also localise them, *where* and *at which scale*. If the
squares of their kernels sum to 1 at every frequency the bank is a tight frame: it keeps the energy, and synthesis alone
gives the signal back.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# Two banks on a ring of 240 nodes: Meyer's wavelets are tight, Mexican hats are not. The dashed line is the sum of the
# squares.
ring = gf.datasets.ring(240)
laplacian = gf.operator(ring, "sym", channel="high")
banks = {
    "Meyer": gf.FilterBank(laplacian, gf.filters.meyer(4)),
    "Mexican hat": gf.FilterBank(laplacian, gf.filters.mexican_hat(4)),
}
figure, axes = plt.subplots(2, 1, figsize=(7, 5), layout="constrained", sharex=True)
for ax, (name, bank) in zip(axes, banks.items(), strict=True):
    plot.response(bank, ax=ax)
    lower, upper = bank.frame_bounds()
    ax.set_title(f"{name}: between {lower:.2f} and {upper:.2f} of the energy")

# %%
# Seen from one node, each kernel is a wavelet: the lower its band, the wider it spreads.
atoms = banks["Meyer"].localize(120)
figure, axes = plt.subplots(1, 4, figsize=(13, 2.6), layout="constrained", sharex=True)
for ax, atom, kernel in zip(axes, atoms.T, banks["Meyer"].kernels, strict=True):
    ax.plot(atom, color="#0072B2")
    ax.set(title=kernel.name, xlabel="node", xlim=(60, 180))

# %%
# Both give the signal back: the tight bank by synthesis, the other by solving for it.
x = np.random.default_rng(0).standard_normal(240)
for name, bank in banks.items():
    coefficients = bank.analyze(x)
    print(f"{name}: {(coefficients**2).sum() / (x**2).sum():.3f} of the energy", end=", ")
    print(f"error {np.abs(bank.reconstruct(coefficients) - x).max():.1e}")
