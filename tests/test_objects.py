"""What objects do by themselves: length, equality, dense and linear forms, products, compact HTML."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import gsp_fb as gf
from gsp_fb.theory import dense

GRAPH = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], weights=[1.0, 2.0, 0.5, 1.5])
AGAIN = gf.Graph.from_edges([(2, 3), (0, 1), (2, 0), (1, 2)], weights=[1.5, 1.0, 0.5, 2.0])
HIGH = gf.operator(GRAPH, "sym", channel="high")
LOW = gf.operator(GRAPH, "lazy_rw")
X = np.array([1.0, -2.0, 0.5, 3.0])
ARGUMENTS = {"heat": (5.0,), "ppr": (0.2,), "rational": ([1.0], [1.0, 2.0]), "wave": (1.0,)}


def test_a_graph_has_as_many_elements_as_nodes():
    assert len(GRAPH) == 4
    assert gf.Graph.from_edges([], n_nodes=0)


def test_graphs_compare_by_edges_weights_and_names():
    assert GRAPH == AGAIN
    assert hash(GRAPH) == hash(AGAIN)
    assert gf.datasets.ring(5) != gf.datasets.path(5)
    assert gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]) != GRAPH
    assert GRAPH.with_nodes(("a", "b", "c", "d")) != GRAPH
    assert GRAPH != "graph"
    assert len({GRAPH, AGAIN}) == 1


def test_operators_compare_by_content():
    assert gf.operator(AGAIN, "sym", channel="high") == HIGH
    assert hash(gf.operator(AGAIN, "sym", channel="high")) == hash(HIGH)
    assert HIGH.complement() != HIGH
    assert LOW.T != LOW
    assert gf.operator(GRAPH, "lazy_rw", gamma=2.0) != LOW
    assert HIGH != 3


def test_dense_form_is_the_papers():
    assert np.allclose(HIGH.toarray(), dense.paper_dense(GRAPH, "sym", "high", None))


@pytest.mark.parametrize("factor", [2.0, np.float64(2.0), 3])
def test_scalar_multiples_are_linear_operators(factor):
    for made in (factor * HIGH, HIGH * factor):
        assert isinstance(made, LinearOperator)
        assert np.allclose(made @ X, factor * (HIGH.toarray() @ X))


def test_products_and_sums_of_operators_are_linear_operators():
    both = HIGH @ LOW
    assert isinstance(both, LinearOperator)
    assert np.allclose(both @ X, HIGH.toarray() @ LOW.toarray() @ X)
    assert np.allclose((2 * HIGH + both) @ X, (2 * HIGH.toarray() + HIGH.toarray() @ LOW.toarray()) @ X)
    with pytest.raises(TypeError):
        HIGH * "two"


def test_linear_operators_take_further_operators():
    high, low = HIGH.toarray(), LOW.toarray()
    made = {
        "three": (HIGH @ LOW @ HIGH, high @ low @ high),
        "scaled": ((2 * HIGH) @ LOW, 2 * high @ low),
        "taken": (HIGH @ (LOW @ LOW), high @ low @ low),
        "sum": (HIGH + LOW, high + low),
        "difference": (HIGH - 2 * LOW, high - 2 * low),
        "added": (2 * HIGH + LOW, 2 * high + low),
        "negative": (-HIGH, -high),
        "quotient": (HIGH / 4 - LOW, high / 4 - low),
        "adjoint": ((LOW @ HIGH).H, (low @ high).T),
    }
    for name, (found, wanted) in made.items():
        assert isinstance(found, LinearOperator), name
        assert np.allclose(found.toarray(), wanted), name
        assert np.allclose(found @ X, wanted @ X), name
        assert np.allclose(found.rmatvec(X), wanted.T @ X), name
    for wrong in (lambda: HIGH + 1, lambda: HIGH - "two", lambda: HIGH / "two", lambda: (2 * HIGH) @ 3):
        with pytest.raises(TypeError):
            wrong()


def test_kernels_and_banks_compare_by_what_they_do():
    heat = gf.filters.heat
    assert heat(2.0) == heat(2.0) != heat(3.0)
    assert len({heat(2.0), heat(2.0), heat(3.0)}) == 2
    for name in sorted(set(gf.filters.KERNELS) - {"gabor"}):
        first, second = (getattr(gf.filters, name)(*ARGUMENTS.get(name, ())) for _ in range(2))
        assert first == second, name
        assert hash(first) == hash(second), name
    assert gf.FilterBank(HIGH, heat(2.0)) == gf.FilterBank(gf.operator(AGAIN, "sym", channel="high"), heat(2.0))
    assert gf.FilterBank(HIGH, heat(2.0)) != gf.FilterBank(HIGH, heat(2.0), tol=1e-3)
    assert hash(gf.FilterBank(HIGH, heat(2.0))) == hash(gf.FilterBank(HIGH, heat(2.0)))
    assert heat(2.0) != "heat(2)"
    assert gf.FilterBank(HIGH, heat(2.0)) != heat(2.0)


def test_a_graph_draws_itself():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    placed = GRAPH.with_nodes({"x": [0, 1, 2, 3], "y": [0, 1, 0, 1], "speed": X})
    drawn = placed.plot("speed")
    points = drawn.collections[-1].get_offsets()
    assert np.allclose(np.asarray(points), placed.coordinates)
    assert GRAPH.plot(X) is not None
    plt.close("all")


@pytest.mark.parametrize(
    "thing",
    [
        GRAPH,
        HIGH,
        gf.spectrum(HIGH),
        gf.filters.heat(2.0),
        gf.FilterBank(HIGH, [gf.filters.heat(2.0)]),
        gf.datasets.contextual_sbm(20, rng=0),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_compact_html(thing):
    html = thing._repr_html_()
    assert html.startswith("<table")
    assert html.endswith("</table>")
    assert len(html) < 3000
    assert type(thing).__name__ in html
