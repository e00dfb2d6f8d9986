"""Exceptions and warnings of the library. Each message names the offending value and the remedy."""

__all__ = ["ConvergenceError", "DownloadError", "FormatError", "GraphError", "GspError", "GspWarning", "IntegrityError"]
__all__ += ["ParameterError", "SignalError", "TrainingError"]


class GspError(Exception):
    """Base class of all exceptions that gsp_fb raises on purpose.

    Each subclass also derives from the matching built-in exception, so ``except ValueError`` works too.

    See Also
    --------
    GspWarning : The base class of the warnings.

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
    """The data do not define a graph under the given options.

    For example a weight is negative or infinite, an edge is listed twice, or a matrix is asymmetric and neither
    ``directed=True`` nor ``symmetrize=`` is given.

    See Also
    --------
    FormatError : The same found in a file.
    gsp_fb.Graph : Its constructors list the options.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> Graph.from_edges([(0, 1)], weights=[-1.0])
    Traceback (most recent call last):
    ...
    gsp_fb.errors.GraphError: edge (0, 1) has weight -1.0; weights must be finite and >= 0; give signed=True to keep ...
    """


class SignalError(GspError, ValueError):
    """The array is not a signal on the graph: wrong length or dtype, values that are not finite, or zero energy.

    See Also
    --------
    GraphError : The graph itself is invalid.

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

    See Also
    --------
    GraphError : The graph is invalid.
    SignalError : The signal is invalid.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> operator(Graph.from_edges([(0, 1)]), "gcn")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: unknown family 'gcn'; choose one of comb, sym, rw, ...
    """


class FormatError(GspError, ValueError):
    """The content of a file does not follow the format of its suffix or header, or defines no valid graph.

    See Also
    --------
    gsp_fb.read_graph : Reads graph files.
    IntegrityError : The content is readable but not the published one.

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
    gsp_fb.errors.FormatError: ...graph.npz: not a readable zip or npz archive: ...
    """


class IntegrityError(GspError, OSError):
    """The content of a file does not match its recorded sha256.

    See Also
    --------
    DownloadError : The file cannot be obtained.
    gsp_fb.datasets.load : Checks every file that it reads.

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
    """A file is not available locally and cannot be downloaded from its public address.

    See Also
    --------
    IntegrityError : The file is available with the wrong content.
    gsp_fb.datasets.load : Documents the directories and environment variables.

    Examples
    --------
    >>> from unittest import mock
    >>> from gsp_fb.datasets import load
    >>> with mock.patch.dict("os.environ", GSP_FB_OFFLINE="1", GSP_FB_CACHE="empty", GSP_FB_DATA_DIR="empty"):
    ...     load("dblp")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.DownloadError: dblp.npz is not in the cache and GSP_FB_OFFLINE forbids downloads: ...
    """


class ConvergenceError(GspError, RuntimeError):
    """An iterative solver stopped before it reached its tolerance.

    Parameters
    ----------
    message : str
        Text of the exception.
    eigenvalues, eigenvectors : array_like, optional
        The eigenpairs that did converge, kept as attributes.

    See Also
    --------
    gsp_fb.spectrum : Eigenvalues of an operator.

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
    """Training cannot continue, for example because the loss is not finite; the last good state is kept.

    See Also
    --------
    gsp_fb.nn.train : The trainer.

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
    """The result is correct, but the input has a property that usually indicates a mistake.

    See Also
    --------
    GspError : The base class of the exceptions.

    Examples
    --------
    >>> import warnings
    >>> from gsp_fb import Graph, operator, s_value
    >>> high = operator(Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> with warnings.catch_warnings(action="error", category=GspWarning):
    ...     s_value(high, [[1.0, 0.0], [1.0, 0.0]], per_column=True)
    Traceback (most recent call last):
    ...
    gsp_fb.errors.GspWarning: signal column 1 is zero everywhere; its S-value is nan
    """
