"""The import of hypothesis, with the pip line if it is missing."""

from __future__ import annotations

from .._extras import require

try:
    from hypothesis import strategies
    from hypothesis.strategies import DrawFn, SearchStrategy
except ModuleNotFoundError:
    require("hypothesis", "gsp_fb.testing")
    raise

__all__ = ["DrawFn", "SearchStrategy", "strategies"]
