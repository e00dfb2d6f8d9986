"""Every exception and warning the library raises; each message names the value and the remedy."""

from __future__ import annotations

__all__ = [
    "ConvergenceError",
    "DownloadError",
    "FormatError",
    "GraphError",
    "GspError",
    "GspWarning",
    "IntegrityError",
    "ParameterError",
    "SignalError",
    "TrainingError",
]


class GspError(Exception):
    """Anything gsp_fb refuses or could not do."""


class GraphError(GspError, ValueError):
    """The given data is not a graph this library accepts."""


class SignalError(GspError, ValueError):
    """The given array is not a signal on the graph at hand."""


class ParameterError(GspError, ValueError):
    """An option has a value outside its choices or range."""


class FormatError(GspError, ValueError):
    """A file is not what its name or header says."""


class IntegrityError(GspError, OSError):
    """A file's content does not match its recorded sha256."""


class DownloadError(GspError, OSError):
    """A file could not be had from its public address."""


class ConvergenceError(GspError, RuntimeError):
    """An iterative solver stopped before it reached its tolerance.

    Attributes
    ----------
    eigenvalues, eigenvectors
        The pairs that did converge, so that nothing computed is lost.
    """

    def __init__(self, message: str, eigenvalues: object = None, eigenvectors: object = None) -> None:
        super().__init__(message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


class TrainingError(GspError, RuntimeError):
    """Training cannot go on; the last good state is kept."""


class GspWarning(UserWarning):
    """The result is right, and something about the input deserves a look."""
