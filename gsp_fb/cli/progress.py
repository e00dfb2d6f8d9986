"""A progress bar on stderr for a person at a terminal; nothing for a pipe or where tqdm is absent."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

from .._extras import has, require

__all__ = ["progress"]

Item = TypeVar("Item")


def progress(items: Iterable[Item], title: str, *, total: int | None = None) -> Iterable[Item]:
    """Return ``items``, shown as a bar while they are consumed."""
    if not (sys.stderr.isatty() and has("tqdm")):
        return items
    bar: Iterable[Item] = require("tqdm", "a progress bar").tqdm(
        items, desc=title, total=total, file=sys.stderr, leave=False
    )
    return bar
