"""Imported first: without scikit-learn, nothing else here can be; the message says which extra brings it."""

from .._extras import require

__all__ = ["sklearn"]

sklearn = require("sklearn", "gsp_fb.estimators")
