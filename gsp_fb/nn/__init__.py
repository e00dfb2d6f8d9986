"""Graph networks that keep the high-pass half: every model of the paper, with one channel or two.

One layer around any propagation (:class:`FilterBankLayer`), models as rows of one table (``MODELS``), and a training
loop that can be killed and resumed.
"""

from . import _guard as _guard
from .auditing import Audit, audit, watch
from .checkpoint import Checkpoint, read_checkpoint
from .config import TrainConfig
from .graphs import GinNetwork, GraphBatch
from .inputs import SparseFeatures, features
from .layer import FilterBankLayer
from .models import MODELS, Model, describe
from .network import Network, n_parameters, parameter_groups
from .patch import patch
from .predict import embed, predict
from .propagation import Propagation, operator_propagation
from .protocols import PROTOCOLS, CrossValidation, cross_validate, with_validation
from .recipes import build
from .results import TrainResult
from .rundir import TrainingInterrupted, read_metrics
from .search import SearchResult, search
from .sparse import SparseMatrix
from .splits import train_splits
from .train import train

__all__ = [
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
    "Propagation",
    "SearchResult",
    "SparseFeatures",
    "SparseMatrix",
    "TrainConfig",
    "TrainResult",
    "TrainingInterrupted",
    "audit",
    "build",
    "cross_validate",
    "describe",
    "embed",
    "features",
    "n_parameters",
    "operator_propagation",
    "parameter_groups",
    "patch",
    "predict",
    "read_checkpoint",
    "read_metrics",
    "search",
    "train",
    "train_splits",
    "watch",
    "with_validation",
]
