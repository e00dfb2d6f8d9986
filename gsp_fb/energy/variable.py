"""Which of many signals vary with the graph: a table of tests, one row a signal, read in blocks of columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_choice
from .._document import Table
from .._extras import require
from ..backend import FloatArray, freeze, is_sparse, to_host
from ..errors import GspWarning, ParameterError, SignalError
from ..graph import Graph
from ..nodes import is_frame
from ..operators import operator
from ._sums import Gram, Weights
from .permutation import permutation_moments
from .significance import normal_p_values, s_value_significance
from .spatial import column_sums, gearys_c, morans_i

__all__ = ["SpatialTests", "spatially_variable"]

COLUMNS = ("statistic", "expected", "p_value", "q_value")
METHODS = ("geary", "moran", "s")
# Stored entries of a block of columns: some hundred megabytes with all temporary arrays.
BLOCK_ENTRIES = 2**24
BLOCK_ROWS = 256
SHOWN_ROWS = 10


@dataclass(frozen=True, eq=False, repr=False)
class SpatialTests(Mapping[str, FloatArray]):
    """A table with one row a signal: read a column by ``tests["q_value"]``.

    Parameters
    ----------
    method : {'geary', 'moran', 's'}
        The statistic.
    names : tuple
        Names of the signals, or their numbers.
    values_by_name : dict from str to array
        The columns ``statistic``, ``expected``, ``p_value`` and ``q_value``.

    See Also
    --------
    spatially_variable : Makes one.

    Examples
    --------
    >>> tests = spatially_variable(Graph.from_edges([(i, i + 1) for i in range(9)]), np.arange(10.0))
    >>> list(tests), tests["p_value"] < 0.01
    (['statistic', 'expected', 'p_value', 'q_value'], array([ True]))
    """

    method: str
    names: tuple[Any, ...]
    values_by_name: dict[str, FloatArray]

    def __getitem__(self, column: str) -> FloatArray:
        return self.values_by_name[check_choice(column, COLUMNS, "column")]

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return COLUMNS

    @property
    def shape(self) -> tuple[int, int]:
        """Number of signals and of columns."""
        return len(self.names), len(COLUMNS)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries, those of the smallest p-values first.

        Examples
        --------
        >>> spatially_variable(Graph.from_edges([(i, i + 1) for i in range(9)]), np.arange(10.0)).rows()[0]["signal"]
        0
        """
        order = np.argsort(self["p_value"], kind="stable").tolist()
        return [{"signal": self.names[i]} | {name: float(self[name][i]) for name in COLUMNS} for i in order]

    def to_pandas(self) -> Any:
        """Return a DataFrame with the names as its index.

        Examples
        --------
        >>> spatially_variable(Graph.from_edges([(i, i + 1) for i in range(9)]), np.arange(10.0)).to_pandas().shape
        (1, 4)
        """
        return require("pandas", "conversion to pandas").DataFrame(dict(self.values_by_name), index=list(self.names))

    def _table(self) -> Table:
        return Table.from_records([{**row, "signal": str(row["signal"])} for row in self.rows()[:SHOWN_ROWS]])

    def __repr__(self) -> str:
        title = f"SpatialTests({self.method}, {len(self.names)} signals)"
        return f"{title}\n{self._table().text(width=80)}" if self.names else title

    def _repr_html_(self) -> str:
        return self._table().html() if self.names else "<p>no signals</p>"


def spatially_variable(g: Any, x: Any = None, *, method: str = "geary") -> SpatialTests:
    """Test each column of ``x`` for similar values at neighbouring nodes.

    Mean and variance over all permutations are exact, the p-values those of the normal distribution with these moments.

    Parameters
    ----------
    g : Graph or Dataset
        Weights are those of the edges without loops; arcs of a directed graph count half in each direction. Of a
        data set the features are tested unless ``x`` is given.
    x : array_like, sparse or DataFrame, shape (n_nodes, n_signals), optional
        Read in blocks of columns; a memory map is not loaded whole, a sparse matrix stays sparse.
    method : {'geary', 'moran', 's'}
        Geary's C, Moran's I, or the S-value of the symmetric normalised Laplacian.

    Returns
    -------
    SpatialTests
        Columns ``statistic``, ``expected`` (under random permutation of the nodes), ``p_value`` (one-sided: as similar
        or more under random permutation) and ``q_value`` (Benjamini and Hochberg). A constant signal has nan.

    Raises
    ------
    ParameterError
        The method is unknown, or there is no signal.
    SignalError
        ``x`` has the wrong length, or is complex or not finite.

    See Also
    --------
    gearys_c, morans_i : The statistics alone.
    s_value_significance : One test, also with drawn permutations.

    References
    ----------
    .. [1] A. D. Cliff, J. K. Ord, "Spatial Processes: Models and Applications", Pion, 1981.
    .. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57, 1995.

    Examples
    --------
    >>> path = Graph.from_edges([(i, i + 1) for i in range(19)])
    >>> x = np.stack([np.arange(20.0), np.tile([0.0, 1.0], 10)], axis=1)
    >>> spatially_variable(path, x, method="moran")["p_value"].round(3)
    array([0., 1.])
    """
    check_choice(method, METHODS, "method")
    graph: Graph = getattr(g, "graph", g)
    names = getattr(g, "feature_names", None) if x is None else None
    x = getattr(g, "x", None) if x is None else x
    if x is None:
        raise ParameterError("no signal to test; give x, one column a signal")
    if is_frame(x):
        names = list(x.columns) if x.ndim == 2 else [x.name]
    columns = _columns(graph.nodes.align(x))
    parts = [_block(graph, block, method) for block in _blocks(columns)]
    statistic, expected, p_value = (np.concatenate([part[k] for part in parts] or [np.empty(0)]) for k in range(3))
    constant = np.flatnonzero(np.isnan(statistic))
    if constant.size:
        warnings.warn(f"{constant.size} signals are constant, the first is {constant[0]}", GspWarning, stacklevel=2)
    found = dict(zip(COLUMNS, (statistic, expected, p_value, _q_values(p_value)), strict=True))
    return SpatialTests(method, tuple(names or range(columns.shape[1])), {name: freeze(v) for name, v in found.items()})


