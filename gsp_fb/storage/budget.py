"""What a memory limit allows: how many bytes an amount is, how long a chunk and how wide a block of columns may be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._arguments import check_count
from ..errors import ParameterError

__all__ = ["DEFAULT_LIMIT", "Budget", "parse_bytes"]

DEFAULT_LIMIT = 2 * 10**9
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]I?)?B?", re.IGNORECASE)
WORD = 8
# Vectors over the nodes that live at once while an operator is made: row pointers, degrees, and what the formula
# of the families needs on its way to three vectors and a scale.
VECTORS = 12
# A chunk's share of the limit. Beyond the most, a longer chunk reads no faster.
CHUNK_SHARE, CHUNK_MOST = 8, 2**26


def parse_bytes(amount: int | str) -> int:
    """Return an amount of memory in bytes: a number, or text such as ``'4GB'``, ``'500 MB'`` or ``'2GiB'``.

    Parameters
    ----------
    amount : int or str
        Units are decimal (KB, MB, GB) or binary (KiB, MiB, GiB), in any case.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ParameterError
        The text has no such form, or the amount is below one byte.

    See Also
    --------
    gsp_fb.open_graph : Takes such an amount as its memory limit.
    build_folder : Takes such an amount for sorting.

    Examples
    --------
    >>> parse_bytes("4GB"), parse_bytes("1.5KiB"), parse_bytes(1000)
    (4000000000, 1536, 1000)
    """
    if not isinstance(amount, str):
        return check_count(amount, "amount of memory")
    found = _AMOUNT.fullmatch(amount.strip())
    n_bytes = int(float(found[1]) * UNITS[(found[2] or "").upper()]) if found else 0
    if n_bytes < 1:
        raise ParameterError(f"amount of memory {amount!r} is not understood; write bytes or '500MB', '4GB', '2GiB'")
    return n_bytes


@dataclass(frozen=True)
class Budget:
    """How ``limit`` bytes are shared between the vectors of ``n_nodes`` nodes, one chunk, and blocks of columns."""

    limit: int
    n_nodes: int

    @property
    def vectors(self) -> int:
        """Bytes kept for vectors over the nodes."""
        return VECTORS * WORD * self.n_nodes

    @property
    def chunk(self) -> int:
        """Bytes of the edges in memory at a time; a single row that is longer still comes whole."""
        return min(self.limit // CHUNK_SHARE, CHUNK_MOST)

    def columns(self, copies: int, itemsize: int = WORD, *, reserved: int = 0) -> int:
        """Return how many columns may be in memory at once where a computation holds ``copies`` of each.

        ``reserved`` bytes are taken by a result that stays in memory. Where not a single column fits, ParameterError
        states which limit would do.
        """
        one = max(1, copies * max(itemsize, WORD) * self.n_nodes)
        count = (self.limit - self.vectors - self.chunk - reserved) // one
        if count < 1:
            least = (self.vectors + one + reserved) * CHUNK_SHARE // (CHUNK_SHARE - 1) + 1
            file = " or write the result to a file with out=" if reserved else ""
            raise ParameterError(
                f"memory={self.limit} bytes cannot hold one column of {self.n_nodes} nodes with the vectors of "
                f"an operator; give at least {least}{file}"
            )
        return count
