"""Input features in torch: a bag of words stays sparse in ``X @ W``, also under dropout."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from .._arguments import check_signal
from .._kernels.torch_features import SparseFeatures
from .._kernels.torch_sparse import as_tensor
from ..backend import is_sparse
from ..errors import SignalError

__all__ = ["Features", "features"]


Features: TypeAlias = Tensor | SparseFeatures


def features(
    x: Any, *, normalize: bool = False, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> Features:
    """Return node features as a tensor, or as sparse features if they are sparse.

    Parameters
    ----------
    x : array_like or scipy sparse, shape (n_nodes, n_features)
        Finite values.
    normalize : bool
        Divide each row by the sum of its magnitudes. Rows of zeros stay as they are.
    dtype : torch.dtype
        Type of the entries.
    device : torch.device or str
        Where the result is placed.

    Returns
    -------
    Tensor or SparseFeatures, shape (n_nodes, n_features)
        The input of a model of :func:`build`. It shares the memory of ``x`` where type and device allow; no model of
        this package writes to it.

    See Also
    --------
    SparseFeatures : The sparse form.
    gsp_fb.row_normalized : Division by the sum instead of the sum of magnitudes.

    Examples
    --------
    >>> features([[1.0, 3.0]], normalize=True).tolist()
    [[0.25, 0.75]]
    """
    x = check_signal(x, x.shape[0] if hasattr(x, "shape") else len(x))
    if x.dtype.kind == "c":
        if np.any((x.data if is_sparse(x) else x).imag):
            raise SignalError("features are complex; give real and imaginary part of column k as columns 2k and 2k + 1")
        x = x.real
    if normalize:
        sums = np.asarray(abs(x).sum(axis=1)).reshape(-1, 1)
        scale = 1.0 / np.where(sums == 0, 1.0, sums)
        x = sparse.csr_array(x.multiply(scale)) if is_sparse(x) else x * scale
    if is_sparse(x):
        return SparseFeatures.from_scipy(x, dtype=dtype, device=device)
    return as_tensor(x).to(dtype=dtype, device=device)
