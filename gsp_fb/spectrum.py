"""The graph Fourier transform: eigenvalues as frequencies, eigenvectors as modes, for every family."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

from ._arguments import check_choice, check_count, check_device, host_array
from ._document import facts_html
from ._eigen import DENSE_BYTES, Pairs, dense_pairs, partial_pairs
from ._search import DENSE_FALLBACK, dense_products, mode_bytes, too_large
from .backend import (
    FloatArray,
    Signal,
    as_complex,
    cast,
    column,
    conj,
    diagonal_times,
    freeze,
    is_complex,
    is_sparse,
    namespace,
    product,
    transposed,
)
from .errors import GraphError, GspWarning, ParameterError, SignalError
from .operators import Operator, check_operator, elsewhere

__all__ = ["Spectrum", "spectrum"]

ENDS = ("low", "high")
# Up to this size LAPACK beats every iterative solver and finds all pairs, whatever their gaps.
DENSE_NODES = 512
# Matrix-vector products that a pair takes, at the least.
PRODUCTS = 200
# eigh holds the matrix, its workspace and the vectors at once.
DENSE_COPIES = 3
# LAPACK takes longer than ten seconds from here on, in which Ctrl-C is not heard.
UNINTERRUPTED_NODES = 3_000


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum:
    """Frequencies and modes of an operator, with the transform they define.

    Parameters
    ----------
    operator : Operator
        The operator that is decomposed.
    frequencies : float64 array, shape (k,)
        Eigenvalues of the operator, ascending.
    symmetrized_basis : float64 array, shape (n_nodes, k)
        Orthonormal eigenvectors of the symmetrized operator; complex128 for complex weights (:meth:`Graph.magnetic`).
    method : str
        The solver that found them.
    proof : {'dense', 'inertia', 'residual'}
        How sure it is that no mode of this end is missing. ``'dense'``: all modes were computed. ``'inertia'``: a
        sparse factorisation (or the components, for null vectors) counted the eigenvalues. ``'residual'``: each pair
        is an eigenpair to within ``error``, and a second search found no other; they were not counted, because the
        factorisation is too large.
    error : float
        Bound on the error of every frequency; with ``proof='residual'``, on the distance to an eigenvalue.

    See Also
    --------
    spectrum : The function that returns it.
    eigengap : The two largest eigenvalues of a low channel.
    spectral_density : The distribution of all eigenvalues, without modes.

    References
    ----------
    .. [1] D. I. Shuman, S. K. Narang, P. Frossard, A. Ortega and P. Vandergheynst, "The emerging field of signal
       processing on graphs", IEEE Signal Process. Mag. 30, 2013.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> modes = spectrum(operator(ring, "sym", channel="high"))
    >>> modes.frequencies.round(6)
    array([0., 1., 1., 2.])
    >>> modes.igft(modes.gft([1.0, 2.0, 3.0, 4.0])).round(6)
    array([1., 2., 3., 4.])
    """

    operator: Operator
    frequencies: FloatArray
    symmetrized_basis: FloatArray
    method: str
    proof: str = "residual"
    error: float = math.nan

    def __post_init__(self) -> None:
        freeze(self.frequencies)
        freeze(self.symmetrized_basis)

    def __len__(self) -> int:
        return int(self.frequencies.shape[0])

    @property
    def is_full(self) -> bool:
        """Whether every mode is there, so that :meth:`igft` inverts :meth:`gft`."""
        return len(self) == self.operator.graph.n_nodes

    @property
    def basis(self) -> FloatArray:
        """The modes as columns: right eigenvectors of the operator.

        For random-walk families these are ``D~^-1/2 u`` with ``u`` orthonormal: orthonormal in the inner product
        ``<x, y> = sum_i d~_i x_i y_i``.
        """
        modes: FloatArray = self.symmetrized_basis / self.operator.scale[:, None]
        return modes

    def gft(self, x: Any) -> Signal:
        """Return the coefficients of ``x`` in the modes: ``U^-1 x``.

        ``sum |c|^2`` equals ``sum_i scale_i^2 |x_i|^2`` (Parseval), with ``scale`` 1 for symmetric families.

        Examples
        --------
        >>> from gsp_fb import Graph, operator
        >>> modes = spectrum(operator(Graph.from_edges([(0, 1)]), "sym", channel="high"))
        >>> abs(modes.gft([1.0, 1.0])).round(4)
        array([1.4142, 0.    ])
        """
        x = self.operator.graph.check_signal(x)
        check_device(x, self.symmetrized_basis)
        weighted = diagonal_times(self.operator.scale, x)
        basis = conj(self.symmetrized_basis)
        c = product(transposed(weighted), basis).T if is_sparse(x) else basis.T @ weighted
        return _as_dtype(self.operator.graph.storage.reduce(c, "sum"), x.dtype)

    def igft(self, c: Any) -> Signal:
        """Return the signal with the coefficients ``c``: ``U c``; with ``k`` modes, the projection onto them.

        Examples
        --------
        >>> from gsp_fb import Graph, operator
        >>> modes = spectrum(operator(Graph.from_edges([(0, 1), (1, 2)]), "rw", channel="high"))
        >>> modes.igft(modes.gft([1.0, 5.0, 3.0])).round(6)
        array([1., 5., 3.])
        """
        c = host_array(c, SignalError, "coefficients")
        check_device(c, self.symmetrized_basis)
        if c.ndim not in (1, 2) or c.shape[0] != len(self):
            raise SignalError(f"coefficients have shape {tuple(c.shape)} but there are {len(self)} modes")
        c = as_complex(c) if is_complex(self.symmetrized_basis) else c
        x = self.symmetrized_basis @ c
        return _as_dtype(x / column(self.operator.scale, x), c.dtype)

    def __repr__(self) -> str:
        count = f"{len(self)} of {self.operator.graph.n_nodes} modes"
        return f"Spectrum({count} of {self.operator!r}, {self.method}, proof={self.proof!r})"

    def _repr_html_(self) -> str:
        ends = [f"{float(self.frequencies[at]):.4g}" for at in (0, -1)] if len(self) else ["none"]
        facts = {"modes": f"{len(self)} of {self.operator.graph.n_nodes}", "frequencies": " to ".join(ends)}
        facts |= {"operator": repr(self.operator), "solver": self.method, "proof": self.proof}
        return facts_html("Spectrum", facts)


def _as_dtype(x: Any, dtype: Any) -> Any:
    xp = namespace(x)
    return xp.astype(x, dtype) if dtype in (xp.float32, xp.complex64) else x


def spectrum(
    op: Operator,
    k: int | None = None,
    which: str = "low",
    *,
    tol: float = 1e-10,
    certify: bool | None = None,
    max_bytes: int = DENSE_BYTES,
) -> Spectrum:
    """Return the eigendecomposition of ``op``: complete, or ``k`` modes at one end of the frequency axis.

    Repeated eigenvalues come with every copy. Where ``k`` cuts through a group of equal ones, any orthonormal basis of
    as many dimensions as are asked for is returned.

    Parameters
    ----------
    op : Operator
        Of an undirected graph; random-walk families go through their symmetrized operator.
    k : int, optional
        How many modes; all by default.
    which : {'low', 'high'}
        The smooth end (small Laplacian, large affinity eigenvalues) or the high-frequency one.
    tol : float
        Largest residual of the iterative solvers, relative to the norm of the operator.
    certify : bool, optional
        True: count the eigenvalues by a sparse factorisation, or raise. False: never count. By default they are counted
        where that is cheap (small graphs, meshes, roads, trees of any size). ``proof`` states what was done.
    max_bytes : int
        A computation that needs more memory is refused before it starts.

    Returns
    -------
    Spectrum
        Frequencies, modes, and ``proof``.

    Raises
    ------
    GraphError
        The graph is directed.
    ParameterError
        ``k`` exceeds the number of nodes, or the modes need more than ``max_bytes``.
    ConvergenceError
        No solver reached the tolerance, or ``certify=True`` and the factorisation is too large; the message gives its
        size and what to do instead.

    Warns
    -----
    GspWarning
        A dense decomposition starts that takes more than about ten seconds and cannot be interrupted.

    See Also
    --------
    eigengap : The second eigenvalue alone, with an error bound.
    energy_profile : How a signal's energy is distributed over the frequencies, without modes.

    References
    ----------
    .. [1] K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM J. Matrix
       Anal. Appl. 22 (2000) 602-616.
    .. [2] B. N. Parlett, "The Symmetric Eigenvalue Problem", SIAM 1998, section 3.3 (slicing by inertia).

    Examples
    --------
    A torus of 30 x 30 nodes has every frequency several times:

    >>> from gsp_fb import cartesian_product, datasets, operator
    >>> torus = cartesian_product(datasets.ring(30), datasets.ring(30))
    >>> modes = spectrum(operator(torus, "comb", channel="high"), k=5)
    >>> modes.frequencies.round(4), modes.proof
    (array([0.    , 0.0437, 0.0437, 0.0437, 0.0437]), 'inertia')
    """
    if check_operator(op).graph.storage.kind != "memory":
        return elsewhere(spectrum, op, k, which, tol=tol, certify=certify, max_bytes=max_bytes)
    check_modes(op, k, which)
    n_nodes = op.graph.n_nodes
    # Where the products that k pairs need at the least take longer than all pairs by LAPACK.
    slow = k is not None and n_nodes <= DENSE_FALLBACK and PRODUCTS * k > dense_products(op.graph)
    if k is None or n_nodes <= DENSE_NODES or 3 * k > n_nodes or slow:
        _guard_dense(op, max_bytes)
        pairs = dense_pairs(op.symmetrized)
        pairs = pairs if k is None else pairs.end(k, (which == "low") == (op.channel == "high"))
    else:
        # The vectors as they are found, and in the order and sign in which they are returned.
        need = 2 * mode_bytes(op.graph) * n_nodes * k
        if need > max_bytes:
            raise too_large(f"{k} modes of {n_nodes} nodes", need, max_bytes)
        pairs = iterative_pairs(op, k, which, tol=tol, certify=certify, max_bytes=max_bytes)
    values = namespace(pairs.values).clip(pairs.values, *op.bounds)
    return Spectrum(op, values, _fix_signs(pairs.vectors), pairs.method, pairs.proof, pairs.error)


def check_modes(op: Operator, k: int | None, which: str) -> None:
    """Raise unless ``op`` has real frequencies, and at least ``k`` modes."""
    if op.graph.directed:
        raise GraphError(
            "a directed graph has no graph Fourier transform; give symmetrize= to the graph, or take graph.magnetic()"
        )
    check_choice(which, ENDS, "which")
    if k is not None and check_count(k, "k") > op.graph.n_nodes:
        raise ParameterError(f"k={k} modes asked of a graph with {op.graph.n_nodes} nodes")


def iterative_pairs(op: Operator, k: int, which: str, **options: Any) -> Pairs:
    """Return ``k`` pairs at one end of either channel; ``options`` are those of :func:`partial_pairs`."""
    high = op.symmetrized if op.channel == "high" else op.symmetrized.complement()
    pairs = partial_pairs(high, k, smooth=which == "low", **options)
    if op.channel == "high":
        return pairs
    return replace(pairs, values=1.0 - pairs.values[::-1], vectors=pairs.vectors[:, ::-1])


def _guard_dense(op: Operator, max_bytes: int) -> None:
    n_nodes = op.graph.n_nodes
    need = DENSE_COPIES * mode_bytes(op.graph) * n_nodes**2
    if need > max_bytes:
        raise too_large(f"all {n_nodes} modes", need, max_bytes, "ask for k modes, use polynomial filters")
    if n_nodes > UNINTERRUPTED_NODES and op.graph.device == "cpu":
        warnings.warn(
            f"a dense decomposition of {n_nodes} nodes takes about {10 * (n_nodes / UNINTERRUPTED_NODES) ** 3:.0f} s "
            "on one core and does not react to Ctrl-C; ask for k modes, or use polynomial filters",
            GspWarning,
            stacklevel=3,
        )


def _fix_signs(vectors: FloatArray) -> FloatArray:
    """Return the vectors with the first of their largest entries positive: the same sign (or phase) on every run."""
    if 0 in vectors.shape:
        return vectors
    xp = namespace(vectors)
    size = xp.abs(vectors)
    large = xp.astype(size >= xp.max(size, axis=0) * (1 - 1e-6), xp.int8)
    lead = xp.take_along_axis(vectors, xp.argmax(large, axis=0)[None, :], axis=0)
    signs = conj(lead) / xp.abs(lead) if is_complex(lead) else 1.0 - 2.0 * cast(lead < 0, vectors.dtype)
    signed: FloatArray = vectors * signs
    return signed
