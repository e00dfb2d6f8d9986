"""Where results live: one JSON file a cell, written once and whole; locks and journals in the cache beside the data."""

from __future__ import annotations

import contextlib
import json
import math
import platform
import subprocess
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb._atomic import atomic_write, write_json
from gsp_fb._extras import require
from gsp_fb._version import __version__
from gsp_fb.datasets import cache_dir
from gsp_fb.errors import GspWarning, ParameterError

from .cells import Cell, select
from .costs import expected_seconds
from .fingerprint import fingerprint
from .journal import Journal, set_aside
from .numerics import rehearsed, stands
from .protocols import Rung

__all__ = ["Store", "environment", "head_commit"]

Facts = Mapping[str, Any]
_LIBRARIES = ("numpy", "scipy", "torch", "optuna", "scikit-learn")


class Store:
    """The stored results of one directory.

    Parameters
    ----------
    directory : Path
        Made when the first cell is written.
    quick : bool
        Whether it holds rehearsals.

    Raises
    ------
    ParameterError
        The directory holds the other kind: rehearsals and results never mix.

    Examples
    --------
    >>> import tempfile
    >>> from paper import select
    >>> cell = select(["table9"], protocols=["paper"], datasets=["texas"], models=["gcn"])[0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     facts = store.write(cell, {"scores": [0.5, 0.7]}, seconds=1.0)
    ...     store.has(cell), store.read(cell)["scores"]
    (True, [0.5, 0.7])
    """

    def __init__(self, directory: Path, *, quick: bool = False) -> None:
        self.directory, self.quick = directory, quick
        first = next(filter(None, map(_quick_of, directory.glob("*/*/*.json"))), None)
        if first is not None and first["quick"] != quick:
            found, other = ("results", "without") if quick else ("rehearsals", "with")
            raise ParameterError(f"{directory} holds {found}; give another --results, or go on {other} --quick")

    def read(self, cell: Cell) -> Facts | None:
        """Return the facts of a cell; None if it is not there.

        Warns
        -----
        GspWarning
            The file is damaged, or of another cell: it is set aside, and the cell counts as not measured.
        """
        path = self.directory / cell.path
        if not path.exists():
            return None
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            _check(facts, cell)
        except (ValueError, TypeError, KeyError, AttributeError) as damaged:
            aside = set_aside(path)
            reason = f"{type(damaged).__name__}: {damaged}"
            warnings.warn(f"{path} is no result of its cell ({reason}); kept as {aside.name}", GspWarning, stacklevel=2)
            return None
        found: Facts = facts
        return found

    def has(self, cell: Cell) -> bool:
        """Return whether a cell is stored, whole."""
        return self.read(cell) is not None

    def is_stale(self, cell: Cell) -> bool:
        """Return whether a stored cell was measured by code that computes other numbers than the present one."""
        facts = self.read(cell)
        return facts is not None and not stands(cell, facts)

    def is_current(self, cell: Cell) -> bool:
        """Return whether a cell is stored and not stale."""
        return self.has(cell) and not self.is_stale(cell)

    def write(self, cell: Cell, measured: Facts, seconds: float) -> Facts:
        """Store what was measured, with everything needed to measure it again; return the facts stored."""
        facts = {
            "experiment": cell.experiment,
            "dataset": cell.dataset,
            "model": cell.row.label,
            "network": cell.row.model,
            "metric": cell.metric,
            "protocol": {"name": cell.protocol, "quick": cell.quick, **cell.plan.as_dict()},
            **measured,
            "command": cell.command,
            "digest": cell.digest,
            "fingerprint": fingerprint(cell.code),
            "rehearsal": rehearsed(cell),
            "commit": head_commit(),
            **environment(),
            "seconds": round(seconds, 2),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        path = self.directory / cell.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if "arrays" in facts:  # before the JSON, whose presence states that the cell is whole
            arrays: dict[str, Any] = {name: np.asarray(array) for name, array in facts["arrays"].items()}
            with atomic_write(path.with_suffix(".npz")) as file:
                np.savez_compressed(file, **arrays)
            facts["arrays"] = sorted(arrays)
        write_json(path, facts)
        return facts

    def arrays(self, cell: Cell) -> dict[str, Any]:
        """Return the arrays of a stored figure, by name."""
        with np.load((self.directory / cell.path).with_suffix(".npz"), allow_pickle=False) as stored:
            return dict(stored)

    @contextlib.contextmanager
    def claimed(self, cell: Cell, *, deadline: float | None = None) -> Iterator[Journal | None]:
        """Give the journal of a cell while no other process works on it; None if one does, or has finished it.

        The operating system lets go of a dead process's lock by itself.
        """
        filelock = require("filelock", "sharing work between processes")
        folder = cache_dir() / "reproduce"
        folder.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(folder / f"{cell.digest}.lock")
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            yield None
            return
        try:
            yield None if self.is_current(cell) else _journal(cell, folder, deadline)
        finally:
            lock.release()

    def seconds(self, cells: Iterable[Cell]) -> dict[str, float]:
        """Return the time that each stored cell took, by path."""
        stored = {cell.path: self.read(cell) for cell in cells}
        return {path: float(facts["seconds"]) for path, facts in stored.items() if facts is not None}

    def estimates(self, cells: Iterable[Cell]) -> dict[str, float | None]:
        """Return the expected processor seconds of each missing or stale cell, by path; None without an estimate."""
        everything = (cell for cell in select(quick=self.quick) if cell.row.model)
        measured = [(cell, _scaled_seconds(cell, facts)) for cell in everything if (facts := self.read(cell))]
        return expected_seconds(measured, [cell for cell in cells if not self.is_current(cell)])


def _scaled_seconds(cell: Cell, facts: Facts) -> float:
    """Return what a stored cell would take under the present plan: its time by the number of trainings."""
    spent = facts["protocol"]
    rungs = tuple(Rung(**rung) for rung in spent["rungs"])
    return (
        float(facts["seconds"])
        * cell.plan.trainings
        / replace(cell.plan, splits=spent["splits"], rungs=rungs).trainings
    )


def _quick_of(path: Path) -> dict[str, Any] | None:
    """Return the protocol of a stored cell; None where the file is damaged, which :meth:`Store.read` reports."""
    try:
        protocol = json.loads(path.read_text(encoding="utf-8"))["protocol"]
    except (ValueError, KeyError, TypeError):
        return None
    return protocol if isinstance(protocol, dict) and "quick" in protocol else None


def _journal(cell: Cell, folder: Path, deadline: float | None) -> Journal:
    # Steps of other code are never mixed with those of the present one.
    return Journal(folder / f"{cell.digest}-{fingerprint(cell.code)}.jsonl", cell.spec, deadline=deadline)


def _check(facts: Any, cell: Cell) -> None:
    """Raise ValueError where stored facts are not those of the cell, or a score is no share."""
    wanted = {"experiment": cell.experiment, "dataset": cell.dataset, "model": cell.row.label}
    wrong = [f"{name} is {facts.get(name)!r}, not {value!r}" for name, value in wanted.items() if facts[name] != value]
    if facts["protocol"]["name"] != cell.protocol:
        wrong.append(f"protocol is {facts['protocol']['name']!r}, not {cell.protocol!r}")
    for name in ("test", "val", "validation"):
        scores = facts.get(name, [])
        wrong += [f"{name} score {score!r} is not in [0, 1]" for score in scores if not 0.0 <= float(score) <= 1.0]
    if not math.isfinite(float(facts["seconds"])):
        wrong.append(f"seconds are {facts['seconds']}")
    if wrong:
        raise ValueError("; ".join(wrong))


def environment() -> dict[str, Any]:
    """Return what a figure depends on beside the code: processor, number of threads and versions of libraries.

    Examples
    --------
    >>> sorted(environment())
    ['processor', 'threads', 'versions']
    """
    torch = require("torch", "reproducing the paper")
    return {"processor": _processor(), "threads": torch.get_num_threads(), "versions": library_versions()}


@cache
def head_commit() -> str | None:
    """Return the commit of the working tree, "-dirty" where its code has changes; None outside of a repository.

    Results do not count: a run that writes cells would mark all later ones by its own files.
    """
    try:
        commit = _git("rev-parse", "HEAD").stdout.strip()
        changed = _git(
            "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)paper/results"
        ).stdout
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        return None
    return commit + ("-dirty" if changed else "")


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    line = ["git", "-C", str(Path(__file__).parent), *words]
    return subprocess.run(line, capture_output=True, text=True, check=True)  # noqa: S603  # fixed commands


@cache
def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def library_versions() -> dict[str, str]:
    """Return the versions of this library, of Python and of the libraries that a figure depends on."""
    found = {"gsp_fb": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
