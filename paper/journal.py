"""A journal of finished steps: a killed run goes on after the last one, and ends with the same result."""

from __future__ import annotations

import json
import shutil
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gsp_fb._journal import Journal as Lines
from gsp_fb.errors import FormatError, GspWarning, ParameterError

__all__ = ["Journal", "OutOfTimeError", "set_aside"]


class OutOfTimeError(Exception):
    """The time the user allowed is over; every finished step is in the journal."""


class Journal:
    """Steps by name with their outcomes, as checksummed lines; the search of the cell lies in a directory beside it.

    Parameters
    ----------
    path : Path
        The directory exists; the file may. One that is damaged or of another cell is set aside with a warning.
    identity : mapping
        The cell's specification.
    deadline : float, optional
        Value of :func:`time.monotonic` after which no step is begun.

    Attributes
    ----------
    search_directory : Path
        Where the search of the cell keeps its trials.
    search_seconds : float
        Processor time of that search.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = Journal(Path(folder, "a.jsonl"), {}).step("square", lambda: 3**2)
    ...     again = Journal(Path(folder, "a.jsonl"), {}).step("square", lambda: 1 / 0)
    >>> first, again
    (9, 9)
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], *, deadline: float | None = None) -> None:
        self.path, self.deadline = path, deadline
        self.search_directory = path.with_suffix(".search")
        self.search_seconds = 0.0
        known = json.loads(json.dumps(identity))
        try:
            self.lines = Lines(path, known, ["step"])
            self.steps = {entry["name"]: entry for entry in self.lines.entries()}
        except (FormatError, ParameterError, KeyError) as damaged:
            warnings.warn(f"{damaged}; set aside, and measured again", GspWarning, stacklevel=2)
            set_aside(path)
            self.lines, self.steps = Lines(path, known, ["step"]), {}

    @property
    def seconds(self) -> float:
        """Processor time of all steps and of the search, those of killed runs included."""
        return self.search_seconds + float(sum(step["seconds"] for step in self.steps.values()))

    def check_time(self) -> None:
        """Raise OutOfTimeError after the deadline."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTimeError

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        """Return the outcome of a step, doing it only if the journal does not have it.

        Raises
        ------
        OutOfTimeError
            The step would have to be done, after the deadline.
        """
        if name not in self.steps:
            self.check_time()
            started = time.process_time()
            # Through JSON at once: a fresh outcome must not differ from one that was read back.
            outcome = json.loads(json.dumps(action(), allow_nan=False))
            entry = {"op": "step", "name": name, "seconds": time.process_time() - started, "outcome": outcome}
            self.lines.append([entry])
            self.steps[name] = entry
        return self.steps[name]["outcome"]

    def forget(self) -> None:
        """Remove the files: the result is stored, and one that is asked for again is to be measured again."""
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.search_directory, ignore_errors=True)


def set_aside(path: Path) -> Path:
    """Rename a damaged file or directory out of the way and return its new name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(aside)
    return aside
