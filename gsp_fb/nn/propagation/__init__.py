"""Propagations: what a layer does to neighbourhoods, each with a low and a high channel."""

from .attention import Attention, EdgeList
from .base import Batch, Identity, Propagation, Rectified, Synthesis, analyze, check_propagation, high
from .neighbours import NeighbourSampler, NeighbourSum
from .operators import Complement, Spatial, mean_matrix, operator_propagation, sampled_mean
from .relations import N_DIVISIONS, RelationPropagation, Relations, relation_matrix, relation_propagation
from .saint import SaintSampler, random_walks
from .wavelet import Wavelet, heat_wavelets

__all__ = [
    "N_DIVISIONS",
    "Attention",
    "Batch",
    "Complement",
    "EdgeList",
    "Identity",
    "NeighbourSampler",
    "NeighbourSum",
    "Propagation",
    "Rectified",
    "RelationPropagation",
    "Relations",
    "SaintSampler",
    "Spatial",
    "Synthesis",
    "Wavelet",
    "analyze",
    "check_propagation",
    "heat_wavelets",
    "high",
    "mean_matrix",
    "operator_propagation",
    "random_walks",
    "relation_matrix",
    "relation_propagation",
    "sampled_mean",
]
