"""Smaller graphs that act like the given one: Kron reduction, sparsification, coarsening and pyramids."""

from .coarsen import Coarsened, coarsen
from .kron import kron
from .pyramid import Pyramid
from .sparsify import Sparsified, sparsify

__all__ = ["Coarsened", "Pyramid", "Sparsified", "coarsen", "kron", "sparsify"]
