"""Faults on purpose: kill -9, Ctrl-C, a full disk, eight processes at once; not part of the installed package."""
