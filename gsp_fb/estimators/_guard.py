"""Imported first: without scikit-learn the import fails with the pip line of the extra."""

from .._extras import require

__all__ = ["sklearn"]

sklearn = require("sklearn", "gsp_fb.estimators")
