"""What is in the pictures: artists hold the values that formulas and other libraries give."""

import matplotlib as mpl
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from numpy.testing import assert_allclose, assert_array_equal

import gsp_fb as gf
from gsp_fb import plot
from gsp_fb.errors import ParameterError, SignalError

KARATE = gf.from_networkx(nx.karate_club_graph(), weight=None)
HIGH = gf.operator(KARATE, "sym", "high")
X = np.random.default_rng(3).normal(size=34)
DENSE = nx.normalized_laplacian_matrix(nx.karate_club_graph(), weight=None).toarray()


def nodes_of(ax):
    return ax.collections[1]


class TestSignal:
    def test_nodes_carry_the_signal_at_the_stored_places(self):
        places = np.random.default_rng(0).random((34, 2))
        ax = plot.signal(KARATE, X, layout=places)
        assert_array_equal(nodes_of(ax).get_offsets(), places)
        assert_array_equal(nodes_of(ax).get_array(), X)

    def test_every_edge_is_a_line_between_its_nodes(self):
        places = np.random.default_rng(0).random((34, 2))
        ax = plot.signal(KARATE, X, layout=places)
        drawn = {tuple(map(tuple, line)) for line in ax.collections[0].get_segments()}
        assert drawn == {(tuple(places[u]), tuple(places[v])) for u, v in nx.karate_club_graph().edges}

    def test_zero_is_the_middle_of_the_colours_of_a_signed_signal(self):
        dots = nodes_of(plot.signal(KARATE, X))
        assert dots.norm(0.0) == 0.5
        assert dots.norm.vmax == np.abs(X).max()

    def test_amounts_span_a_sequential_map(self):
        dots = nodes_of(plot.signal(KARATE, X**2 + 1))
        assert dots.cmap.name == "viridis"
        assert (dots.norm.vmin, dots.norm.vmax) == ((X**2 + 1).min(), (X**2 + 1).max())

    def test_a_constant_has_a_scale_too(self):
        dots = nodes_of(plot.signal(KARATE, np.full(34, 2.0)))
        assert dots.norm(2.0) == 0.0

    @pytest.mark.parametrize("x", [np.ones(33), np.ones((34, 2)), 1j * np.ones(34), [np.nan] + [0.0] * 33])
    def test_what_is_not_one_real_value_a_node_is_refused(self, x):
        with pytest.raises(SignalError):
            plot.signal(KARATE, x)

    def test_the_message_names_both_lengths(self):
        with pytest.raises(SignalError, match="signal has 90 rows but the graph has 34 nodes"):
            plot.signal(KARATE, np.zeros(90))

    def test_a_huge_graph_is_refused_before_it_is_laid_out(self):
        huge = gf.datasets.path(200_000)
        with pytest.raises(ParameterError, match=r"200000 nodes .* max_nodes"):
            plot.signal(huge, np.zeros(200_000))

    def test_too_many_edges_are_left_out_and_the_picture_says_so(self):
        ax = plot.signal(KARATE, X, max_edges=77)
        assert ax.collections[0].get_segments() == []
        assert ax.get_xlabel() == "78 edges not drawn"

    @pytest.mark.parametrize("n_nodes", [0, 1, 2])
    def test_the_smallest_graphs(self, n_nodes):
        graph = gf.Graph.from_edges([(0, 1)][: n_nodes - 1] if n_nodes else [], n_nodes=n_nodes)
        plot.signal(graph, np.ones(n_nodes)).figure.canvas.draw()

    def test_a_directed_graph_is_drawn(self):
        arcs = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (1, 0)], directed=True)
        assert len(plot.signal(arcs, [1.0, 2.0, 3.0]).collections[0].get_segments()) == 4


def test_labels_have_a_colour_each_and_unlabelled_nodes_are_hollow():
    y = np.where(np.arange(34) < 4, -1, np.arange(34) % 3)
    ax = plot.labels(KARATE, y)
    hollow, *classes = ax.collections[1:]
    assert len(hollow.get_offsets()) == 4
    assert_array_equal(hollow.get_facecolor(), [to_rgba("white")])
    assert [len(group.get_offsets()) for group in classes] == np.bincount(y[y >= 0]).tolist()
    assert len({tuple(group.get_facecolor()[0]) for group in classes}) == 3


