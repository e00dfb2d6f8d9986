"""`verify`: its rows, its refusals, and that each claim can come out false."""

import dataclasses
import re
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.theory import CLAIMS, ClaimResult, paper_dense, paper_matrix, tolerance, verify
from gsp_fb.theory.case import Case, Modes

TRIANGLE_WITH_TAIL = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
HALF_PATH = gf.Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 0.5])


def rows_of(graph, gamma=1.0):
    return {row.claim: row for row in verify(graph, gamma)}


def test_every_claim_holds_on_a_graph_as_the_paper_supposes_it():
    rows = verify(TRIANGLE_WITH_TAIL)
    assert [row.claim for row in rows] == list(CLAIMS)
    assert all(row.applicable and row.holds is True for row in rows)


def test_theorem_1_is_not_applicable_to_the_counter_example_and_fails_there():
    row = rows_of(HALF_PATH)["theorem_1"]
    assert (row.applicable, row.holds) == (False, False)
    assert row.residual == pytest.approx(2 / 3 - 1 / 2, abs=1e-14)
    assert "every degree >= 1" in row.condition


def test_theorem_1_can_hold_where_its_condition_fails():
    bottleneck_beside_a_light_leaf = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], weights=[10, 1, 10, 0.9])
    row = rows_of(bottleneck_beside_a_light_leaf)["theorem_1"]
    assert (row.applicable, row.holds) == (False, True)


@pytest.mark.parametrize("claim", ["laplacian_below_2", "affinity_above_-1"])
def test_half_open_ranges_fail_on_bipartite_graphs(claim):
    row = rows_of(gf.Graph.from_edges([(0, 1), (1, 2)]))[claim]
    assert (row.applicable, row.holds) == (False, False)
    assert row.condition == "no bipartite (of signed weights: antibalanced) component"


def test_one_bipartite_component_is_enough():
    row = rows_of(gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 4)]))["laplacian_below_2"]
    assert (row.applicable, row.holds) == (False, False)


def test_an_isolated_node_is_no_bipartite_component():
    row = rows_of(gf.Graph.from_edges([(0, 1), (1, 2), (2, 0)], n_nodes=4))["laplacian_below_2"]
    assert (row.applicable, row.holds) == (True, True)


def test_a_strict_inequality_within_rounding_is_undecided():
    nearly_bipartite = gf.Graph.from_edges([(0, 1), (0, 0)], weights=[1.0, 1e-15])
    row = rows_of(nearly_bipartite)["laplacian_below_2"]
    assert (row.applicable, row.holds) == (True, None)


def test_mean_aggregation_needs_plain_edges():
    assert rows_of(HALF_PATH)["mean_aggregation"].applicable is False
    assert rows_of(HALF_PATH)["mean_aggregation"].holds is False
    assert rows_of(gf.Graph.from_edges([(0, 1), (1, 2)]), gamma=7.0)["mean_aggregation"].holds is True


def test_a_lazy_walk_below_gamma_one_may_have_negative_eigenvalues():
    row = rows_of(gf.Graph.from_edges([(0, 1)]), gamma=0.5)["lazy_range"]
    assert (row.applicable, row.holds) == (False, False)
    assert row.residual == pytest.approx(1 / 3, abs=1e-14)


def test_nonsmooth_energy_without_the_square_is_another_number():
    """The sum as printed, (1 - lambda_i) |u_i'x|, is not even homogeneous of degree two in x."""
    case = Case(TRIANGLE_WITH_TAIL, 1.0)
    modes, x = case.comb_modes, 2.0 * case.probes[:, 0]
    true = gf.nonsmooth_energy(case.op("comb", "high"), x)
    squared, printed = (np.sum((1 - modes.values) * np.abs(modes.vectors.T @ x) ** power) for power in (2, 1))
    assert squared == pytest.approx(true, abs=1e-12)
    assert abs(printed - true) > 0.1


@pytest.mark.parametrize(
    "graph",
    [
        gf.Graph.from_edges([], n_nodes=0),
        gf.Graph.from_edges([], n_nodes=1),
        gf.Graph.from_edges([], n_nodes=4),
        gf.Graph.from_edges([(0, 0)]),
        gf.Graph.from_edges([(0, 1)], n_nodes=3),
    ],
    ids=["no node", "one node", "no edge", "one loop", "isolated"],
)
@pytest.mark.parametrize("gamma", [1e-300, 1.0, 1e300])
def test_corners_give_rows_and_no_failure_under_the_condition(graph, gamma):
    rows = verify(graph, gamma)
    assert len(rows) == len(CLAIMS)
    assert [row.claim for row in rows if row.applicable and row.holds is False] == []


def test_one_node_has_no_second_eigenvalue_to_compare():
    row = rows_of(gf.Graph.from_edges([(0, 0)]))["theorem_1"]
    assert row.holds is None
    assert np.isnan(row.residual)


