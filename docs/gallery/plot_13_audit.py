"""
Which half does a network throw away?
=====================================

``gf.nn.audit`` measures the gain of a trained network per band of graph frequencies. Here four models are audited side
by side, on a graph whose neighbours are alike (homophilic) and on one whose neighbours differ (heterophilic).
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf
from gsp_fb import nn

# %%
# Two block models with the same features; they differ only in how many edges stay within a class.
MODELS = ("gcn", "graphsage", "gat", "fb-gcn")
COLOURS = dict(zip(MODELS, ("#D55E00", "#009E73", "#CC79A7", "#0072B2"), strict=True))
sets = {
    name: gf.datasets.contextual_sbm(200, 3, homophily=h, degree=12.0, n_features=16, signal=0.7, n_splits=1, rng=0)
    for name, h in {"homophilic": 0.85, "heterophilic": 0.05}.items()
}

# %%
# Train each model and audit it. The gain is the root mean square of the output over the input for signals of one band,
# taken of the derivative at the features.
config = nn.TrainConfig(epochs=60, patience=60, lr=0.02, normalize=False)
audits = {}
for name, data in sets.items():
    for model in MODELS:
        network = nn.build(model, data, hidden=16)
        nn.train(network, data, data.splits[0], config)
        audits[name, model] = nn.audit(network, data, probes=8, nodes=data.splits[0].test, normalize=False)

# %%
# The gain relative to its peak. A GCN keeps the low end whatever the data; the filterbank decides by the data.
figure, axes = plt.subplots(1, 2, figsize=(7.5, 4.5), layout="constrained", sharey=True)
for ax, name in zip(axes, sets, strict=True):
    for model in MODELS:
        response = audits[name, model].response
        centres, peak = (response.edges[:-1] + response.edges[1:]) / 2, np.nanmax(response.gain)
        there = np.isfinite(response.gain)  # a band may hold no frequency of the graph
        options = {"color": COLOURS[model], "marker": ".", "capsize": 3, "label": model}
        ax.errorbar(centres[there], response.gain[there] / peak, yerr=response.error[there] / peak, **options)
    ax.axvline(1.0, color="0.55", linestyle="--", linewidth=1)
    ax.set(title=name, xlabel=r"frequency $\lambda$", ylim=(0, None))
axes[0].set_ylabel("gain relative to its peak")
figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)

# %%
# The verdicts, with their evidence.
for (name, model), found in audits.items():
    print(f"{name}, {model} (test accuracy {found.accuracy:.2f}): {found.verdict}\n")
