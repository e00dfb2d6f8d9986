"""The spectral view of a report as a notebook widget, with values that Python can read and set."""

from __future__ import annotations

from functools import cache
from typing import Any
from uuid import uuid4

import numpy as np

from ._arguments import check_choice, check_positive, check_rng
from ._extras import require
from .errors import GraphError
from .filters import FilterBank, Kernel
from .graph import Graph
from .variants import VARIANTS

__all__ = ["explore"]


def explore(
    graph: Graph,
    x: Any = None,
    y: Any = None,
    *,
    family: str = "sym",
    gamma: float = 1.0,
    kernel: str = "pair",
    value: float | None = None,
    rng: Any = 0,
) -> Any:
    """Return a widget that shows a graph, a signal over the frequencies, a response and the filtered signal.

    It is the interactive view of :func:`gsp_fb.report.write_report`, for Jupyter, VS Code and marimo. Its traits
    ``signal``, ``family``, ``gamma``, ``kernel`` and ``value`` follow the controls and may be set; ``response`` is the
    chosen filter as a :class:`gsp_fb.filters.Kernel`, ``filtered`` the output, and ``s_before``, ``s_after`` and
    ``kept`` hold the S-values and the share of the energy that the open view shows.

    Parameters
    ----------
    graph : Graph
        At most 5000 nodes and 160 000 stored entries.
    x : array_like, sparse, or names of columns of ``graph.nodes``, optional
        One signal or several; by default the numeric columns of the node table and the degrees.
    y : array_like or name of a column, optional
        Classes, as numbers or names.
    family : str
        A row of ``gsp_fb.variants.VARIANTS``.
    gamma : float > 0
        Weight of the added self-loops in the families that have them.
    kernel, value : {'pair', 'heat', 'band', 'wavelet'}, and float, optional
        The response to begin with, and its parameter.
    rng : None, int or Generator

    Returns
    -------
    anywidget.AnyWidget
        Displayed as the last value of a cell.

    Raises
    ------
    GraphError
        The graph is directed, empty or too large to be filtered between two frames.
    ImportError
        anywidget is not installed.

    See Also
    --------
    gsp_fb.report.write_report : The same view in a file.
    gsp_fb.FilterBank : Filter signals of any size.

    Examples
    --------
    >>> from gsp_fb.datasets import grid
    >>> view = explore(grid(4, 5), range(20), kernel="heat", value=2.0)
    >>> view.signal, view.family, view.response
    ('feature 0', 'sym', Kernel('heat(2)'))
    >>> view.value = 5.0
    >>> view.filtered.shape
    (20,)
    """
    # The report is loaded when it is needed, as `gsp_fb.report` is.
    from .report.drawing import RESPONSES, make_drawing, payload
    from .report.render import rendered
    from .report.signals import make_signals

    check_choice(family, VARIANTS, "family")
    row = RESPONSES[check_choice(kernel, RESPONSES, "kernel")]
    if graph.directed or graph.n_nodes == 0:
        raise GraphError("explore needs an undirected graph with nodes; give symmetrize= to the graph")
    drawing = make_drawing(graph, make_signals(graph, x, y, {}), check_rng(rng))
    if not drawing.live:
        raise GraphError(
            f"{graph!r} is too large to filter between two frames; take graph.subgraph(nodes) or write a report"
        )
    prefix = f"gsp-fb-{uuid4().hex[:8]}-"
    markup = rendered("view.html.j2", prefix=prefix, live=True, directed=False)
    state = {"signal": next(iter(drawing.signals)), "family": family, "gamma": check_positive(gamma, "gamma")}
    state |= {"kernel": kernel, "value": row.value if value is None else float(value)}
    widget = _widget_class()(data=payload(drawing, family), prefix=prefix, markup=markup, **state)
    widget.graph, widget.signals = graph, dict(drawing.signals)
    return widget


@cache
def _widget_class() -> Any:
    """Return the widget's class; it exists where anywidget is installed."""
    from .report.drawing import RESPONSES, view_end
    from .report.render import static
    from .report.spectral import high_channel

    anywidget, traitlets = require("anywidget", "explore"), require("traitlets", "explore")

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc, name-defined]  # a base that is imported when needed
        _esm = static("view.js") + static("widget.js")
        _css = static("view.css")
        data = traitlets.Dict().tag(sync=True)
        markup, prefix = (traitlets.Unicode().tag(sync=True) for _ in range(2))
        signal = traitlets.Unicode().tag(sync=True)
        family = traitlets.Enum(tuple(VARIANTS), "sym").tag(sync=True)
        gamma = traitlets.Float(1.0, min=1e-300).tag(sync=True)
        kernel = traitlets.Enum(tuple(RESPONSES), "pair").tag(sync=True)
        value = traitlets.Float(0.0).tag(sync=True)
        s_before, s_after, kept = (traitlets.Float(None, allow_none=True).tag(sync=True) for _ in range(3))

        @property
        def response(self) -> Kernel:
            """The chosen filter."""
            end = view_end(VARIANTS[self.family].norm, self.graph.degrees)
            return RESPONSES[self.kernel].make(self.value, end)

        @property
        def filtered(self) -> Any:
            """The output, computed by the library."""
            x = self.signals[check_choice(self.signal, self.signals, "signal")]
            laplacian = high_channel(self.graph, self.family, self.gamma)
            return np.asarray(FilterBank(laplacian, [self.response]).analyze(x)[:, 0])

    return Explorer
