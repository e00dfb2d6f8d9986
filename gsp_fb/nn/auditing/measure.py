"""The audit itself: bands, layers, responses, dependence and verdict of one model on one graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from ..._arguments import check_count, check_rng
from ..._rundir import progress_bar
from ...backend import IntArray, to_dense
from ...energy import one_hot, s_value_significance
from ...errors import ParameterError
from ...operators import Operator, operator
from .bands import Bands, make_bands
from .dependence import largest_class, measure_dependence, predictions, share_correct
from .layers import LayerCall, record_calls
from .oversmoothing import measure_oversmoothing
from .record import Audit
from .response import FrequencyResponse, Target, measure_responses, named_stream
from .statistics import LayerAudit, profile
from .subject import Call, Subject, evaluating, make_subject, to_numpy
from .verdict import AuditEvidence, judge

__all__ = ["audit"]

# Permutations of the labels behind their expected S-value.
SURROGATES = 19
NO_SIGNAL = "no argument of this layer is a tensor with one row a node"


def audit(
    model: nn.Module | str | os.PathLike[str],
    data: Any,
    *,
    call: Call | None = None,
    family: str = "sym",
    bands: int = 8,
    probes: int = 16,
    rng: Any = 0,
    layers: Sequence[str] | None = None,
    nodes: Any = None,
    normalize: bool | None = None,
    progress: bool = False,
) -> Audit:
    r"""Measure what a graph network does to the frequencies of its input.

    The response of a network :math:`f` at its features :math:`X` is that of its derivative :math:`J`: for random
    signals :math:`V` of one band the gain is :math:`\sqrt{E|J V|^2 / E|V|^2}` in the inner product of the family, with
    a standard error over ``probes`` draws. Up to 3000 nodes the bands are sharp (all modes); beyond, they are
    Chebyshev filters whose transitions take 0.3 of a band on either side of an edge, and no mode is computed.

    Parameters
    ----------
    model : Module, or path
        A network of this library, of PyG, or any torch module; or a run directory or ``checkpoint.json`` of
        :func:`gsp_fb.nn.train`. Compiled modules are measured uncompiled. Weights and modes are left as they are.
    data : Dataset, PyG Data, or tuple
        With graph, features and, if known, labels; ``(graph, x)`` and ``(graph, x, y)`` are understood.
    call : callable, optional
        ``call(model, x)`` returns the output for the features ``x``, a dense tensor. By default ``model(x)``, and
        ``model(x, edge_index)`` for models with PyG layers.
    family : str
        Whose frequencies are the axis; the bands divide ``operator(graph, family, channel="high").bounds`` equally.
    bands : int
        At least 2. The low half has the first half of them.
    probes : int
        Random signals a band, at least 2; standard errors fall with the square root.
    rng : None, int or numpy Generator
    layers : sequence of str, optional
        Names of modules to look at; by default message-passing and filterbank layers.
    nodes : int or bool array, optional
        Where the accuracy is taken (for example a test set); by default all labelled nodes.
    normalize : bool, optional
        Divide the rows of the features by their sums; by default what the trainer does for models of this library, and
        False for all others.
    progress : bool
        Show a bar.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError
        The model cannot be called on the data, returns no numbers, or is random in evaluation mode.
    GraphError
        The graph is directed.

    See Also
    --------
    watch : The same during training.
    gsp_fb.energy_profile : Where the energy of one signal lies.

    References
    ----------
    .. [1] M. Balcilar et al., "Analyzing the Expressive Power of Graph Neural Networks in a Spectral Perspective",
       ICLR 2021.
    .. [2] K. Zhang et al., "Rethinking Oversmoothing in Graph Neural Networks: A Rank-Based Perspective",
       arXiv 2502.04591, 2025.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import build
    >>> data = contextual_sbm(100, rng=0)
    >>> found = audit(build("gcn", data), data, bands=4, probes=4)
    >>> bool(found.response.high < found.response.low)
    True
    """
    probes = check_count(probes, "probes", minimum=2)
    subject = make_subject(model, data, call, normalize)
    op = operator(subject.graph, family, channel="high")
    streams = iter(check_rng(rng).spawn(4))
    with evaluating(subject.model):
        calls = record_calls(subject, layers)
        targets = [Target("network", subject, subject.x)]
        targets += [Target(f"layer {c.name}", c.function, c.input) for c in calls if c.input is not None]
        total = (probes + 1) * len(targets)
        with progress_bar(total, shown=progress, desc="audit", leave=False) as bar:
            tick = bar.update if progress else lambda: None
            axis = make_bands(op, bands)
            response, *inner = measure_responses(targets, axis, probes=probes, rng=next(streams), tick=tick)
            rows = _layer_rows(calls, inner, axis, next(streams))
            chosen = _scored_nodes(subject, nodes)
            dependence = measure_dependence(subject, calls, axis, nodes=chosen, rng=next(streams), tick=tick)
        with torch.no_grad():
            output = subject.output(subject.x)
            matrix = to_numpy(subject(subject.x))
    x = to_numpy(subject.x)
    energies = profile(op, x, axis.edges, next(streams))
    before = LayerAudit.of("input", x, op, profile=energies)
    smoothing = measure_oversmoothing(axis, x, before, rows, matrix)
    classes = predictions(output, subject.graph.n_nodes)
    evidence = AuditEvidence(response, dependence, smoothing, *_label_smoothness(op, subject.y), largest_class(classes))
    verdict, suggestions = judge(evidence)
    return Audit(
        model=subject.name,
        family=family,
        n_nodes=subject.graph.n_nodes,
        response=response,
        input=before,
        layers=rows,
        dependence=dependence,
        oversmoothing=smoothing,
        verdict=verdict,
        suggestions=suggestions,
        accuracy=share_correct(classes, subject.y, chosen),
    )


def _layer_rows(
    calls: list[LayerCall], responses: list[FrequencyResponse], bands: Bands, rng: np.random.Generator
) -> tuple[LayerAudit, ...]:
    """Return one row a call; ``responses`` are those of the calls with a node signal as input."""
    measured, rows, seed = iter(responses), [], int(rng.integers(2**63))
    for call in calls:
        h = to_numpy(call.output)
        energies = profile(bands.op, h, bands.edges, named_stream(seed, call.name))
        whose = {"note": NO_SIGNAL} if call.input is None else {"response": next(measured)}
        rows.append(LayerAudit.of(call.name, h, bands.op, profile=energies, **whose))
    return tuple(rows)


def _scored_nodes(subject: Subject, nodes: Any) -> IntArray:
    """Return the nodes whose accuracy is reported: labelled ones, of ``nodes`` if given."""
    n_nodes = subject.graph.n_nodes
    known = np.zeros(n_nodes, dtype=bool) if subject.y is None else subject.y >= 0
    if nodes is None:
        return np.flatnonzero(known)
    asked = np.asarray(nodes)
    if asked.dtype == bool and asked.shape == (n_nodes,):
        asked = np.flatnonzero(asked)
    if asked.dtype.kind not in "iu" or asked.ndim != 1 or np.any((asked < 0) | (asked >= n_nodes)):
        raise ParameterError(f"nodes must be a mask or node numbers below {n_nodes}, not {nodes!r}")
    chosen: IntArray = asked[known[asked]]
    return chosen


def _label_smoothness(op: Operator, y: IntArray | None) -> tuple[float, float]:
    """Return the centred S-value of the labels and its mean over random permutations; nan without two classes."""
    if y is None or len(np.unique(y[y >= 0])) < 2:
        return float("nan"), float("nan")
    classes = np.asarray(to_dense(one_hot(y)), dtype=np.float64)
    centred = np.where((y >= 0)[:, None], classes - classes[y >= 0].mean(axis=0), 0.0)
    found = s_value_significance(op, centred, n_surrogates=SURROGATES, rng=0)
    return found.s_value, float(np.mean(found.surrogates))
