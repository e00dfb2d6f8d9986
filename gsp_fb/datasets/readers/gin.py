"""Text format of GIN and DGCNN: graphs as blocks of ``tag degree neighbours...`` lines, and fold lists."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np

from ...errors import FormatError
from .arrays import CollectionArrays

__all__ = ["parse_gin"]


class _Growing:
    """Flat arrays that grow line by line; machine integers, because a collection may list 25 million neighbours."""

    def __init__(self) -> None:
        self.sizes, self.labels, self.tags, self.degrees, self.ends = (array("q") for _ in range(5))

    def add_graph(self, header: list[str], lines: Iterator[str]) -> None:
        n_nodes, label = (int(word) for word in header)
        first = len(self.tags)
        for _ in range(n_nodes):
            self._add_node(next(lines).split(), first, n_nodes)
        self.sizes.append(n_nodes)
        self.labels.append(label)

    def _add_node(self, words: list[str], first: int, n_nodes: int) -> None:
        degree = int(words[1])
        ends = [int(word) for word in words[2 : 2 + degree]]
        if len(ends) != degree or (ends and not 0 <= min(ends) <= max(ends) < n_nodes):
            raise FormatError(
                f"node {len(self.tags) - first} of graph {len(self.sizes)}: neighbours {ends[:5]}... do not fit "
                f"degree {degree} in a graph of {n_nodes} nodes"
            )
        self.tags.append(int(words[0]))
        self.degrees.append(degree)
        self.ends.extend(end + first for end in ends)


def parse_gin(lines: Iterable[str], folds: Iterable[Iterable[str]]) -> CollectionArrays:
    """Return the graphs in the ``lines`` of a GIN text; node attributes after the neighbours are ignored.

    Parameters
    ----------
    lines : iterable of str
        The number of graphs; then for each graph a line ``n label`` and n lines ``tag degree neighbours...``.
    folds : iterable of iterables of str
        The lines of the ten ``test_idx-*.txt``: numbers of the graphs in that test fold.
    """
    rest, grown = iter(lines), _Growing()
    try:
        n_graphs = int(next(rest))
        for _ in range(n_graphs):
            grown.add_graph(next(rest).split(), rest)
    except StopIteration:
        raise FormatError(f"the file ends inside graph {len(grown.sizes)}") from None
    sizes, labels, tags, degrees, ends = (
        np.array(part, dtype=np.int64) for part in (grown.sizes, grown.labels, grown.tags, grown.degrees, grown.ends)
    )
    edges = np.stack([np.repeat(np.arange(len(tags)), degrees), ends])
    return CollectionArrays(np.concatenate([[0], np.cumsum(sizes)]), edges, tags, labels, _fold_of(folds, n_graphs))


def _fold_of(folds: Iterable[Iterable[str]], n_graphs: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    fold = np.full(n_graphs, -1, dtype=np.int64)
    for k, lines in enumerate(folds):
        members = np.array([line for line in map(str.strip, lines) if line], dtype=np.int64)
        if members.size and not 0 <= members.min() <= members.max() < n_graphs:
            raise FormatError(f"fold {k} lists graph {members.max()} of {n_graphs}")
        fold[members] = k
    return fold
