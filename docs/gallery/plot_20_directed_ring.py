"""
A directed ring and its magnetic spectrum
=========================================

A directed graph has no orthonormal Fourier basis of its own. The magnetic adjacency keeps the weights of the
symmetrised graph and stores the direction as a phase: it is Hermitian, so every family of operators has real
frequencies and complex modes.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf

n_nodes = 24
ring = gf.Graph.from_edges([(i, (i + 1) % n_nodes) for i in range(n_nodes)], directed=True)

# %%
# The ring has a closed form: the frequencies are ``1 - cos(2 pi (k/n + q))``. Without a turn (q = 0) a wave and its
# mirror image share a frequency; a turn separates them.
turns = np.linspace(0, 0.5, 101)
k = np.arange(n_nodes)
measured = [gf.spectrum(gf.operator(ring.magnetic(q), "sym", channel="high")).frequencies for q in turns]
closed = np.sort(1 - np.cos(2 * np.pi * (k / n_nodes + turns[:, None])), axis=1)
print("largest difference to the closed form:", np.abs(np.array(measured) - closed).max())

# %%
# A wave that travels with the arcs, ``exp(-2 pi i k t / n)``, is smooth at a turn ``q = k/n``, the one against them at
# ``-k/n``: the S-value separates directions.
wave = np.exp(-2j * np.pi * 3 * np.arange(n_nodes) / n_nodes)
values = {
    name: [gf.s_value(gf.operator(ring.magnetic(q), "sym", channel="high"), x) for q in turns]
    for name, x in (("with the arcs", wave), ("against the arcs", wave.conj()))
}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
left.plot(turns, measured, color="#0072B2", linewidth=1)
left.set(xlabel="turns per arc q", ylabel="frequency", title="all frequencies of the directed ring")
for name, line in values.items():
    right.plot(turns, line, label=name)
right.axvline(3 / n_nodes, color="0.6", linestyle=":")
right.set(xlabel="turns per arc q", ylabel="S", title="mean frequency of two waves")
right.legend()
plt.show()
