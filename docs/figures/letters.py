"""Larger letters for the figures of the gallery: its thumbnails are half as wide as the figures."""

from __future__ import annotations

import matplotlib as mpl

SIZE = 12.5


def enlarge(_settings: object, _script: object) -> None:
    """Set the size of all letters; Sphinx-Gallery calls it before every script, after matplotlib's defaults."""
    mpl.rcParams["font.size"] = SIZE
