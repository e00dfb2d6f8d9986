"""Audit of a network: its frequency response, its layers as signals, what its predictions depend on, and a verdict."""

from .measure import audit
from .record import Audit
from .watching import History, Snapshot, watch

__all__ = ["Audit", "History", "Snapshot", "audit", "watch"]
