"""Graph learning beside the public Python learner: `pip install --no-deps graph-structure-learning` (graph_learn)."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from gsp_fb import learning

smooth = pytest.importorskip("graph_learn.smooth_learning", reason="graph-structure-learning is not installed")


@pytest.mark.parametrize("seed", range(4))
def test_the_log_degree_model_has_the_weights_of_the_public_learner(seed):
    """Every pair is a candidate; the public learner is given our parameter, and no threshold."""
    x = np.random.default_rng(seed).standard_normal((15, 3))
    found = learning.learn_weights(x, 5, tol=1e-9, max_iterations=50_000)
    assert len(found.pairs) == 15 * 14 // 2
    z = pdist(x) ** 2
    theirs = smooth.gsp_learn_graph_log_degrees(
        found.scale * z / z.mean(), alpha=1, beta=1, maxit=50_000, tol=1e-10, edge_tol=0.0
    )
    np.testing.assert_allclose(found.graph.adjacency.toarray(), theirs, atol=1e-7)


def test_the_first_parameter_is_that_of_the_public_learner():
    """Both take theorem 1 of Kalofolias and Perraudin; theirs counts a point as its own nearest neighbour."""
    x = np.random.default_rng(0).random((40, 2))
    distances = np.sort(squareform(pdist(x) ** 2), axis=1)
    others = distances[:, 1:]
    ours = learning.MODELS["log"].scale(others, 6)
    assert ours == pytest.approx(smooth.get_theta(others, 6), rel=1e-12)