def test_filtered_shows_the_sum_and_both_halves_in_one_scale():
    low, high = gf.FilterBank.two_channel(KARATE, "renorm_rw").analyze(X)
    dots = [nodes_of(ax) for ax in plot.filtered(KARATE, low, high)]
    for drawn, values in zip(dots, (X, low, high), strict=True):
        assert_allclose(drawn.get_array(), values, atol=1e-14)
    assert len({(d.norm.vmin, d.norm.vmax, d.cmap.name) for d in dots}) == 1


class TestLayout:
    def test_the_spectral_layout_is_made_of_the_walks_modes(self):
        places = plot.positions(KARATE, "spectral")
        walk = np.linalg.inv(np.diag(DENSE_DEGREES)) @ nx.to_numpy_array(nx.karate_club_graph(), weight=None)
        centred = places - 0.5
        for column, value in zip(centred.T, sorted(np.linalg.eigvals(walk).real)[::-1][1:3], strict=True):
            mode = column - np.average(column, weights=DENSE_DEGREES)
            assert_allclose(walk @ mode, value * mode, atol=1e-10)

    @pytest.mark.parametrize("layout", plot.LAYOUTS)
    def test_components_do_not_overlap(self, layout):
        graph = gf.datasets.erdos_renyi(60, 0.02, rng=1)
        places = plot.positions(graph, layout)
        boxes = []
        for number in range(graph.n_components):
            part = places[graph.component_labels == number]
            boxes.append((part.min(axis=0), part.max(axis=0)))
        for i, (low, high) in enumerate(boxes):
            for other_low, other_high in boxes[:i]:
                assert np.any(low > other_high) or np.any(other_low > high)

    @pytest.mark.parametrize("layout", plot.LAYOUTS)
    def test_the_same_seed_gives_the_same_picture(self, layout):
        assert_array_equal(plot.positions(KARATE, layout, rng=1), plot.positions(KARATE, layout, rng=1))

    @pytest.mark.parametrize("layout", ["spring", "spectral"])
    def test_neighbours_are_near(self, layout):
        graph = gf.datasets.grid(12)
        places = plot.positions(graph, layout)
        assert places.min() >= 0
        assert places.max() <= 1
        source, target, _ = graph.edges()
        near = np.linalg.norm(places[source] - places[target], axis=1).mean()
        assert near < 0.25 * np.linalg.norm(places[:, None] - places[None], axis=2).mean()

    def test_an_unknown_name_lists_what_exists(self):
        with pytest.raises(
            ParameterError, match=r"choose one of spring, spectral, circle, communities \(did you mean 'spring'"
        ):
            plot.positions(KARATE, "sprign")

    @pytest.mark.parametrize("layout", [np.zeros((33, 2)), np.zeros((34, 3)), np.full((34, 2), np.nan)])
    def test_coordinates_of_another_shape_are_refused(self, layout):
        with pytest.raises(ParameterError, match="coordinates are 34 finite pairs"):
            plot.positions(KARATE, layout)


DENSE_DEGREES = np.array([degree for _, degree in nx.karate_club_graph().degree()], dtype=float)


