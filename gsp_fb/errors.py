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
    """Anything gsp_fb refuses or could not do.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> try:
    ...     Graph.from_edges([(0, 1), (1, 0)])
    ... except GspError as error:
    ...     type(error).__name__
    'GraphError'
    """


class GraphError(GspError, ValueError):
    """The given data is not a graph this library accepts.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> Graph.from_edges([(0, 1)], weights=[-1.0])
    Traceback (most recent call last):
    ...
    gsp_fb.errors.GraphError: edge (0, 1) has weight -1.0; weights must be finite and >= 0
    """


class SignalError(GspError, ValueError):
    """The given array is not a signal on the graph at hand.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> operator(Graph.from_edges([(0, 1), (1, 2)]), "sym") @ [1.0, 2.0]
    Traceback (most recent call last):
    ...
    gsp_fb.errors.SignalError: signal has 2 rows but the graph has 3 nodes
    """


class ParameterError(GspError, ValueError):
    """An option has a value outside its choices or range.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> operator(Graph.from_edges([(0, 1)]), "gcn")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: unknown family 'gcn'; choose one of comb, sym, rw, ...
    """


class FormatError(GspError, ValueError):
    """A file is not what its name or header says.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gsp_fb import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "graph.npz").write_bytes(b"no archive")
    ...     read_graph(f"{folder}/graph.npz")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.FormatError: ...graph.npz: not what its name says, ...
    """


class IntegrityError(GspError, OSError):
    """A file's content does not match its recorded sha256.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unittest import mock
    >>> from gsp_fb.datasets import load
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict("os.environ", GSP_FB_DATA_DIR=folder):
    ...     _ = Path(folder, "texas.npz").write_bytes(b"not what was published")
    ...     load("texas")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.IntegrityError: ...texas.npz has sha256 28fe8f..., expected d25913...; remove the file...
    """


class DownloadError(GspError, OSError):
    """A file could not be had from its public address.

    Examples
    --------
    >>> import tempfile
    >>> from unittest import mock
    >>> from gsp_fb.datasets import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     offline = {"GSP_FB_OFFLINE": "1", "GSP_FB_CACHE": folder, "GSP_FB_DATA_DIR": folder}
    ...     with mock.patch.dict("os.environ", offline):
    ...         load("dblp")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.DownloadError: dblp.npz is not at hand and GSP_FB_OFFLINE forbids downloads: ...
    """


class ConvergenceError(GspError, RuntimeError):
    """An iterative solver stopped before it reached its tolerance.

    Attributes
    ----------
    eigenvalues, eigenvectors
        The pairs that did converge, so that nothing computed is lost.

    Examples
    --------
    >>> stopped = ConvergenceError("1 of 2 eigenvalues converged", eigenvalues=[0.5])
    >>> isinstance(stopped, RuntimeError), stopped.eigenvalues
    (True, [0.5])
    """

    def __init__(self, message: str, eigenvalues: object = None, eigenvectors: object = None) -> None:
        super().__init__(message)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


class TrainingError(GspError, RuntimeError):
    """Training cannot go on; the last good state is kept.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> train(build("gcn", data), data, data.splits[0], TrainConfig(lr=1e30))
    Traceback (most recent call last):
    ...
    gsp_fb.errors.TrainingError: loss is nan in epoch 1 ...; try a smaller lr or normalize=True
    """


class GspWarning(UserWarning):
    """The result is right, and something about the input deserves a look.

    Examples
    --------
    >>> import warnings
    >>> from gsp_fb import Graph, operator, s_value
    >>> high = operator(Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", GspWarning)
    ...     s_value(high, [[1.0, 0.0], [1.0, 0.0]], per_column=True)
    Traceback (most recent call last):
    ...
    gsp_fb.errors.GspWarning: signal column 1 is zero everywhere; its S-value is nan
    """
