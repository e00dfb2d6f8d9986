"""Graph networks that keep the high-pass half: every model of the paper, with one channel or two.

One layer around any propagation (:class:`FilterBankLayer`), models as rows of one table (``MODELS``), and a training
loop that can be killed and resumed.
"""

from . import _guard as _guard

# isort: split
from .._kernels.torch_features import SparseFeatures
from .._kernels.torch_matrix import SparseMatrix
from .._rundir import TrainingInterrupted, read_metrics
from ..datasets.splits import with_validation
from ..filters.differentiable import filter_signal
from ..tuning import BEST_FILE, SearchResult, read_best
from .auditing import Audit, audit, watch
from .checkpoint import Checkpoint, read_checkpoint
from .config import TrainConfig, TrainResult
from .graphs import GinNetwork, GraphBatch
from .inputs import features
from .layer import FilterBankLayer
from .models import MODELS, Model, describe, register_model
from .network import Network, n_parameters, parameter_groups
from .patch import patch
from .predict import embed, predict
from .propagation.base import Propagation
from .propagation.operators import operator_propagation
from .propagation.polynomial import PolynomialFilter
from .protocols import PROTOCOLS, CrossValidation, cross_validate
from .recipes import build
from .search import search
from .splits import train_splits
from .train import train
from .trainer import TrainState

__all__ = [
    "BEST_FILE",
    "MODELS",
    "PROTOCOLS",
    "Audit",
    "Checkpoint",
    "CrossValidation",
    "FilterBankLayer",
    "GinNetwork",
    "GraphBatch",
    "Model",
    "Network",
    "PolynomialFilter",
    "Propagation",
    "SearchResult",
    "SparseFeatures",
    "SparseMatrix",
    "TrainConfig",
    "TrainResult",
    "TrainState",
    "TrainingInterrupted",
    "audit",
    "build",
    "cross_validate",
    "describe",
    "embed",
    "features",
    "filter_signal",
    "n_parameters",
    "operator_propagation",
    "parameter_groups",
    "patch",
    "predict",
    "read_best",
    "read_checkpoint",
    "read_metrics",
    "register_model",
    "search",
    "train",
    "train_splits",
    "watch",
    "with_validation",
]
