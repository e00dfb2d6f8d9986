"""Imported first: without hypothesis the import fails with the pip line."""

from .._extras import require

__all__ = ["hypothesis"]

hypothesis = require("hypothesis", "gsp_fb.testing")
