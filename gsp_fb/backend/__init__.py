"""The arrays underneath: which library an array belongs to, and the few operations the array API standard lacks.

The mathematics above this package is written against the Python array API standard, so it follows the arrays it is
given. What the standard lacks (sparse matrices, grouped sums, eigensolvers, transfers) is here and nowhere else, one
function each, sent to the row of :data:`TABLE` that knows the array.
"""

from . import dense, sparse, table
from .dense import *  # noqa: F403  # the three modules list their names
from .sparse import *  # noqa: F403
from .table import *  # noqa: F403

__all__ = dense.__all__ + sparse.__all__ + table.__all__