class TestFrequency:
    def test_the_spectrum_is_the_dense_one(self):
        (dots,) = plot.spectrum(HIGH).lines
        assert_allclose(dots.get_ydata(), np.linalg.eigvalsh(DENSE), atol=1e-12)

    def test_a_partial_spectrum_is_drawn_as_it_is(self):
        (dots,) = plot.spectrum(gf.spectrum(HIGH, k=5)).lines
        assert_allclose(dots.get_ydata(), np.linalg.eigvalsh(DENSE)[:5], atol=1e-12)

    def test_a_density_is_a_histogram(self):
        density = gf.spectral_density(HIGH, bins=[0.0, 0.5, 1.5, 2.0])
        (stairs,) = plot.spectrum(density).patches
        # The least eigenvalue is 0, which comes out on either side of it.
        expected = np.histogram(np.clip(np.linalg.eigvalsh(DENSE), 0.0, 2.0), [0.0, 0.5, 1.5, 2.0])[0] / 34
        assert_allclose(stairs.get_data().values, expected)

    def test_gft_heights_are_the_coefficients(self):
        (dots,) = plot.gft(HIGH, X).lines
        # Eigenvalue 1 is repeated, so only the energy in each eigenspace is defined.
        values, vectors = np.linalg.eigh(DENSE)
        for centre in np.unique(values.round(8)):
            space = vectors[:, np.abs(values - centre) < 1e-6]
            drawn = dots.get_ydata()[np.abs(dots.get_xdata() - centre) < 1e-6]
            assert_allclose(np.sum(drawn**2), np.sum((space.T @ X) ** 2), atol=1e-10)

    def test_gft_of_several_signals_adds_their_energies(self):
        columns = np.stack([X, 2 * X, X**2], axis=1)
        (dots,) = plot.gft(HIGH, columns).lines
        assert_allclose(np.sum(dots.get_ydata() ** 2), np.sum(columns**2))

    def test_response_draws_every_kernel_and_the_frame(self):
        bank = gf.FilterBank(HIGH, gf.filters.mexican_hat(3))
        *curves, frame = plot.response(bank).lines
        for line, kernel in zip(curves, bank.kernels, strict=True):
            assert line.get_label() == kernel.name
            assert_allclose(line.get_ydata(), kernel(line.get_xdata()))
        assert_allclose(frame.get_ydata(), sum(line.get_ydata() ** 2 for line in curves))

    @pytest.mark.parametrize("levels", [1, 2, 3])
    def test_the_bands_of_a_cascade_are_what_it_does_to_a_mode(self, levels):
        bank = gf.FilterBank.two_channel(KARATE, "lazy_sym", levels=levels)
        modes = gf.spectrum(bank.high)
        *curves, total = plot.response(bank).lines
        for j in (0, 10, 33):
            parts = bank.analyze(modes.basis[:, j])
            for line, part in zip(curves, parts, strict=True):
                gain = np.interp(modes.frequencies[j], line.get_xdata(), line.get_ydata())
                assert_allclose(part, gain * modes.basis[:, j], atol=1e-4)
        assert_allclose(total.get_ydata(), 1.0)


class TestEnergies:
    def test_profile_shares_are_those_of_the_dense_modes(self):
        edges = [0.0, 0.5, 1.2, 2.0]
        (stairs,) = plot.energy_profile(gf.energy_profile(HIGH, X, bins=edges)).patches
        values, vectors = np.linalg.eigh(DENSE)
        expected = np.histogram(values.clip(min=0.0), edges, weights=(vectors.T @ X) ** 2)[0] / np.sum(X**2)
        assert_allclose(stairs.get_data().values, expected, atol=1e-12)

    def test_named_profiles_have_a_legend(self):
        profile = gf.energy_profile(HIGH, X)
        ax = plot.energy_profile({"one": profile, "two": profile})
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]

    def test_the_cumulative_band_holds_the_truth(self):
        graph = gf.datasets.community(600, 3, rng=0)
        op, x = gf.operator(graph, "sym", "high"), np.random.default_rng(0).normal(size=600)
        profile = gf.energy_profile(op, x, bins=8, matvecs=8)
        ax = plot.energy_profile(profile, cumulative=True)
        (line,) = ax.lines
        values, vectors = np.linalg.eigh(op.to_scipy().toarray())
        below = [np.sum((vectors[:, values < at - 1e-12].T @ x) ** 2) for at in line.get_xdata()]
        truth = np.array(below) / np.sum(x**2)
        width = (profile.upper - profile.lower) / profile.total / 2
        assert np.all(np.abs(line.get_ydata() - truth)[:-1] <= width[:-1] + 1e-9)

    def test_what_is_no_profile_is_refused(self):
        with pytest.raises(ParameterError, match="not an EnergyProfile; make one"):
            plot.energy_profile(X)

    def test_split_bars_are_the_quadratic_forms(self):
        rough = np.linalg.eigh(DENSE)[1][:, -1]
        low, high = plot.energy_split(HIGH, {"x": X, "rough": rough}).containers
        s = np.array([v @ DENSE @ v / (v @ v) for v in (X, rough)])
        assert s[1] > 1
        assert_allclose([bar.get_width() for bar in high], s)
        assert_allclose([bar.get_width() for bar in low], 1 - s)
        assert_allclose([bar.get_x() for bar in high], np.maximum(1 - s, 0), atol=1e-15)

    def test_split_bars_show_the_expectation_under_random_permutation(self):
        ax = plot.energy_split(HIGH, {"x": X, "squares": X**2})
        marks = [segment[0, 0] for segment in ax.collections[0].get_segments()]
        assert_allclose(marks, [1 - gf.expected_s_value(HIGH, x) for x in (X, X**2)])

    def test_expected_s_values_are_hollow(self):
        ax = plot.s_values({"a": {"x": 0.8, "y": 0.3}, "b": {"x": 0.4}}, expected={"a": {"x": 0.9}, "b": {"x": 1.0}})
        hollow, x, y = ax.lines[-3:]
        assert (hollow.get_xdata().tolist(), hollow.get_ydata().tolist()) == ([0.9, 1.0], [0, 1])
        assert [line.get_markerfacecolor() == "none" for line in (hollow, x, y)] == [True, False, False]

    def test_a_low_channel_does_not_split(self):
        with pytest.raises(ParameterError, match="is a low channel"):
            plot.energy_split(HIGH.complement(), X)

    def test_s_values_stand_in_the_row_of_their_data_set(self):
        ax = plot.s_values({"cora": {"features": 0.8, "labels": 0.2}, "texas": {"labels": 0.9}})
        assert [tick.get_text() for tick in ax.get_yticklabels()] == ["cora", "texas"]
        features, labels = ax.lines[-2:]
        assert (features.get_xdata().tolist(), features.get_ydata().tolist()) == ([0.8], [0])
        assert (labels.get_xdata().tolist(), labels.get_ydata().tolist()) == ([0.2, 0.9], [0, 1])

    def test_an_empty_table_is_refused(self):
        with pytest.raises(ParameterError, match="empty"):
            plot.s_values({})


