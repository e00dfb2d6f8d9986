"""Search of a finite space of settings by scores on splits: resumable, shared by processes, whatever is trained."""

from .race import SAMPLERS, Race, Trial, space_size
from .result import BEST_FILE, SearchResult, read_best

__all__ = ["BEST_FILE", "SAMPLERS", "Race", "SearchResult", "Trial", "read_best", "space_size"]
