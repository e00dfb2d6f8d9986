"""Imported first: without torch, nothing else here can be; the message states which extra brings it."""

from .._extras import require

__all__ = ["torch"]

torch = require("torch", "gsp_fb.nn")
