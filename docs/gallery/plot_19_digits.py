"""
Which images to label
=====================

The 1797 handwritten digits that come with scikit-learn are the nodes of a graph: each image is joined to those
most like it. The digit is a smooth signal on this graph, so that a few labels at well chosen nodes give the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import gsp_fb as gf
from gsp_fb import filters, sampling

images, digits = load_digits(return_X_y=True)
graph = gf.Graph.from_points(images, k=8)
op = gf.operator(graph, "sym", channel="high")

# %%
# Neighbouring images show the same digit: S is far below its expected value under random permutation.
labels = gf.one_hot(digits)
print(f"S = {gf.s_value(op, labels):.3f}, expected {gf.expected_s_value(op, labels):.3f}")


# %%
# Nodes are chosen greedily for signals in the span of the lowest modes, or uniformly at random, ten times. The other
# labels follow by Tikhonov regularization.
def accuracy(nodes):
    given = np.full(len(digits), -1)
    given[nodes] = digits[nodes]
    found, _ = filters.classify(op, given, tau=0.05)
    return np.mean((found == digits)[given < 0])


rng = np.random.default_rng(0)
sizes = [20, 30, 40, 60]
chosen = {n: sampling.sampling_set(op, 3 * n // 4, n) for n in sizes}
greedy = [accuracy(chosen[n]) for n in sizes]
uniform = np.array([[accuracy(rng.choice(len(digits), n, replace=False)) for _ in range(10)] for n in sizes])
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(sizes, greedy, marker="o", color="#0072B2", label="greedy sampling set")
ax.plot(sizes, uniform.mean(axis=1), marker="o", color="#D55E00", label="uniform, mean of ten")
ax.fill_between(sizes, uniform.min(axis=1), uniform.max(axis=1), color="#D55E00", alpha=0.2, label="uniform, range")
ax.set(xlabel="labelled images", ylabel="accuracy on the others")
ax.legend(frameon=False)
for n, best, others in zip(sizes, greedy, uniform, strict=True):
    print(f"{n} labels: greedy {best:.3f}, uniform {others.mean():.3f} on average")

# %%
# The number of modes is a choice, here three for every four labels. With fewer modes the twenty nodes are still better
# than the mean of uniform ones, but within their range.
for k in (8, 10, 12, 15, 18, 20):
    print(f"{k} modes: {accuracy(sampling.sampling_set(op, k, 20)):.3f}")

# %%
# The twenty images to label first.
figure, axes = plt.subplots(2, 10, figsize=(8, 2), layout="constrained")
for ax, node in zip(axes.flat, chosen[20], strict=True):
    ax.imshow(images[node].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[])
