"""
Signals over nodes and times
============================

A wave on a grid has a place on two axes: its graph frequency and its frequency in time. The joint transform shows both,
and a separable filter takes one wave out of a mixture.
"""

import matplotlib.pyplot as plt
import numpy as np

import gsp_fb as gf

grid = gf.datasets.grid(12, 12)
op = gf.operator(grid, "comb", channel="high")
modes = gf.spectrum(op)
times = np.arange(96)

# %%
# A smooth slow wave, a rough fast one, and noise.
rng = np.random.default_rng(0)
slow = np.outer(modes.basis[:, 4], np.cos(2 * np.pi * 5 * times / 96))
fast = np.outer(modes.basis[:, 110], np.cos(2 * np.pi * 30 * times / 96))
x = slow + fast + 0.02 * rng.standard_normal((144, 96))
coefficients = np.abs(gf.joint_gft(modes, x))
print("energy is kept:", np.isclose(np.sum(coefficients**2), np.sum(x**2)))

# %%
# Heat over nodes and a Gaussian over times leave the slow wave. No modes are needed for that.
kept = gf.joint_filter(op, x, gf.filters.heat(1.0), lambda f: np.exp(-((f / 0.12) ** 2)))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
picture = left.pcolormesh(np.arange(49), modes.frequencies, coefficients[:, :49], cmap="viridis", shading="nearest")
left.set(xlabel="periods in 96 steps", ylabel="graph frequency", title="joint Fourier coefficients")
figure.colorbar(picture, ax=left)
node = int(np.argmax(np.abs(modes.basis[:, 4])))
right.plot(times, x[node], color="0.75", label="observed")
right.plot(times, slow[node], color="#0072B2", label="slow wave")
right.plot(times, kept[node], color="#D55E00", label="filtered", linestyle="--")
right.set(xlabel="time", title=f"node {node}")
right.legend()
plt.show()

# %%
# Where values arrive one at a time, the energy follows them: an update costs the degree of its node, not a pass over
# the graph.
stream = gf.StreamingEnergy(gf.operator(gf.datasets.grid(6, 6), "sym", channel="high"), np.ones(36))
course = [stream.s_value]
for node in range(36):
    stream.set_value(node, float((-1) ** (node // 6 + node % 6)))
    course.append(stream.s_value)
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(course, color="#0072B2")
ax.set(xlabel="values replaced by a checkerboard", ylabel="S", title="from constant to alternating")
plt.show()