class Tampered(Case):
    """A case whose operators belong to another graph and whose eigenvalues are made up."""

    def op(self, family, channel="low"):
        other = gf.Graph.from_adjacency(np.triu(1.0 + np.arange(16.0).reshape(4, 4)), directed=True)
        made = gf.operator(other, family, channel, self.gamma if "_" in family else None)
        return dataclasses.replace(made, diag=made.diag - 3.0)

    @cached_property
    def sym_modes(self):
        return Modes(np.array([-1.0, 1.0, 2.0, 4.0]), np.eye(4))

    @cached_property
    def renorm_values(self):
        return np.array([-3.0, 1.0, 2.0, 2.0])

    @cached_property
    def lazy_values(self):
        return np.array([-3.0, 0.0, 1.0, 2.0])

    @cached_property
    def rw_affinity_values(self):
        return np.array([-3.0, 1.0, 2.0, 4.0])


@pytest.mark.parametrize("name", [name for name in CLAIMS if name != "proof_identity"])
def test_each_claim_comes_out_false_on_a_tampered_case(name, monkeypatch):
    # parseval compares no operator: there the signal's energy is tampered with instead.
    monkeypatch.setattr("gsp_fb.theory._sides.signal_energy", lambda x, per_column: 2.0 * np.sum(x * x, axis=0))
    case = Tampered(TRIANGLE_WITH_TAIL, 1.0)
    residual = CLAIMS[name].residual(case)
    assert residual > tolerance(case.n, scale=CLAIMS[name].scale(case))


def test_the_identity_of_the_proof_notices_a_wrong_degree_matrix():
    """It is algebra in A and D alike, so only the two sides' own formulas can break it: lose the gamma in one."""
    case = Case(TRIANGLE_WITH_TAIL, 2.0)
    y, d = case.probes, case.degrees[:, None]
    a, b = np.sum(y * (case.A @ y), 0) / np.sum(d * y * y, 0), np.sum(y * y, 0) / np.sum(d * y * y, 0)
    product = (1 - a) * (1 - b)
    true, lost = 2 / 3 * product / (1 + 2 * b), 1 / 3 * product / (1 + b)
    difference = (2 + a) / 3 - (2 * b + a) / (2 * b + 1)
    assert np.allclose(difference, true, atol=1e-14)
    assert not np.allclose(difference, lost, atol=1e-3)


def test_the_corrections_name_tests_that_exist():
    tests = Path(__file__).parent
    named = set(re.findall(r"`(test_\w+)`", (tests.parent / "docs" / "corrections.md").read_text(encoding="utf-8")))
    defined = {
        name
        for file in tests.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert named <= defined


def test_rows_say_where_the_paper_says_it():
    for row in verify(TRIANGLE_WITH_TAIL):
        assert row.reference.startswith(("Section ", "Appendix ", "Theorem "))
        assert row.statement
        assert row.condition
        assert 0 < row.tolerance < 1e-10


def test_a_row_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        verify(TRIANGLE_WITH_TAIL)[0].holds = True
    assert isinstance(verify(TRIANGLE_WITH_TAIL)[0], ClaimResult)


def test_directed_graphs_are_refused_with_the_remedy():
    with pytest.raises(GraphError, match="symmetrize="):
        verify(gf.Graph.from_edges([(0, 1)], directed=True))


def test_large_graphs_are_refused_before_anything_dense_is_made():
    large = gf.Graph.from_edges([(0, 1)], n_nodes=200_000)
    with pytest.raises(ParameterError, match=r"200000 nodes; raise max_nodes=3000"):
        verify(large)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan, "1"])
def test_gamma_has_to_be_positive(gamma):
    with pytest.raises(ParameterError, match="gamma must be"):
        verify(TRIANGLE_WITH_TAIL, gamma)


def test_paper_dense_refuses_unknown_names():
    with pytest.raises(ParameterError, match="did you mean 'lazy_rw'"):
        paper_dense(TRIANGLE_WITH_TAIL, "lazy_rv")
    with pytest.raises(ParameterError, match="unknown channel"):
        paper_dense(TRIANGLE_WITH_TAIL, "sym", "middle")
    with pytest.raises(ParameterError, match="isolated policy"):
        paper_dense(TRIANGLE_WITH_TAIL, "sym", isolated="both")


@pytest.mark.parametrize(("isolated", "kept"), [("self", 1.0), ("zero", 0.0)])
@pytest.mark.parametrize("family", ["sym", "rw", "lazy_sym", "lazy_rw"])
def test_paper_dense_follows_the_isolated_policy(family, isolated, kept):
    lonely = gf.Graph.from_edges([(0, 1)], n_nodes=3)
    low, high = (paper_dense(lonely, family, channel, isolated=isolated) for channel in ("low", "high"))
    assert low[2].tolist() == [0.0, 0.0, kept]
    assert high[2].tolist() == [0.0, 0.0, 1.0 - kept]


def test_paper_matrix_reads_everything_from_the_operator():
    op = gf.operator(TRIANGLE_WITH_TAIL, "renorm_sym", "high", gamma=3.0)
    assert np.array_equal(paper_matrix(op), paper_dense(TRIANGLE_WITH_TAIL, "renorm_sym", "high", 3.0))