class TestAlphas:
    def run(self, n_epochs, value):
        return [{"epoch": e, "alpha_low_1": str(value), "alpha_high_1": value + 0.1} for e in range(1, n_epochs + 1)]

    def test_bands_are_over_the_runs_that_reached_the_epoch(self):
        ax = plot.alphas([self.run(4, 0.2), self.run(2, 0.4)])
        low, high = ax.lines
        assert_allclose(low.get_ydata(), [0.3, 0.3, 0.2, 0.2])
        assert_allclose(high.get_ydata(), [0.4, 0.4, 0.3, 0.3])
        corners = ax.collections[0].get_paths()[0].vertices
        assert_allclose([corners[:, 1].min(), corners[:, 1].max()], [0.2, 0.4])

    def test_a_model_with_one_channel_has_none(self):
        with pytest.raises(ParameterError, match=r"no alphas in the history \(columns: epoch, loss\)"):
            plot.alphas([{"epoch": 1, "loss": 0.5}])

    def test_an_empty_history_is_refused(self):
        with pytest.raises(ParameterError, match="columns: none"):
            plot.alphas([])


class TestTsne:
    def test_classes_that_are_apart_stay_apart(self):
        y = np.arange(45) % 3
        points = np.random.default_rng(0).normal(size=(45, 10)) + 20 * np.eye(10)[y]
        groups = [np.asarray(group.get_offsets()) for group in plot.tsne(points, y, perplexity=10).collections]
        centres = np.array([group.mean(axis=0) for group in groups])
        for own, group in enumerate(groups):
            nearest = np.linalg.norm(group[:, None] - centres[None], axis=2).argmin(axis=1)
            assert_array_equal(nearest, np.full(15, own))

    def test_unlabelled_nodes_are_grey(self):
        y = np.array([-1] * 5 + [2] * 5)
        hollow, known = plot.tsne(np.random.default_rng(0).normal(size=(10, 1)), y).collections
        assert_allclose(hollow.get_facecolor()[0], mpl.colors.to_rgba("0.55"))
        assert known.get_label() == "class 2"

    def test_too_few_rows_are_refused(self):
        with pytest.raises(ParameterError, match="at least 4 rows"):
            plot.tsne(np.ones((3, 2)), [0, 1, 0])
