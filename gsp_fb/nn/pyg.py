"""The filterbank inside PyTorch Geometric: a convolution to put where ``GCNConv`` is, and transforms.

Import it by name, ``from gsp_fb.nn.pyg import FilterBankConv``; nothing else in gsp_fb loads torch_geometric.
Edges are read as PyG reads them, see ``gsp_fb.convert.pyg_edges``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._extras import require
from ..convert.pyg_edges import AddFilterBank, AddLaplacianPE, Family, edge_list, edge_operator, utils
from .layer import FilterBankLayer
from .propagation.operators import Complement

__all__ = ["AddFilterBank", "AddLaplacianPE", "FilterBankConv"]

MessagePassing = require("torch_geometric.nn", "gsp_fb.nn.pyg").MessagePassing


class FilterBankConv(MessagePassing):  # type: ignore[misc, valid-type]  # torch_geometric is optional and has no types
    r"""Put where ``GCNConv`` is: :math:`a_l P\,\sigma(x W_l) + a_h (I - P)\,\sigma(x W_h) + b`, or any channels.

    :math:`P` is the low channel of any family of :func:`gsp_fb.operator`, made from the edges of each call.

    Parameters
    ----------
    in_channels, out_channels : int
        Features of a node before and after the layer.
    family : str
        A row of the table of variants; ``renorm_sym`` is the propagation of ``GCNConv``.
    gamma : float > 0, optional
        Weight of the added loops. They are added to every node, where ``GCNConv`` adds only missing ones.
    isolated : {'self', 'zero', 'error'}
        Treatment of nodes without edges, see :func:`gsp_fb.operator`.
    generator : torch.Generator, optional
        Draws the weights. By default torch's own, as for every layer of PyG, so that ``torch.manual_seed`` decides.
    **layer
        Options of :class:`gsp_fb.nn.FilterBankLayer`: ``channels``, ``mixing``, ``transformation``, ``bias``, ...
        No activation follows the layer unless ``output`` names one.

    See Also
    --------
    gsp_fb.nn.FilterBankLayer : The layer over a fixed propagation.
    gsp_fb.nn.patch : A second channel for a layer of another library.
    AddFilterBank : The channels of the features, as a transform.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022.

    Examples
    --------
    >>> conv = FilterBankConv(3, 2, family="lazy_rw")
    >>> conv(torch.ones(4, 3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([4, 2])
    >>> conv
    FilterBankConv(3, 2)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        family: str = "renorm_sym",
        gamma: float | None = None,
        isolated: str = "self",
        generator: torch.Generator | None = None,
        **layer: Any,
    ) -> None:
        super().__init__(aggr="add", node_dim=-2)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.family = Family.of(family, gamma, isolated)
        self._options = {"output": "identity", **layer}
        self.layer = self._fresh(generator)

    def _fresh(self, generator: torch.Generator | None) -> FilterBankLayer:
        sizes, nothing = (self.in_channels, self.out_channels), Complement(torch.positive)
        return FilterBankLayer(*sizes, nothing, generator=generator, **self._options)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw all parameters anew, in place."""
        super().reset_parameters()
        self.layer.load_state_dict(self._fresh(generator).state_dict())

    def alphas(self) -> Tensor | None:
        """Return the weights of the channels, shape (k,); None where there is one, or one set a node."""
        return self.layer.alphas()

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """Return the layer's output; ``edge_index`` is (2, n_edges) or a sparse adj_t, ``edge_weight`` (n_edges,)."""
        edges, weights = edge_list(edge_index, edge_weight, x)

        def aggregate(h: Tensor) -> Tensor:
            summed: Tensor = self.propagate(edges, x=h, edge_weight=weights)
            return summed

        degrees = utils.scatter(weights.abs(), edges[1], dim_size=x.shape[0])
        result: Tensor = self.layer(x, Complement(edge_operator(self.family, degrees, aggregate)))
        return result

    def message(self, x_j: Tensor, edge_weight: Tensor) -> Tensor:
        """Return the weighted features of the source of each edge."""
        return edge_weight[:, None] * x_j
