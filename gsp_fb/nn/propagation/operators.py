"""Propagation by fixed matrices: an operator of the core, neighbour means, relations of a latent space, wavelets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from ..._kernels.synthesis import rectified
from ..._kernels.torch_matrix import SparseMatrix
from ...datasets.divisions import N_DIVISIONS
from ...errors import ParameterError
from ...graph import Graph
from ...operators import operator
from ..parts import Copies
from .base import LinearPropagation, with_parts

__all__ = ["SLOPES", "Complement", "RelationPropagation", "Spatial", "Wavelet", "operator_propagation"]


# Channels beside low that ``Complement.rectified`` adds in the same pass: ``h + slope P h``.
SLOPES = {"high": -1.0, "identity": 0.0}


class Complement(LinearPropagation):
    """low = ``P h`` and high = ``h - P h`` of a matrix ``P``: the pair that adds up to the identity.

    ``Complement(torch.positive)`` propagates nothing: low keeps ``h`` and high is zero.
    """

    def __init__(self, matrix: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.matrix = matrix

    def product(self, h: Tensor) -> Tensor:
        """Return ``P h``."""
        return self.matrix(h)

    def rectified(self, z: Tensor, alphas: Tensor, second: str, bias: Tensor | None = None) -> Tensor | None:
        """Return low + ``second`` of the halves of ``z``, rectified and weighted, + ``bias``; None if it is slower."""
        matrix, slope = self.matrix, SLOPES[second]
        return rectified(z, alphas, bias, matrix, (self.own, slope)) if isinstance(matrix, SparseMatrix) else None

    def restrict(self, nodes: Any) -> Complement:
        """Return the pair on some nodes: their rows and columns, weights as on the whole graph."""
        if not isinstance(self.matrix, SparseMatrix | ComplexPairs):
            return self  # it keeps the nodes apart
        return type(self)(self.matrix.restrict(nodes))


class Spatial(Complement):
    """The paper's spatial pair with weights w: low ``sum_j w_ij (h_i + h_j)``, high ``sum_j w_ij (h_i - h_j)``.

    The rows of ``matrix`` must sum to 1 or to 0 (a node without neighbours keeps ``h_i`` in both channels). The two
    add up to ``2 h_i``, not to the identity.
    """

    own = 1.0


class RelationPropagation(LinearPropagation):
    """Geom-GCN: low of division d is ``P_d h_d``, high ``h_d - P_d h_d``; the divisions are joined or averaged."""

    def __init__(self, matrix: SparseMatrix, average: bool = False) -> None:
        super().__init__()
        self.matrix, self.average = matrix, average
        # How many blocks the layer lifts to for one block of output.
        self.expansion = N_DIVISIONS if average else 1

    def product(self, h: Tensor) -> Tensor:
        """Return the filtered divisions."""
        if h.shape[-2] * N_DIVISIONS != self.matrix.shape[0]:
            raise ParameterError(f"features have {h.shape[-2]} rows for {self.matrix.shape[0] // N_DIVISIONS} nodes")
        filtered: Tensor = self.matrix(h.reshape(*h.shape[:-2], self.matrix.shape[0], -1))
        return filtered.reshape(h.shape)

    def restrict(self, nodes: Any) -> RelationPropagation:
        """Return the relations among some nodes, with the weights of the whole graph."""
        rows = (N_DIVISIONS * np.asarray(nodes)[:, None] + np.arange(N_DIVISIONS)).ravel()
        return RelationPropagation(self.matrix.restrict(rows), self.average)

    def identity(self, h: Tensor) -> Tensor:
        """Return the divisions as they are, or their mean."""
        return h.reshape(*h.shape[:-1], N_DIVISIONS, -1).mean(-2) if self.average else h


class Wavelet(LinearPropagation):
    """GWNN: low = ``psi_s diag(g) psi_-s h`` with one learned gain per node, high = ``h - low``."""

    def __init__(
        self, basis: SparseMatrix, inverse: SparseMatrix, generator: torch.Generator | None, *, copies: Copies = ()
    ) -> None:
        super().__init__()
        self.basis, self.inverse = basis, inverse
        self.gain = nn.Parameter(0.9 + 0.2 * torch.rand(*copies, basis.shape[0], 1, generator=generator))

    def restrict(self, nodes: Any) -> Wavelet:
        """Return the block of some nodes of ``psi_s diag(g) psi_-s``: the wavelets of all nodes, seen at these."""
        basis, inverse = self.basis.restrict(nodes, slice(None)), self.inverse.restrict(slice(None), nodes)
        return cast(Wavelet, with_parts(self, basis=basis, inverse=inverse))

    def product(self, h: Tensor) -> Tensor:
        """Return ``psi_s (g * (psi_-s h))``."""
        filtered: Tensor = self.basis(self.gain * self.inverse(h))
        return filtered


class ComplexPairs(nn.Module):
    """A complex matrix on real features: columns ``2k`` and ``2k + 1`` are real and imaginary part of one channel.

    A last column without a partner has no imaginary part, and keeps the real part of the product.

    Examples
    --------
    >>> arc = Graph.from_edges([(0, 1)], directed=True).magnetic(0.25)
    >>> operator_propagation(arc, "sym").low(torch.tensor([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.0, 0.0], [0.0, -1.0]]
    """

    def __init__(self, real: SparseMatrix, imag: SparseMatrix) -> None:
        super().__init__()
        self.real, self.imag = real, imag

    def restrict(self, nodes: Any) -> ComplexPairs:
        """Return the rows and columns of some nodes."""
        return ComplexPairs(self.real.restrict(nodes), self.imag.restrict(nodes))

    def forward(self, h: Tensor) -> Tensor:
        """Return the product for ``h`` of shape (n, f) or (copies, n, f)."""
        even = h.shape[-1] // 2 * 2
        re, im = h[..., 0:even:2].contiguous(), h[..., 1:even:2].contiguous()
        parts = self.real(re) - self.imag(im), self.real(im) + self.imag(re)
        both = torch.stack(parts, dim=-1).flatten(-2)
        return both if h.shape[-1] == even else torch.cat([both, self.real(h[..., even:])], dim=-1)


def operator_propagation(
    graph: Graph,
    family: str = "renorm_sym",
    *,
    gamma: float | None = None,
    isolated: str = "self",
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Complement:
    """Return the two-channel pair of any operator family (see :func:`gsp_fb.operator`), by default where the graph is.

    Parameters
    ----------
    graph : Graph
        Of a complex one (:meth:`gsp_fb.Graph.magnetic`) columns ``2k`` and ``2k + 1`` of the features are the real and
        the imaginary part of one channel.
    family, gamma, isolated
        As for :func:`gsp_fb.operator`.
    dtype, device
        Precision and place of the matrix.

    Returns
    -------
    Complement
        A module with ``low(h)`` and ``high(h)``.

    See Also
    --------
    FilterBankLayer : The layer around it.

    Examples
    --------
    >>> pair = operator_propagation(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw")
    >>> pair.low(torch.tensor([[1.0], [0.0], [0.0]])).ravel().tolist()
    [0.5, 0.25, 0.0]
    """
    op = operator(graph, family, gamma=gamma, isolated=isolated)
    if not graph.is_complex:
        return Complement(SparseMatrix.from_operator(op, dtype=dtype, device=device))
    matrix = op.to_scipy()
    real, imag = (SparseMatrix.from_scipy(part, dtype=dtype, device=device) for part in (matrix.real, matrix.imag))
    return Complement(ComplexPairs(real, imag))
