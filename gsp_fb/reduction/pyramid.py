r"""Laplacian pyramid of a graph signal: coarse approximations and prediction errors, with perfect reconstruction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from .._arguments import check_count, check_rng
from .._build import drop_loops
from .._lambda_max import EXACT_NODES
from ..backend import FloatArray, IntArray
from ..errors import ParameterError, SignalError
from ..filters import tikhonov
from ..graph import Graph
from ..operators import Operator, operator
from ..solvers import Solver, System
from ..spectrum import spectrum
from .kron import check_reducible, fill_in, kron, sampled_kron

__all__ = ["Pyramid"]

# The low-pass 1 / (1 + 2 lambda), and the residual of its solve and of the prediction.
SMOOTHING, TOL = 2.0, 1e-10
# Entries of an exact Kron reduction; beyond, the reduction is sampled.
MAX_ENTRIES = 1_000_000


@dataclass(frozen=True, eq=False)
class _Level:
    """One step of the pyramid: the finer graph, the nodes that the coarser one keeps, and the way back."""

    graph: Graph
    keep: IntArray
    regularization: float

    @cached_property
    def op(self) -> Operator:
        return operator(self.graph, "comb", channel="high")

    @cached_property
    def drop(self) -> IntArray:
        return np.setdiff1d(np.arange(self.graph.n_nodes), self.keep)

    @cached_property
    def _matrix(self) -> Any:
        eye = sparse.eye_array(self.graph.n_nodes)
        return sparse.csr_array(self.op.to_scipy() + self.regularization * eye)[self.drop]

    @cached_property
    def _solver(self) -> Solver:
        inner = sparse.csr_array(self._matrix[:, self.drop])
        return Solver(System(lambda x: inner @ x, inner.diagonal(), lambda: inner, np.ones(len(self.drop))))

    def coarse(self, x: FloatArray) -> FloatArray:
        """Return the smoothed signal at the kept nodes."""
        return np.asarray(tikhonov(self.op, x, SMOOTHING, tol=TOL))[self.keep]

    def predict(self, coarse: FloatArray) -> FloatArray:
        """Return the coarse values at the kept nodes and their (regularised) harmonic extension elsewhere."""
        x = np.zeros((self.graph.n_nodes, coarse.shape[1]))
        x[self.keep] = coarse
        x[self.drop] = self._solver.solve_to(-(self._matrix @ x), TOL)
        return x


class Pyramid:
    r"""Several resolutions of a graph, and the Laplacian pyramid of its signals.

    Each level keeps the nodes at which the eigenvector of the largest eigenvalue of :math:`L = D - A` is non-negative,
    and joins them by Kron reduction. :meth:`analyze` smooths a signal by :math:`1/(1+2\lambda)`, samples it at the kept
    nodes, predicts the finer signal from the samples and stores the prediction error.

    Parameters
    ----------
    graph : Graph
        Undirected, in memory.
    levels : int
        Number of reductions; each keeps about half of the nodes.
    regularization : float >= 0
        :math:`\epsilon` of the prediction :math:`-(L_{EE} + \epsilon I)^{-1} L_{EK}\,c`; with 0 constant signals have
        no prediction error.
    max_entries : int
        Reductions that could have more entries than this are sampled: the clique of each eliminated node becomes a
        random tree of the same expectation, so that no level has more edges than ``graph``.
    rng : None, int or numpy Generator
        Randomness of sampled reductions.

    Raises
    ------
    GraphError
        The graph is directed or has negative weights.
    ParameterError
        A level has no node to drop, or an option is out of range.

    See Also
    --------
    kron : One reduction, exact.
    sparsify : Fewer edges within a measured error.

    References
    ----------
    .. [1] D. I. Shuman, M. J. Faraji and P. Vandergheynst, "A multiscale pyramid transform for graph signals", IEEE TSP
       64(8), 2016.
    .. [2] R. Kyng and S. Sachdeva, "Approximate Gaussian elimination for Laplacians", FOCS 2016.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> pyramid = Pyramid(datasets.grid(8), 2)
    >>> pyramid
    Pyramid(n_nodes=(64, 32, 16), exact=(True, True))
    >>> x = np.arange(64.0)
    >>> parts = pyramid.analyze(x)
    >>> [len(part) for part in parts], bool(abs(pyramid.synthesize(parts) - x).max() < 1e-12)
    ([16, 32, 64], True)
    """

    def __init__(
        self, graph: Graph, levels: int, *, regularization: float = 0.0, max_entries: int = MAX_ENTRIES, rng: Any = 0
    ) -> None:
        check_reducible(graph, "a pyramid by Kron reduction")
        if not 0 <= regularization < np.inf:
            raise ParameterError(f"regularization must be a finite number >= 0, not {regularization!r}")
        generator, limit = check_rng(rng), check_count(max_entries, "max_entries")
        steps, exact = [], []
        for level in range(check_count(levels, "levels")):
            keep = _kept_nodes(graph, level, generator)
            steps.append(_Level(graph, keep, float(regularization)))
            drop = steps[-1].drop
            exact.append(fill_in(drop_loops(graph.adjacency), keep, drop)[0] <= limit)
            graph = kron(graph, keep, max_entries=limit) if exact[-1] else sampled_kron(graph, keep, generator)
        self._levels = tuple(steps)
        #: Graphs from the given one to the coarsest.
        self.graphs: tuple[Graph, ...] = (*(step.graph for step in steps), graph)
        #: Whether each reduction is the exact Schur complement.
        self.exact: tuple[bool, ...] = tuple(exact)

    @property
    def keep(self) -> tuple[IntArray, ...]:
        """Nodes of each graph but the last that the next one keeps."""
        return tuple(step.keep for step in self._levels)

    def analyze(self, x: Any) -> list[FloatArray]:
        """Return the coarsest approximation and the prediction errors, coarsest first.

        Parameters
        ----------
        x : array_like, shape (n_nodes,) or (n_nodes, n_signals)
            Real.

        Returns
        -------
        list of arrays
            ``levels + 1`` of them; the last has as many rows as ``x``.

        Raises
        ------
        SignalError
            ``x`` does not fit the graph, or is complex.
        """
        columns, shape = _columns(self.graphs[0], x, "x")
        errors = []
        for step in self._levels:
            coarse = step.coarse(columns)
            errors.append(columns - step.predict(coarse))
            columns = coarse
        return [part.reshape(len(part), *shape[1:]) for part in (columns, *reversed(errors))]

    def synthesize(self, parts: list[Any]) -> FloatArray:
        """Return the signal of pyramid coefficients; the inverse of :meth:`analyze`.

        Parameters
        ----------
        parts : list of arrays
            As :meth:`analyze` returns them, changed or not.

        Returns
        -------
        array, shape (n_nodes,) or (n_nodes, n_signals)

        Raises
        ------
        SignalError
            There are not ``levels + 1`` arrays, or one does not fit its graph.
        """
        if len(parts) != len(self.graphs):
            raise SignalError(f"{len(parts)} arrays for a pyramid of {len(self.graphs)} graphs")
        checked = [
            _columns(graph, part, f"part {at}")
            for at, (graph, part) in enumerate(zip(reversed(self.graphs), parts, strict=True))
        ]
        if len({shape[1:] for _, shape in checked}) > 1:
            raise SignalError(f"the parts have shapes {[shape for _, shape in checked]}; they must agree in columns")
        x = checked[0][0]
        for step, (error, _) in zip(reversed(self._levels), checked[1:], strict=True):
            x = step.predict(x) + error
        return x.reshape(len(x), *checked[0][1][1:])

    def __repr__(self) -> str:
        return f"Pyramid(n_nodes={tuple(graph.n_nodes for graph in self.graphs)}, exact={self.exact})"


def _columns(graph: Graph, x: Any, what: str) -> tuple[FloatArray, tuple[int, ...]]:
    try:
        dense = np.asarray(graph.check_signal(x))
    except SignalError as bad:
        raise SignalError(f"{what}: {bad}") from None
    if dense.dtype.kind != "f":
        raise SignalError(f"{what} is {dense.dtype}; a pyramid takes real dense signals")
    return dense.astype(np.float64).reshape(len(dense), -1), dense.shape


def _kept_nodes(graph: Graph, level: int, rng: np.random.Generator) -> IntArray:
    """Return the nodes of non-negative polarity, node 0 among them, and one node at least of each component."""
    polarity = _top_mode(graph, rng)
    keep = polarity * (-1.0 if polarity[0] < 0 else 1.0) >= 0
    labels = graph.component_labels
    first = np.unique(labels, return_index=True)[1]
    keep[first[np.bincount(labels[keep], minlength=len(first)) == 0]] = True
    if keep.all():
        raise ParameterError(f"level {level + 1}: all of the {graph.n_nodes} nodes are kept; give fewer levels")
    return np.flatnonzero(keep)


def _top_mode(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Return the eigenvector of the largest eigenvalue; on large graphs to two digits, since only signs matter."""
    op = operator(graph, "comb", channel="high")
    if graph.n_nodes <= EXACT_NODES:
        return np.asarray(spectrum(op).basis)[:, -1]
    start = rng.standard_normal(graph.n_nodes)
    return np.asarray(eigsh(op.to_scipy(), k=1, which="LA", v0=start, tol=1e-2)[1])[:, 0]
