"""Why a mutant may live: the changes that make no difference, by what they look like."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["MISSING", "reason"]

MISSING = "a test is missing"
# The first pattern that is found in the change gives the reason.
REASONS: dict[str, str] = {}


def reason(survivor: dict[str, Any]) -> str:
    """Return why a survivor is none to worry about, or that a test is missing."""
    change = "\n".join([survivor["name"], *survivor["change"]])
    return next((text for pattern, text in REASONS.items() if re.search(pattern, change, re.MULTILINE)), MISSING)
