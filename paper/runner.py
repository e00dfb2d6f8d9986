"""Running cells: each once, shared with other processes, stopped at any moment and taken up again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gsp_fb.errors import DownloadError, GspError

from .cells import Cell
from .journal import OutOfTimeError
from .measures import measure
from .store import Facts, Store
from .training import one_thread

__all__ = ["Outcome", "reproduce"]


@dataclass(frozen=True)
class Outcome:
    """What became of a cell: ``done``, ``busy`` (another process has it), ``unavailable``, ``failed`` or ``paused``.

    Examples
    --------
    >>> from paper import select
    >>> outcome = Outcome(select(["table9"])[0], "busy")
    >>> outcome.cell.path, outcome.state
    ('table9/paper/cornell--MLP.json', 'busy')
    """

    cell: Cell
    state: str
    facts: Facts | None = None
    reason: str = ""


def reproduce(
    cells: Sequence[Cell],
    store: Store,
    *,
    seconds: float | None = None,
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Measure the cells that are not stored, or are stored by other code, and return what became of each.

    A stored cell of the present code is not touched. A cell that another process works on is left to it. One whose
    data cannot be had, or whose training fails, is reported and the rest goes on.

    Parameters
    ----------
    cells : sequence of Cell
    store : Store
    seconds : float, optional
        Begin no further step after so long; what is finished is kept and the next run goes on from there.
    report : callable
        Called with the outcome of every cell.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from paper import select
    >>> cell = select(["table9"], protocols=["paper"], datasets=["texas"], models=["gcn"])[0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     facts = store.write(cell, {"scores": [0.5, 0.7]}, seconds=1.0)
    ...     reproduce([cell], store)
    []
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    outcomes = []
    with one_thread():
        for cell in cells:
            if store.is_current(cell):
                continue
            outcome = _attempt(cell, store, deadline)
            outcomes.append(outcome)
            report(outcome)
            if outcome.state == "paused":
                break
    return outcomes


def _attempt(cell: Cell, store: Store, deadline: float | None) -> Outcome:
    try:
        with store.claimed(cell, deadline=deadline) as journal:
            if journal is None:
                return Outcome(cell, "busy")
            facts = store.write(cell, measure(cell, journal), journal.seconds)
            journal.forget()
            return Outcome(cell, "done", facts)
    except OutOfTimeError:
        return Outcome(cell, "paused")
    except DownloadError as absent:
        return Outcome(cell, "unavailable", reason=str(absent))
    except GspError as failed:
        return Outcome(cell, "failed", reason=str(failed))
