"""Sampling and recovery of bandlimited signals: which nodes to observe, and the signal from their values."""

from .recovery import Recovery, condition, recover, sampling_set

__all__ = ["Recovery", "condition", "recover", "sampling_set"]