def _columns(x: Any) -> Any:
    columns = x if is_sparse(x) or hasattr(x, "ndim") else np.asarray(x)
    if columns.ndim not in (1, 2):
        raise SignalError(f"signal has shape {tuple(columns.shape)}; it must be (n_nodes,) or (n_nodes, n_signals)")
    return columns.reshape(-1, 1) if columns.ndim == 1 else columns


def _blocks(columns: Any) -> Iterator[Any]:
    """Yield blocks of columns with a bounded number of stored entries."""
    n_columns = columns.shape[1]
    entries = columns.nnz if is_sparse(columns) else columns.shape[0] * n_columns
    step = max(1, n_columns * BLOCK_ENTRIES // max(entries, 1))
    if step >= n_columns:
        yield from [columns] * bool(n_columns)
        return
    sliced = columns if not is_sparse(columns) or columns.format in ("csr", "csc") else columns.tocsr()
    yield from (sliced[:, start : start + step] for start in range(0, n_columns, step))


def _block(graph: Graph, x: Any, method: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return statistics, expectations and p-values of a block of columns."""
    signal = graph.check_signal(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GspWarning)
        if method == "s":
            laplacian = operator(graph, "sym", channel="high")
            test = s_value_significance(laplacian, signal, per_column=True, method="analytic")
            return tuple(np.asarray(to_host(value)) for value in (test.s_value, test.expected, test.p_smooth))  # type: ignore[return-value]  # three of them
        statistic = np.asarray(to_host((gearys_c if method == "geary" else morans_i)(graph, signal)))
    return (statistic, *_null(graph, to_host(signal), statistic, method))


def _null(graph: Graph, x: Any, statistic: FloatArray, method: str) -> tuple[FloatArray, FloatArray]:
    weights, total = _weights(graph, method)
    # Sums over the Gram matrix of each column after subtraction of its mean.
    second, fourth = _sparse_powers(x) if is_sparse(x) else _dense_powers(x)
    signal = Gram(second, fourth, -second, second**2 - fourth, fourth, -fourth)
    mean, variance = permutation_moments(weights, signal, np.zeros_like(second))
    n_nodes, sign = graph.n_nodes, 1.0 if method == "geary" else -1.0
    scale = np.full_like(second, np.nan)
    ratio = (n_nodes - 1 if method == "geary" else n_nodes) / total
    np.divide(ratio, second, out=scale, where=~np.isnan(statistic) & (second > 0))
    expected, std = scale * mean, scale * np.sqrt(variance)
    z = np.divide(statistic - expected, std, out=np.full_like(std, np.nan), where=std > 0)
    return expected, normal_p_values(sign * z, statistic)


def _weights(graph: Graph, method: str) -> tuple[Weights, float]:
    """Return the sums over ``A`` (Moran) or ``D - A`` (Geary) without loops, and the sum of all weights."""
    A = to_host(graph.adjacency)
    A = sparse.csr_array((A + A.T) / 2) if graph.directed else A
    loops = A.diagonal()
    degrees = np.asarray(A.sum(axis=1)).ravel() - loops
    squares = float((A.data**2).sum() - (loops**2).sum())
    diagonal, rows = (degrees, -degrees) if method == "geary" else (np.zeros_like(degrees), degrees)
    return Weights(graph, diagonal, rows, np.ones_like(degrees), squares), float(degrees.sum())


def _dense_powers(x: Any) -> tuple[FloatArray, FloatArray]:
    mean = np.mean(x, axis=0, dtype=np.float64)
    second, fourth = np.zeros_like(mean), np.zeros_like(mean)
    # A few rows at a time stay in the cache.
    for start in range(0, len(x), BLOCK_ROWS):
        squares = np.square(x[start : start + BLOCK_ROWS] - mean)
        second += squares.sum(axis=0)
        fourth += np.einsum("ij,ij->j", squares, squares)
    return second, fourth


def _sparse_powers(x: Any) -> tuple[FloatArray, FloatArray]:
    """Return sums of squares and fourth powers of the deviations; entries that are not stored deviate by the mean."""
    n_nodes, ones = x.shape[0], np.ones(x.shape[0])
    values = x.data.astype(np.float64, copy=False)
    mean = column_sums(x, values, ones) / n_nodes
    absent = n_nodes - np.bincount(x.indices, minlength=x.shape[1])
    squares = np.square(values - mean[x.indices])
    second, fourth = column_sums(x, squares, ones), column_sums(x, squares * squares, ones)
    return second + absent * mean**2, fourth + absent * mean**4


def _q_values(p_values: Sequence[float] | FloatArray) -> FloatArray:
    """Return the q-values of Benjamini and Hochberg; nan where there is no p-value."""
    p = np.asarray(p_values)
    q, known = np.full(len(p), np.nan), np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    raised = p[order] * len(order) / np.arange(1, len(order) + 1)
    q[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return q
