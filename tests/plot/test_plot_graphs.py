"""Graphs alone, in space, many classes, eigenvalue marks and spectrograms: what the artists hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal

import gsp_fb as gf
from gsp_fb import datasets, plot
from gsp_fb.errors import ParameterError
from gsp_fb.filters import meyer
from gsp_fb.plot._style import categorical, marker


def test_a_bare_graph_is_drawn_at_its_coordinates():
    graph = datasets.sensor(30, rng=0)
    ax = graph.plot()
    assert_array_equal(ax.collections[1].get_offsets(), graph.coordinates)
    assert len(ax.collections[0].get_segments()) == graph.n_edges
    given = plt.figure().subplots()
    assert graph.plot(np.arange(30.0), ax=given) is given


def test_three_coordinates_are_drawn_in_space_or_projected():
    graph = datasets.torus(6)
    assert graph.plot().name == "3d"
    assert plot.signal(graph, np.arange(36.0)).name == "3d"
    assert plot.labels(graph, np.arange(36) % 3).name == "3d"
    flat = graph.plot(ax=plt.figure().subplots())
    assert flat.collections[1].get_offsets().shape == (36, 2)


def test_edges_get_thinner_with_their_number():
    few, many = datasets.sensor(30, rng=0).plot(), datasets.sensor(1500, rng=0, n_neighbors=12).plot()
    assert many.collections[0].get_linewidth()[0] < few.collections[0].get_linewidth()[0]
    assert many.collections[0].get_alpha() < few.collections[0].get_alpha()


@pytest.mark.parametrize("count", [7, 8, 15, 21, 22, 60])
def test_categories_have_distinct_looks(count):
    looks = {(colour, marker(number)) for number, colour in enumerate(categorical(count))}
    assert len(looks) == count
    if count <= 21:
        colours = np.array([to_rgb(colour) for colour in categorical(count)])
        gaps = np.linalg.norm(colours[:, None] - colours[None], axis=2) + 9 * np.eye(count)
        assert gaps.min() > 0.1


def test_fault_140_ten_classes_have_ten_looks():
    ax = plot.labels(datasets.grid(5), np.arange(25) % 10)
    looks = {
        (tuple(dots.get_facecolor()[0]), dots.get_paths()[0].vertices.tobytes())
        for dots in ax.collections
        if dots.get_label().startswith("class")
    }
    assert len(looks) == 10


def test_eigenvalues_are_marked_on_the_curves():
    op = gf.operator(datasets.ring(12), "sym", "high")
    bank = gf.FilterBank(op, meyer(3))
    values = gf.spectrum(op).frequencies
    ax = plot.response(bank, eigenvalues=True)
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    for line, kernel in zip(crosses, bank.kernels, strict=True):
        assert_allclose(line.get_xdata(), values)
        assert_allclose(line.get_ydata(), kernel(values))
    partial = plot.response(bank, eigenvalues=gf.spectrum(op, k=3))
    assert len(partial.lines[-1].get_xdata()) == 3


def test_a_spectrogram_holds_the_band_energies():
    op = gf.operator(datasets.path(20), "comb", "high")
    x = np.random.default_rng(0).standard_normal(20)
    values, modes = np.linalg.eigh(op.to_scipy().toarray())
    centres, width = np.linspace(0, 4, 10), 4 / 10
    gains = np.exp(-(((values[:, None] - centres) / width) ** 2))
    order = np.arange(20)[::-1]
    ax = plot.spectrogram(op, x, bands=10, order=order)
    wanted = (modes @ (gains * (modes.T @ x)[:, None])) ** 2
    assert_allclose(ax.collections[0].get_array(), wanted[order].T, atol=2e-2 * wanted.max())
    atoms = plot.spectrogram(op, bands=10)
    assert_allclose(atoms.collections[0].get_array(), (modes**2 @ gains**2).T, atol=1e-9)
    with pytest.raises(ParameterError, match="each of the 20 nodes"):
        plot.spectrogram(op, x, order=[0, 1])


def test_a_spectrogram_sums_over_signals_and_has_real_atoms_on_magnetic_graphs():
    graph = gf.Graph.from_edges([(i, (i + 1) % 9) for i in range(9)], directed=True).magnetic(0.2)
    op, x = gf.operator(graph, "sym", "high"), np.random.default_rng(0).standard_normal((9, 2))
    single = [plot.spectrogram(op, column, bands=5).collections[0].get_array() for column in x.T]
    both = plot.spectrogram(op, x, bands=5).collections[0].get_array()
    assert_allclose(both, sum(single), rtol=1e-12)
    values, modes = np.linalg.eigh(op.to_scipy().toarray())
    centres = np.linspace(0, op.bounds[1], 5)
    gains = np.exp(-(((values[:, None] - centres) / (op.bounds[1] / 5)) ** 2))
    atoms = plot.spectrogram(op, bands=5).collections[0].get_array()
    assert_allclose(atoms, (abs(modes) ** 2 @ gains**2).T, atol=1e-9)
