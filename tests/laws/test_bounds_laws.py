"""Laws of ``op.bounds``: they hold for every eigenvalue, and named graphs attain them."""

import numpy as np
import pytest
from hypothesis import example, given

import gsp_fb as gf
from gsp_fb.errors import GraphError
from gsp_fb.testing import families, gammas, graphs, operators
from gsp_fb.theory import paper_matrix
from gsp_fb.variants import CHANNELS, VARIANTS
from tests.support.closeness import assert_close, size_of

NORMALISED = families(norm=("sym", "rw"))


def eigenvalues(op):
    """From the paper's matrix, made symmetric by the similarity that the rw families have with the sym ones."""
    matrix = op.scale[:, None] * paper_matrix(op) / op.scale[None, :]
    return np.linalg.eigvalsh((matrix + matrix.T) / 2)


def named(edges):
    return gf.Graph.from_edges(edges)


EDGE = named([(0, 1)])
RING = named([(i, (i + 1) % 6) for i in range(6)])
STAR = named([(0, i) for i in range(1, 6)])
NAMED = {"K2": EDGE, "ring of 6": RING, "star of 6": STAR}


@given(operators(graphs(min_nodes=0), gamma=gammas(extreme=True)))
def test_every_eigenvalue_lies_within_the_bounds(op):
    low, high = op.bounds
    values = eigenvalues(op)
    slack = 64 * np.finfo(float).eps * op.graph.n_nodes * max(abs(low), abs(high), 1.0)
    assert low - slack <= values.min(initial=low)
    assert values.max(initial=high) <= high + slack


@given(operators(family=NORMALISED, channel="high"))
def test_normalised_laplacians_stay_between_zero_and_two(op):
    low, high = op.bounds
    assert low >= 0.0
    assert high <= 2.0 + 1e-15


@given(operators(channel="low"))
def test_the_bounds_of_the_channels_mirror_each_other(low):
    least, greatest = low.bounds
    assert_close(low.complement().bounds, (1 - greatest, 1 - least), scale=max(1.0, abs(least)))


@given(graphs(), gammas())
def test_lazy_walks_with_gamma_at_least_one_have_no_negative_eigenvalue(graph, gamma):
    op = gf.operator(graph, "lazy_rw", gamma=max(1.0, gamma))
    assert op.bounds[0] >= 0.0
    assert eigenvalues(op).min() >= -1e-12


@given(operators(family=families(norm="none"), channel="high"))
@example(gf.operator(gf.Graph.from_adjacency([[1e3, 0.1], [0.1, 0.0]]), "comb", "high"))  # 1000.1 - 1000
def test_the_combinatorial_bound_is_merris_and_beats_twice_the_largest_degree(op):
    A = op.graph.adjacency.toarray()
    np.fill_diagonal(A, 0.0)
    d = A.sum(axis=1)
    merris = max((d[i] + A[i] @ d / d[i] for i in range(len(d)) if d[i] > 0), default=0.0)
    assert_close(op.bounds, (0.0, merris), scale=1.0 + 2.0 * op.graph.degrees.max(initial=0.0), n=len(d))
    assert merris <= 2 * d.max(initial=0.0) * (1 + 1e-14)


# Unit loops weigh more at the leaves of a star than at its hub, so there the lower end stays clear (next test).
ATTAINED = [
    (family, name) for family, row in VARIANTS.items() for name in NAMED if (row.loops, name) != ("unit", "star of 6")
]


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("gamma", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("family", "name"), ATTAINED)
def test_both_ends_are_attained(family, name, gamma, channel):
    op = gf.operator(NAMED[name], family, channel, gamma if VARIANTS[family].has_gamma else None)
    values = eigenvalues(op)
    assert_close((values.min(), values.max()), op.bounds, scale=size_of(op.bounds) + 1, n=6)


@pytest.mark.parametrize("family", [name for name, row in VARIANTS.items() if row.loops == "unit"])
def test_unit_loops_on_a_star_keep_clear_of_the_lower_end(family):
    op = gf.operator(STAR, family)
    values = eigenvalues(op)
    assert values.min() > op.bounds[0] + 0.1
    assert_close(values.max(), op.bounds[1], n=6)


@pytest.mark.parametrize("n_nodes", [3, 5, 7])
def test_an_odd_ring_attains_only_one_end(n_nodes):
    op = gf.operator(named([(i, (i + 1) % n_nodes) for i in range(n_nodes)]), "sym")
    values = eigenvalues(op)
    assert_close(values.max(), op.bounds[1], n=n_nodes)
    assert_close(values.min(), -np.cos(np.pi / n_nodes), n=n_nodes)
    assert values.min() > op.bounds[0]


@given(operators(graphs(directed=True), family="sym"))
def test_a_directed_operator_has_no_bounds(op):
    with pytest.raises(GraphError, match="symmetrize="):
        _ = op.bounds
