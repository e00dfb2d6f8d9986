"""Idle threads of the engine: used again by the next call, on another CPU than the caller's.

Linux often runs a thread that was just started or woken on the CPU of the thread that woke it, and moves it only after
some milliseconds, even where another CPU is idle. A product of one signal has ended by then.
"""

from __future__ import annotations

import _thread
import ctypes
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

__all__ = ["submit"]

# Threads beyond this number end with their job.
MAX_IDLE = 64

_IDLE: deque[Any] = deque()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDLE.clear)  # a child process has no other threads


def submit(job: Callable[[], None]) -> None:
    """Call ``job``, which raises nothing, in an idle thread or a new one."""
    try:
        worker = _IDLE.pop()
    except IndexError:
        worker = _Worker()
    worker.run(job)


class _Worker:
    """A thread that waits for a job; it holds no job and no array while it is idle."""

    def __init__(self) -> None:
        self._job: Callable[[], None] | None = None
        self._start = _thread.allocate_lock()
        self._start.acquire()
        self._native_id = 0
        _thread.start_new_thread(self._loop, ())

    def run(self, job: Callable[[], None]) -> None:
        self._job = job
        if self._native_id:
            _move_from_own_cpu(self._native_id)
        self._start.release()

    def _loop(self) -> None:
        self._native_id = _thread.get_native_id()
        while True:
            self._start.acquire()
            job, self._job = self._job, None
            if job is not None:
                job()
            del job
            if len(_IDLE) >= MAX_IDLE:
                return
            _IDLE.append(self)


def _move_from_own_cpu(native_id: int) -> None:
    """Let a thread run on the CPUs of the calling thread but the one that it is on; only Linux can."""
    if not hasattr(os, "sched_setaffinity"):
        return
    current = _current_cpu()
    others = os.sched_getaffinity(0) - {current()} if current else set()
    if others:
        with suppress(OSError):  # not permitted
            os.sched_setaffinity(native_id, others)


@cache
def _current_cpu() -> Any:
    """Return the C library's function that returns the CPU of the calling thread, or None."""
    return getattr(ctypes.PyDLL(None), "sched_getcpu", None)
