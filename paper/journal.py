"""A journal of finished steps: a killed run goes on after the last one, and ends with the same result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gsp_fb._atomic import write_json

__all__ = ["Journal", "OutOfTimeError"]


class OutOfTimeError(Exception):
    """The time the user allowed is over; every finished step is in the journal."""


class Journal:
    """Steps by name with their outcomes, in one JSON file that is replaced whole after every step.

    Parameters
    ----------
    path : Path
        The directory exists; the file may.
    deadline : float, optional
        Value of :func:`time.monotonic` after which no step is begun.

    Attributes
    ----------
    seconds : float
        Processor time of all steps, those of killed runs included.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = Journal(Path(folder, "a.json")).step("square", lambda: 3**2)
    ...     again = Journal(Path(folder, "a.json")).step("square", lambda: 1 / 0)
    >>> first, again
    (9, 9)
    """

    def __init__(self, path: Path, *, deadline: float | None = None) -> None:
        self.path, self.deadline = path, deadline
        self.steps: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    @property
    def seconds(self) -> float:
        """Processor time of all steps, those of killed runs included."""
        return float(sum(step["seconds"] for step in self.steps.values()))

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        """Return the outcome of a step, doing it only if the journal does not have it.

        Raises
        ------
        OutOfTimeError
            The step would have to be done, after the deadline.
        """
        if name not in self.steps:
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise OutOfTimeError
            started = time.process_time()
            # Through JSON at once: a fresh outcome must not differ from one that was read back.
            outcome = json.loads(json.dumps(action(), allow_nan=False))
            self.steps[name] = {"seconds": time.process_time() - started, "outcome": outcome}
            write_json(self.path, self.steps)
        return self.steps[name]["outcome"]

    def forget(self) -> None:
        """Remove the file: the result is stored, and one that is asked for again is to be measured again."""
        self.path.unlink(missing_ok=True)
