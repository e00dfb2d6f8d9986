"""Propagations: what a layer does to neighbourhoods, each with a low and a high channel."""

from .attention import Attention, EdgeList
from .base import Batch, Identity, Propagation, check_propagation, high, identity, is_linear, low_and_high
from .neighbours import NeighbourSampler, NeighbourSum
from .operators import Complement, Spatial, mean_matrix, operator_propagation, sampled_mean
from .polynomial import BASES, PolynomialFilter, PolynomialPropagation
from .relations import N_DIVISIONS, LatentRelations, RelationPropagation, relation_matrix, relation_propagation
from .saint import SaintSampler, random_walks
from .wavelet import Wavelet, heat_wavelets

__all__ = [
    "BASES",
    "N_DIVISIONS",
    "Attention",
    "Batch",
    "Complement",
    "EdgeList",
    "Identity",
    "LatentRelations",
    "NeighbourSampler",
    "NeighbourSum",
    "PolynomialFilter",
    "PolynomialPropagation",
    "Propagation",
    "RelationPropagation",
    "SaintSampler",
    "Spatial",
    "Wavelet",
    "check_propagation",
    "heat_wavelets",
    "high",
    "identity",
    "is_linear",
    "low_and_high",
    "mean_matrix",
    "operator_propagation",
    "random_walks",
    "relation_matrix",
    "relation_propagation",
    "sampled_mean",
]
