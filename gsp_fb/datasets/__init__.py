"""Real and synthetic data: node data sets with splits, graph collections, Geom-GCN relations, random graphs."""

from .dataset import Dataset, GraphCollection, Relations
from .fetch import cache_dir
from .loading import load, relations
from .reading import from_anndata, read
from .registry import METHODS, REGISTRY, DatasetInfo, SourceFile, info, names
from .sbm import community, contextual_sbm
from .splits import Split, random_splits
from .synthetic import SYNTHETIC, barabasi_albert, complete, erdos_renyi, grid, path, ring, sensor, star

__all__ = [
    "METHODS",
    "REGISTRY",
    "SYNTHETIC",
    "Dataset",
    "DatasetInfo",
    "GraphCollection",
    "Relations",
    "SourceFile",
    "Split",
    "barabasi_albert",
    "cache_dir",
    "community",
    "complete",
    "contextual_sbm",
    "erdos_renyi",
    "from_anndata",
    "grid",
    "info",
    "load",
    "names",
    "path",
    "random_splits",
    "read",
    "relations",
    "ring",
    "sensor",
    "star",
]
