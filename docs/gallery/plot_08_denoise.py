"""
Denoise a signal
================

If the truth is smooth and the noise is not, the low frequencies are mostly truth. Three ways to use that, from knowing
nothing but "it is smooth" to knowing the power spectra of both.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import plot

# %%
# Temperature on a map: smooth, measured with an error at each station.
rng = np.random.default_rng(0)
side = 30
graph = gf.datasets.grid(side)
row, column = np.divmod(np.arange(side * side), side)
places = np.stack([column, -row], axis=1)
truth = 2 * np.sin(row / 6) * np.cos(column / 8)
noisy = truth + 0.8 * rng.standard_normal(side * side)
laplacian = gf.operator(graph, "comb", channel="high")


def error(estimate):
    return np.sqrt(np.mean((estimate - truth) ** 2))


# %%
# Tikhonov's filter and the heat kernel have one knob: how much to smooth. Too little leaves noise, too much takes the
# truth as well.
strengths = np.geomspace(0.05, 200.0, 25)
heated = gf.FilterBank(laplacian, [gf.filters.heat(t) for t in strengths]).analyze(noisy)
curves = {
    "Tikhonov": [error(gf.filters.tikhonov(laplacian, noisy, t)) for t in strengths],
    "heat": [error(heated[:, m]) for m in range(len(strengths))],
}
# Wiener's filter needs no knob but the two spectra; a truth this smooth falls off like 1 / frequency^2.
wiener = gf.filters.wiener(laplacian, noisy, lambda f: 0.05 / (f + 0.02) ** 2, 0.8**2)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, values), colour in zip(curves.items(), ("#0072B2", "#D55E00"), strict=True):
    ax.plot(strengths, values, color=colour, label=name)
ax.axhline(error(wiener), color="#009E73", label="Wiener")
ax.axhline(error(noisy), color="0.55", linestyle="--", label="as measured")
ax.set(xscale="log", xlabel="strength", ylabel="root mean square error", ylim=(0, None))
ax.legend(frameon=False)

# %%
# The best of Tikhonov's and its error, in one scale of colours.
best = gf.filters.tikhonov(laplacian, noisy, float(strengths[np.argmin(curves["Tikhonov"])]))
figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
for ax, values, title in zip(axes, (truth, noisy, best), ("truth", "measured", "denoised"), strict=True):
    plot.signal(graph, values, layout=places, node_size=22, colorbar=False, ax=ax)
    ax.collections[-1].set_clim(-3.5, 3.5)
    ax.set_title(f"{title}, error {error(values):.2f}")
figure.colorbar(axes[0].collections[-1], ax=list(axes), shrink=0.8)
