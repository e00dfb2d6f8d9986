"""Smaller graphs that keep the spectral properties of a large one."""

from .kron import kron

__all__ = ["kron"]
