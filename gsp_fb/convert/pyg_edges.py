"""Operators over the edge lists of PyTorch Geometric, and transforms of its data; importing this needs it.

PyG's conventions: messages go from ``edge_index[0]`` to ``edge_index[1]``, an edge that is listed again counts again,
and an undirected edge is listed in both directions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._arguments import check_choice, check_count
from .._extras import require
from ..errors import GraphError, ParameterError
from ..operators import operator
from ..positional import laplacian_pe
from ..variants import ISOLATED, Variant, check_family, check_gamma
from ._torch import from_pyg

__all__ = ["AddFilterBank", "AddLaplacianPE", "Family", "edge_list", "edge_operator"]

BaseTransform = require("torch_geometric.transforms", "gsp_fb.nn.pyg").BaseTransform
utils = require("torch_geometric.utils", "gsp_fb.nn.pyg")

Channel = Callable[[Tensor], Tensor]

# Weighted degrees and gamma -> degrees with the added loops, and those loops.
LOOPS: dict[str, Callable[[Tensor, float], tuple[Tensor, Tensor]]] = {
    "none": lambda d, gamma: (d, torch.zeros_like(d)),
    "unit": lambda d, gamma: (d + gamma, torch.full_like(d, gamma)),
    "degree": lambda d, gamma: ((1.0 + gamma) * d, gamma * d),
}


class Family(NamedTuple):
    """A checked choice of operator: a row of the table of variants with its parameters."""

    name: str
    variant: Variant
    gamma: float
    isolated: str

    @classmethod
    def of(cls, name: str, gamma: float | None, isolated: str) -> Family:
        """Return the checked choice."""
        check_choice(isolated, ISOLATED, "isolated policy")
        return cls(name, check_family(name), check_gamma(name, gamma), isolated)


def edge_operator(family: Family, degrees: Tensor, aggregate: Channel) -> Channel:
    """Return the low channel of a family from the degrees and the sum over weighted neighbours.

    It is ``h -> left * sum_j w_ji (right * h)_j + diag * h``.
    """
    left, right, diag = _vectors(family, degrees)
    return lambda h: left[:, None] * aggregate(right[:, None] * h) + diag[:, None] * h


def _vectors(family: Family, degrees: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    ones = torch.ones_like(degrees)
    if family.variant.norm == "none":
        return ones, ones, 1.0 - degrees
    total, loops = LOOPS[family.variant.loops](degrees, family.gamma)
    empty = total == 0
    if family.isolated == "error" and bool(empty.any()):
        raise GraphError(f"node {int(empty.nonzero()[0])} is isolated; give isolated='self' or 'zero'")
    # Zeros are replaced before they divide: a gradient through the branch that is not taken must be finite too.
    inverse = torch.where(empty, 0.0, 1.0 / torch.where(empty, 1.0, total))
    diag = torch.where(empty, float(family.isolated == "self"), loops * inverse)
    if family.variant.norm == "rw":
        return inverse, ones, diag
    root = torch.where(empty, 0.0, torch.where(empty, 1.0, total).rsqrt())
    return root, root, diag


def edge_list(edge_index: Any, edge_weight: Tensor | None, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return edges and weights, from an ``edge_index`` or from a transposed adjacency ``adj_t``."""
    if utils.is_sparse(edge_index):
        (target, source), edge_weight = utils.to_edge_index(edge_index)
        edge_index = torch.stack([source, target])
    if edge_weight is None:
        edge_weight = torch.ones(edge_index.shape[1], device=like.device)
    return edge_index, edge_weight.reshape(-1).to(like.dtype)


class AddFilterBank(BaseTransform):  # type: ignore[misc, valid-type]  # torch_geometric is optional and has no types
    """Add the two channels of ``data.x``: ``x_low = P x`` and ``x_high = x - P x``.

    Parameters
    ----------
    family : str
        A row of the table of variants.
    gamma : float > 0, optional
        Weight of the added loops.
    isolated : {'self', 'zero', 'error'}
        Treatment of nodes without edges, see :func:`gsp_fb.operator`.
    concat : bool
        Replace ``data.x`` by ``[x_low | x_high]`` instead of adding two attributes.

    See Also
    --------
    gsp_fb.nn.pyg.FilterBankConv : The channels inside a layer, with trained weights.
    gsp_fb.filters.two_channel : The same bank on a :class:`gsp_fb.Graph`.

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> data = Data(x=torch.tensor([[1.0], [3.0]]), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> AddFilterBank("renorm_sym", concat=True)(data).x
    tensor([[ 2., -1.],
            [ 2.,  1.]])
    """

    def __init__(
        self, family: str = "lazy_rw", *, gamma: float | None = None, isolated: str = "self", concat: bool = False
    ) -> None:
        self.family, self.concat = Family.of(family, gamma, isolated), concat

    def forward(self, data: Any) -> Any:
        """Return the data with its filtered features; called by PyG on a copy."""
        x = getattr(data, "x", None)
        if x is None or getattr(data, "edge_index", None) is None:
            raise ParameterError("the filterbank needs data.x and data.edge_index; apply it before ToSparseTensor")
        x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
        (source, target), weights = edge_list(data.edge_index, getattr(data, "edge_weight", None), x)
        summed = partial(utils.scatter, index=target, dim_size=len(x))
        low = edge_operator(self.family, summed(weights.abs()), lambda h: summed(weights[:, None] * h[source]))(x)
        if self.concat:
            data.x = torch.cat([low, x - low], dim=-1)
        else:
            data.x_low, data.x_high = low, x - low
        return data

    def __repr__(self) -> str:
        gamma = f", gamma={self.family.gamma:g}" if self.family.variant.has_gamma else ""
        return f"AddFilterBank({self.family.name}{gamma})"


class AddLaplacianPE(BaseTransform):  # type: ignore[misc, valid-type]  # torch_geometric is optional and has no types
    """Add :func:`gsp_fb.laplacian_pe` as ``data.laplacian_pe``, or to ``data.x``; an arc and its reverse are one edge.

    Parameters
    ----------
    k : int
        Columns, zero where the graph has fewer modes.
    family : str
        A row of the table of variants; ``sym`` is the Laplacian of ``AddLaplacianEigenvectorPE``.
    attr_name : str or None
        Name of the attribute; None appends the columns to ``data.x``.

    See Also
    --------
    gsp_fb.laplacian_pe : Rules for signs, trivial modes and repeated frequencies.

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> data = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> AddLaplacianPE(2)(data).laplacian_pe.shape
    torch.Size([3, 2])
    """

    def __init__(self, k: int, *, family: str = "sym", attr_name: str | None = "laplacian_pe") -> None:
        self.k, self.family, self.attr_name = check_count(k, "k"), family, attr_name

    def forward(self, data: Any) -> Any:
        """Return the data with its encoding; called by PyG on a copy."""
        graph = from_pyg(data, symmetrize="max", signed=True)
        encoding = laplacian_pe(operator(graph, self.family, channel="high"), self.k, warn=False)
        columns = torch.as_tensor(np.array(encoding), dtype=torch.get_default_dtype())
        if self.attr_name is not None:
            data[self.attr_name] = columns
        else:
            data.x = columns if data.x is None else torch.cat([data.x, columns.to(data.x.dtype)], dim=-1)
        return data
