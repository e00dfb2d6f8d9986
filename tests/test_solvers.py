"""The planner of linear solves: every method on its own, the order in which they are tried, and what is reported."""

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import ConvergenceError
from gsp_fb.filters.krylov import affine_system
from gsp_fb.solvers import METHODS, Solver, System, conjugate_gradients, planner, solve
from gsp_fb.solvers.system import approximate_cholesky, multigrid

RNG = np.random.default_rng(0)


def grid_system(tau=1e3, side=20, decades=3.0, family="comb"):
    source, target, _ = gf.datasets.grid(side, side).edges()
    weights = 10.0 ** np.random.default_rng(3).uniform(-decades, decades, len(source))
    graph = gf.Graph.from_edges(np.stack([source, target], axis=1), weights=weights)
    return affine_system(gf.operator(graph, family, channel="high").symmetrized, 1.0, tau, floor=1.0)


def only(monkeypatch, *names):
    monkeypatch.setattr(planner, "METHODS", {name: METHODS[name] for name in names})
    monkeypatch.setattr(planner, "DIRECT_FLOPS", 0.0)


def checked(system, found, right, target):
    matrix = system.matrix.toarray()
    exact = np.linalg.solve(matrix, right)
    residual = np.linalg.norm(right - matrix @ found.x, axis=0)
    assert np.all(residual <= 1.01 * target)
    # Both are computed: where hardly anything is left, their difference is rounding.
    assert np.all(np.abs(found.residual - residual) <= 1e-3 * target)
    assert np.all(np.linalg.norm(found.x - exact, axis=0) <= found.error_bound + 1e-12)


@pytest.mark.parametrize("name", ["approximate-cholesky", "direct", "multigrid", "cg"])
@pytest.mark.parametrize("family", ["comb", "sym", "lazy_rw"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.complex128])
def test_each_method_alone_reaches_the_target(monkeypatch, name, family, kind):
    only(monkeypatch, name)
    system = grid_system(family=family, decades=1.0)
    right = RNG.standard_normal((400, 2)).astype(kind)
    if kind is np.complex128:
        right = right + 1j * RNG.standard_normal((400, 2))
    target = 1e-8 * np.linalg.norm(right, axis=0)
    found = solve(system, right, target)
    assert found.method == name
    assert (found.iterations == 0) == (name == "direct")
    checked(system, found, right.astype(np.result_type(kind, np.float64)), target)


@pytest.mark.parametrize("make", [approximate_cholesky, multigrid])
def test_a_preconditioner_is_symmetric_and_positive_and_saves_steps(make):
    system = grid_system(tau=1.0, decades=1.0)
    inverse = make(system)
    dense = inverse(np.eye(400))
    assert np.abs(dense - dense.T).max() <= 1e-6 * np.abs(dense).max()
    assert np.linalg.eigvalsh((dense + dense.T) / 2)[0] > 0
    right = RNG.standard_normal((400, 1))
    steps = [
        conjugate_gradients(system.product, right, 1e-8 * np.linalg.norm(right), 5000, precondition=one)[1]
        for one in (inverse, None)
    ]
    assert steps[0] < steps[1] / 3


def test_approximate_cholesky_wins_on_weights_of_six_decades(monkeypatch):
    monkeypatch.setattr(planner, "DIRECT_FLOPS", 0.0)
    system, right = grid_system(side=60), RNG.standard_normal((3600, 1))
    found = solve(system, right, 1e-8 * np.linalg.norm(right))
    assert found.method == "approximate-cholesky"
    assert found.error_bound[0] <= 1e-8 * np.linalg.norm(right)


def test_well_conditioned_systems_need_jacobi_alone():
    graph = gf.datasets.barabasi_albert(500, 5, rng=0)
    system = affine_system(gf.operator(graph, "sym", channel="high"), 1.0, 5.0, floor=1.0)
    right = RNG.standard_normal((500, 1))
    assert solve(system, right, 1e-9 * np.linalg.norm(right)).method == "jacobi-cg"


def refused(system):
    raise RuntimeError("refused")


def wrong(system):
    return lambda block: np.full_like(block, 1e3)


@pytest.mark.parametrize("broken", [refused, wrong])
def test_a_method_that_fails_is_followed_by_the_next(monkeypatch, broken):
    """Approximate Cholesky is a young library: an answer that misses its residual counts for nothing."""
    monkeypatch.setitem(
        planner.METHODS,
        "approximate-cholesky",
        planner.Method(lambda _: True, planner._preconditioned("approximate-cholesky", broken)),
    )
    system, right = grid_system(), RNG.standard_normal((400, 1))
    target = 1e-8 * np.linalg.norm(right)
    found = solve(system, right, target)
    assert found.method == "direct"
    checked(system, found, right, target)


def test_without_the_extra_the_ladder_is_shorter(monkeypatch):
    monkeypatch.setattr(planner, "has", lambda name: False)
    applying = [name for name, method in METHODS.items() if method.applies(Solver(grid_system()))]
    assert applying == ["jacobi-cg", "direct", "cg"]


def test_factors_are_made_once_for_several_right_hand_sides(monkeypatch):
    calls = []
    made = approximate_cholesky
    monkeypatch.setitem(
        planner.METHODS,
        "approximate-cholesky",
        planner.Method(
            lambda _: True,
            planner._preconditioned("approximate-cholesky", lambda system: calls.append(1) or made(system)),
        ),
    )
    solver = Solver(grid_system())
    for _ in range(3):
        solver.solve(RNG.standard_normal((400, 1)), 1e-6)
    assert len(calls) == 1


def test_a_singular_system_is_solved_in_its_range(monkeypatch):
    only(monkeypatch, "direct")
    graph = gf.datasets.ring(50)
    high = gf.operator(graph, "comb", channel="high")
    system = System(high.apply, np.full(50, 2.0), high.to_scipy, np.ones(50), lambda block: block - block.mean(axis=0))
    right = RNG.standard_normal((50, 1))
    found = solve(system, right, 1e-9)
    exact = np.linalg.pinv(high.to_scipy().toarray()) @ right
    np.testing.assert_allclose(found.x, exact, atol=1e-8)
    assert np.isinf(found.error_bound[0])


def test_no_method_left_is_an_error_with_the_residual(monkeypatch):
    only(monkeypatch, "jacobi-cg")
    with pytest.raises(ConvergenceError, match=r"left a residual of .* after 100 steps"):
        solve(grid_system(), RNG.standard_normal((400, 1)), 1e-12)


def test_a_system_of_products_alone_has_no_matrix():
    with pytest.raises(TypeError, match="matrix-vector products alone"):
        _ = System(lambda x: x, np.ones(3)).matrix
    assert sparse.issparse(grid_system().matrix)
