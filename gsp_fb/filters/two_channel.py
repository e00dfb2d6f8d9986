"""The paper's two-channel bank: low and ``I - low``, whose outputs always add up to the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._arguments import check_count
from .._document import facts_html
from ..backend import Signal, diagonal_times, is_sparse, product, to_dense
from ..errors import ParameterError, SignalError
from ..graph import Graph
from ..operators import Operator, operator
from .sampled import Sampling, check_sampled, sampling

__all__ = ["TwoChannelBank", "two_channel"]

# Entries of a signal from which on fill-in matters; smaller ones keep their kind.
FILLED_FROM = 2**24


@dataclass(frozen=True, eq=False)
class TwoChannelBank:
    """A low channel, the high channel that completes it to the identity, and cascades of both.

    Made by :func:`two_channel` or ``FilterBank.two_channel``. Matrix-vector products suffice: a graph may be directed.

    Parameters
    ----------
    low : Operator
        Aggregation.
    levels : int
        How many times the low output is split again.

    See Also
    --------
    two_channel : The function that returns it.
    gsp_fb.FilterBank : Filters given as kernels of frequency.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half", GLFrontiers 2022.

    Examples
    --------
    >>> bank = two_channel(Graph.from_edges([(0, 1), (1, 2)]), "rw", levels=2)
    >>> lowest, coarse, fine = bank.analyze([1.0, 5.0, 3.0])
    >>> fine, bank.synthesize(lowest, coarse, fine)
    (array([-4.,  3., -2.]), array([1., 5., 3.]))
    """

    low: Operator
    levels: int = 1

    def _repr_html_(self) -> str:
        return facts_html("TwoChannelBank", {"low": repr(self.low), "high": repr(self.high), "levels": self.levels})

    @property
    def high(self) -> Operator:
        """Diversification, ``I - low``."""
        return self.low.complement()

    def analyze(self, x: Any) -> tuple[Signal, ...]:
        """Return the bands of ``x``, coarsest first: ``(low, high)``, or ``(low_L, high_L, ..., high_1)``.

        Each level splits the low band of the one before: ``low_l = low @ low_(l-1)``, ``high_l = low_(l-1) - low_l``.

        Parameters
        ----------
        x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
            Bands of a sparse signal are sparse until a level could fill more than half of 2^24 or more entries; from
            there on they are dense, which takes less memory: 8 bytes an entry and band. Give blocks of columns,
            ``bank.analyze(x[:, start:stop])``, where not all bands fit.

        Examples
        --------
        >>> two_channel(Graph.from_edges([(0, 1), (1, 2)]), "rw").analyze([1.0, 5.0, 3.0])
        (array([5., 2., 5.]), array([-4.,  3., -2.]))
        """
        rest = self.low.graph.check_signal(x)
        details = []
        for _ in range(self.levels):
            rest = to_dense(rest) if _fills(rest, self.low) else rest
            smooth = self.low.apply(rest)
            details.append(rest - smooth)
            rest = smooth
        return (rest, *reversed(details))

    def synthesize(self, *bands: Any) -> Signal:
        """Return the signal with these bands: their sum, as the channels of every level sum to the identity.

        Parameters
        ----------
        *bands : array_like or sparse
            As :meth:`analyze` returns them, each changed as you like.

        Examples
        --------
        >>> bank = two_channel(Graph.from_edges([(0, 1), (1, 2)]), "rw")
        >>> low, high = bank.analyze([1.0, 5.0, 3.0])
        >>> bank.synthesize(low, 2 * high)
        array([-3.,  8.,  1.])
        """
        if len(bands) != self.levels + 1:
            raise ParameterError(f"{len(bands)} bands given; {self.levels} levels have {self.levels + 1}")
        total, *rest = (self.low.graph.check_signal(band) for band in bands)
        for band in rest:
            if band.shape != total.shape:
                raise SignalError(f"bands have shapes {total.shape} and {band.shape}; they must be the same")
            total = total + band
        return total

    def aggregate(self, x: Any) -> Signal:
        r"""Return the low channel node by node: :math:`\sum_j w_{ij} x_j`, ``w`` the entries of ``low``.

        Examples
        --------
        >>> two_channel(Graph.from_edges([(0, 1), (1, 2)]), "rw").aggregate([1.0, 5.0, 3.0])
        array([5., 2., 5.])
        """
        x = self.low.graph.check_signal(x)
        return self._neighbours(x) + diagonal_times(self.low.diag, x)

    def diversify(self, x: Any) -> Signal:
        r"""Return the high channel node by node: :math:`\sum_j w_{ij}(x_i - x_j) + (1 - \sum_j w_{ij}) x_i`.

        For random-walk families the row sums are 1 and it is the mean difference to the neighbours alone.

        Examples
        --------
        >>> two_channel(Graph.from_edges([(0, 1), (1, 2)]), "rw").diversify([1.0, 5.0, 3.0])
        array([-4.,  3., -2.])
        """
        x = self.low.graph.check_signal(x)
        weight = self.low.left * product(self.low.graph.adjacency, self.low.right)
        differences = diagonal_times(weight, x) - self._neighbours(x)
        return differences + diagonal_times(1.0 - self.low.diag - weight, x)

    def _neighbours(self, x: Signal) -> Signal:
        return diagonal_times(self.low.left, product(self.low.graph.adjacency, diagonal_times(self.low.right, x)))

    def sampling(self, keep: Any = "max_cut", *, expensive: bool = False) -> Sampling:
        """Return a set of nodes that keep their low value while the others keep their high one.

        The matrix is factorised. On meshes and trees that takes seconds for 1e5 nodes; on a random graph factors fill
        in, with a time that grows with the cube of the nodes: 0.1 s at 1e3 and minutes at 1e4.

        Parameters
        ----------
        keep : 'max_cut' or bool array, shape (n_nodes,)
            True where the low value is kept; by default one side of a large cut: neighbours of low nodes are high.
        expensive : bool
            Factorise also where that may take minutes and gigabytes; refused by default with an estimate.

        Raises
        ------
        ParameterError
            The signal cannot be restored from these values, or the factors are too expensive.

        Examples
        --------
        >>> two_channel(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw").sampling().keep
        array([ True, False,  True])
        """
        return sampling(self.low, keep, expensive=expensive)

    def analyze_sampled(self, x: Any, sampling: Sampling) -> Signal:
        """Return one number per node: its low value if ``sampling`` keeps that, else its high one.

        Examples
        --------
        >>> bank = two_channel(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw")
        >>> bank.analyze_sampled([1.0, 5.0, 3.0], bank.sampling([True, False, True]))
        array([3. , 1.5, 4. ])
        """
        return product(check_sampled(sampling, self.low).matrix, self.low.graph.check_signal(x))

    def synthesize_sampled(self, c: Any, sampling: Sampling) -> Signal:
        """Return the signal with these sampled values, by the sparse factors that ``sampling`` holds.

        Examples
        --------
        >>> bank = two_channel(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw")
        >>> kept = bank.sampling("max_cut")
        >>> bank.synthesize_sampled(bank.analyze_sampled([1.0, 5.0, 3.0], kept), kept).round(6)
        array([1., 5., 3.])
        """
        c = self.low.graph.check_signal(c)
        return check_sampled(sampling, self.low).solve(to_dense(c))


def _fills(x: Signal, low: Operator) -> bool:
    """Return whether the product with a large sparse signal may have more entries than a dense array is worth."""
    if not is_sparse(x):
        return False
    size = x.shape[0] * x.shape[1]
    reached = (low.graph.n_entries / max(low.graph.n_nodes, 1) + 1) * x.data.shape[0]
    return bool(size >= FILLED_FROM and reached > size / 2)


def two_channel(
    graph: Graph, family: str = "lazy_rw", *, gamma: float | None = None, levels: int = 1, isolated: str = "self"
) -> TwoChannelBank:
    """Return the two-channel bank of a family: its affinity matrix as low, its Laplacian as high.

    Parameters
    ----------
    graph, family, gamma
        As in :func:`gsp_fb.operator`; the graph may be directed.
    levels : int
        Depth of the cascade.
    isolated : {'self', 'zero', 'error'}

    Examples
    --------
    >>> two_channel(Graph.from_edges([(0, 1)]), "lazy_rw").analyze([1.0, 3.0])
    (array([2., 2.]), array([-1.,  1.]))
    """
    low = operator(graph, family, "low", gamma, isolated)
    return TwoChannelBank(low, check_count(levels, "levels"))
