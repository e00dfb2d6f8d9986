"""Pictures beside stored ones: ``pytest tests/plot --mpl``; without the option each is only drawn.

Text is taken away before the comparison, so that another version of the font library makes no difference.
``pytest tests/plot/test_plot_pictures.py --mpl-generate-path=tests/plot/baseline`` makes them anew.
"""

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

import gsp_fb as gf
from gsp_fb import plot

pytest.importorskip("pytest_mpl")

KARATE = gf.from_networkx(nx.karate_club_graph(), weight=None)
GRID, PLACES = gf.datasets.grid(3, 4), np.stack(np.divmod(np.arange(12), 4)[::-1], axis=1)
WAVE = np.cos(np.arange(12))
X = np.cos(np.arange(34) / 3)
HIGH = gf.operator(KARATE, "sym", "high")
CLUBS = np.array([club == "Officer" for _, club in nx.karate_club_graph().nodes(data="club")]).astype(int)
RUNS = [
    [{"epoch": e, "alpha_low_1": 0.5 - e * r / 500, "alpha_high_1": 0.5 + e / 50} for e in range(1, 20)] for r in (1, 2)
]
PICTURES = {
    "signal": lambda ax: plot.signal(GRID, WAVE, layout=PLACES, ax=ax),
    "amount": lambda ax: plot.signal(GRID, WAVE**2, layout=PLACES, ax=ax),
    "labels": lambda ax: plot.labels(GRID, np.arange(12) % 4 - 1, layout=PLACES, ax=ax),
    "spectrum": lambda ax: plot.spectrum(HIGH, ax=ax),
    "density": lambda ax: plot.spectrum(gf.spectral_density(HIGH), ax=ax),
    "gft": lambda ax: plot.gft(gf.operator(gf.datasets.path(20), "comb", "high"), np.arange(20) % 3, ax=ax),
    "response": lambda ax: plot.response(gf.FilterBank(HIGH, gf.filters.meyer(4)), ax=ax),
    "cascade": lambda ax: plot.response(gf.FilterBank.two_channel(KARATE, levels=3), ax=ax),
    "profile": lambda ax: plot.energy_profile(gf.energy_profile(HIGH, X), ax=ax),
    "profiles": lambda ax: plot.energy_profile({k: gf.energy_profile(HIGH, X**k) for k in (1, 2)}, ax=ax),
    "split": lambda ax: plot.energy_split(HIGH, {"x": X, "clubs": gf.one_hot(CLUBS)}, ax=ax),
    "s_values": lambda ax: plot.s_values({"a": {"x": 0.8, "y": 0.2}, "b": {"x": 0.4, "y": 0.5}}, ax=ax),
    "alphas": lambda ax: plot.alphas(RUNS, ax=ax),
}


def without_text(figure):
    for ax in figure.axes:
        ax.set(xlabel="", ylabel="", title="")
        ax.tick_params(labelbottom=False, labelleft=False, labelright=False)
        if ax.get_legend():
            ax.get_legend().remove()
    return figure


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.mpl_image_compare(style="default", tolerance=6, deterministic=True, savefig_kwargs={"dpi": 100})
def test_picture(name):
    figure = Figure(figsize=(3, 2))
    PICTURES[name](figure.add_axes((0.1, 0.1, 0.8, 0.8)))
    return without_text(figure)


@pytest.mark.mpl_image_compare(style="default", tolerance=6, deterministic=True, savefig_kwargs={"dpi": 100})
def test_filtered_picture():
    figure = Figure(figsize=(3, 1))
    halves = gf.FilterBank.two_channel(GRID, "renorm_sym").analyze(WAVE)
    plot.filtered(GRID, *halves, layout=PLACES, axes=figure.subplots(1, 3))
    return without_text(figure)
