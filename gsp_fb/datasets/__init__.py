"""Real and synthetic data: node data sets with splits, graph collections, Geom-GCN relations, random graphs."""

from .clouds import cube, david_sensor_net, image_patches, road, sensor, sphere, swiss_roll, two_moons
from .dataset import Dataset, GraphCollection
from .fetch import cache_dir
from .lattices import comet, image_grid, low_stretch_tree, random_regular, random_ring, torus
from .loading import Relations, load, relations
from .reading import from_anndata, read
from .registry import METHODS, REGISTRY, DatasetInfo, SourceFile, info, names
from .sbm import community, contextual_sbm
from .splits import Split, random_splits, with_validation
from .synthetic import SYNTHETIC, barabasi_albert, complete, erdos_renyi, grid, path, ring, star

__all__ = ["METHODS", "REGISTRY", "SYNTHETIC"]
__all__ += ["Dataset", "DatasetInfo", "GraphCollection", "Relations", "SourceFile", "Split", "cache_dir"]
__all__ += ["from_anndata", "info", "load", "names", "random_splits", "read", "relations", "with_validation"]
__all__ += ["barabasi_albert", "comet", "community", "complete", "contextual_sbm", "cube", "david_sensor_net"]
__all__ += ["erdos_renyi", "grid", "image_grid", "image_patches", "low_stretch_tree", "path", "random_regular"]
__all__ += ["random_ring", "ring", "road", "sensor", "sphere", "star", "swiss_roll", "torus", "two_moons"]
