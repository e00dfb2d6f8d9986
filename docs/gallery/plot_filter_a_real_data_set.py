"""
Filter a real data set
======================

Chameleon is a network of 2277 Wikipedia pages; its classes are levels of monthly traffic. Where on the frequency axis
do features and labels live, and what does each half of a two-channel filterbank keep of them?
"""

import matplotlib.pyplot as plt

import gsp_fb as gf

# %%
# The data set comes from its public address, or from the folder that ``GSP_FB_DATA_DIR`` names.
chameleon = gf.datasets.load("chameleon", loops="drop")
laplacian = gf.operator(chameleon.graph, "sym", channel="high")
signals = {"features": gf.row_normalized(chameleon.x)[:, :40].toarray(), "labels": gf.one_hot(chameleon.y)}

# %%
# Energy by frequency, without an eigendecomposition: Lanczos from each signal, with bounds on the cumulative energy.
figure, (spread, bank_axes, kept) = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
for name, x in signals.items():
    profile = gf.energy_profile(laplacian, x, bins=20)
    spread.stairs(profile.fraction, profile.edges, label=f"{name}, S = {gf.s_value(laplacian, x):.2f}", linewidth=2)
spread.set(xlabel=r"frequency $\lambda$", ylabel="share of the energy", title="Chameleon")
spread.legend()

# %%
# A tight bank of four Meyer wavelets splits the axis; synthesis gives the signal back. Meyer's kernels join smoothly
# but are not analytic, so an error of 1e-6 takes a polynomial of high degree: the plan says which.
bank = gf.FilterBank(laplacian, gf.filters.meyer(4), tol=1e-6)
bank.plot(bank_axes)
bank_axes.set_title(f"four Meyer wavelets: {bank.plan().method}, order {bank.plan().order}")

# %%
# The paper's pair: the low channel that a GCN keeps, and the high channel that it throws away.
two = gf.FilterBank.two_channel(chameleon.graph, "lazy_rw")
names, shares = list(signals), []
for x in signals.values():
    low, high = two.analyze(x)
    shares.append([gf.signal_energy(part) / gf.signal_energy(x) for part in (low, high)])
for channel, offset in (("low", -0.2), ("high", 0.2)):
    kept.bar(
        [i + offset for i in range(len(names))],
        [share[channel == "high"] for share in shares],
        width=0.4,
        label=f"{channel} channel",
    )
kept.set(xticks=range(len(names)), xticklabels=names, ylabel="energy, relative to the signal", title="lazy walk")
kept.legend()
