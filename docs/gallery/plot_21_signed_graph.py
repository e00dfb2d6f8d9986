"""
Friends and enemies: a signed graph
===================================

With negative weights the degree is the sum of absolute values. A graph is balanced if its nodes split into two camps
with friends inside and enemies across: it then has the frequencies of its absolute weights, and its smoothest mode
names the camps.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf

rng = np.random.default_rng(0)
n_nodes = 60
camp = np.where(np.arange(n_nodes) < n_nodes // 2, 1.0, -1.0)
pairs = np.argwhere(np.triu(rng.random((n_nodes, n_nodes)) < 0.15, 1))
signs = camp[pairs[:, 0]] * camp[pairs[:, 1]]

# %%
# Turn the sign of a share of all edges. The smallest frequency is a measure of how far a graph is from balance
# (frustration); it is zero for a balanced one.
shares = [0.0, 0.02, 0.05, 0.1, 0.2, 0.3]
smallest, modes = [], []
for share in shares:
    flipped = signs * np.where(rng.random(len(pairs)) < share, -1.0, 1.0)
    graph = gf.Graph.from_edges(pairs, flipped, n_nodes, signed=True)
    spectrum = gf.spectrum(gf.operator(graph, "sym", channel="high"), k=1)
    smallest.append(float(spectrum.frequencies[0]))
    modes.append(spectrum.basis[:, 0])

# %%
# Even with a tenth of the edges turned, the signs of the mode are the camps.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
left.plot(shares, smallest, "o-", color="#0072B2")
left.set(xlabel="share of edges with the wrong sign", ylabel="smallest frequency", title="distance from balance")
mode = modes[3] * np.sign(modes[3][0])
right.scatter(np.arange(n_nodes), mode, c=camp, cmap="coolwarm")
right.axhline(0, color="0.6", linewidth=1)
right.set(xlabel="node, coloured by camp", ylabel="smoothest mode", title="a tenth of the signs turned")
print("right camp:", float(np.mean(np.sign(mode) == camp * np.sign(camp[0]))))
plt.show()
