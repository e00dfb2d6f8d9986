"""Tensors as signals on the nodes: one row a node, everything else a column."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...backend import FloatArray

__all__ = ["first_tensor", "from_matrix", "node_axis", "to_matrix", "to_numpy"]


def node_axis(t: Tensor, n_nodes: int) -> int | None:
    """Return the axis that runs over the nodes: the first, or the last but one behind batch axes; None without one."""
    if t.ndim >= 1 and t.shape[0] == n_nodes:
        return 0
    return t.ndim - 2 if t.ndim >= 3 and t.shape[-2] == n_nodes else None


def to_matrix(t: Tensor, n_nodes: int) -> Tensor:
    """Return ``t`` with the nodes first and all other axes as columns; without node axis, one row an item."""
    axis = node_axis(t, n_nodes)
    moved = t.reshape(1, -1) if t.ndim == 0 else t.movedim(axis or 0, 0)
    return moved.reshape(moved.shape[0], -1)


def from_matrix(matrix: Tensor, like: Tensor, n_nodes: int) -> Tensor:
    """Return the tensor of the shape of ``like`` whose :func:`to_matrix` is ``matrix``."""
    axis = node_axis(like, n_nodes) or 0
    moved = like.movedim(axis, 0).shape
    return matrix.reshape(moved).movedim(0, axis)


def first_tensor(output: Any) -> Tensor | None:
    """Return the tensor itself, or the first one of a tuple or list (PyG layers also return attention weights)."""
    if isinstance(output, Tensor):
        return output
    found = output[0] if isinstance(output, tuple | list) and len(output) else None
    return found if isinstance(found, Tensor) else None


def to_numpy(t: Tensor) -> FloatArray:
    """Return a tensor as an array on the host, float32 or float64."""
    host = t.detach().cpu()
    values: FloatArray = (host if host.dtype in (torch.float32, torch.float64) else host.float()).numpy()
    return values
