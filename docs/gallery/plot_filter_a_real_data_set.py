"""
Filter a real data set
======================

Chameleon is a network of 2277 Wikipedia pages; its classes are levels of monthly traffic. Where on the frequency axis
do features and labels live, and what does each half of a two-channel filterbank keep of them?
"""

import os

import matplotlib.pyplot as plt

import gsp_fb as gf
from gsp_fb import plot

# %%
# The data set comes from the folder that ``GSP_FB_DATA_DIR`` names. Without it, a block model of the same size and
# number of classes stands in, so that this page needs no network.
if os.environ.get("GSP_FB_DATA_DIR"):
    ds = gf.datasets.load("chameleon", loops="drop")
    features = gf.row_normalized(ds.x)[:, :40].toarray()
else:
    ds = gf.datasets.contextual_sbm(2277, 5, homophily=0.25, degree=27.6, n_features=16, rng=0)
    features = ds.x
laplacian = gf.operator(ds.graph, "sym", channel="high")
signals = {"features": features, "labels": gf.one_hot(ds.y)}

# %%
# Energy by frequency, without an eigendecomposition: Lanczos from each signal, with bounds on the cumulative energy.
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
named = {f"{name}, S = {gf.s_value(laplacian, x):.2f}": x for name, x in signals.items()}
plot.energy_profile({name: gf.energy_profile(laplacian, x, bins=20) for name, x in named.items()}, ax=ax)
ax.set_title(ds.name)

# %%
# A tight bank of four Meyer wavelets splits the axis; synthesis gives the signal back. Meyer's kernels join smoothly
# but are not analytic, so an error of 1e-6 takes a polynomial of high degree: the plan states which.
bank = gf.FilterBank(laplacian, gf.filters.meyer(4), tol=1e-6)
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
plot.response(bank, ax=ax)
ax.set_title(f"four Meyer wavelets: {bank.plan().method}, order {bank.plan().order}")

# %%
# The paper's pair: the low channel that a GCN keeps, and the high channel that it throws away.
plot.energy_split(gf.operator(ds.graph, "lazy_sym", channel="high"), signals)
