"""Search of a finite space of settings by scores on splits: resumable, shared by processes, whatever is trained."""

from .proposals import SAMPLERS, space_size
from .race import Race, Trial

__all__ = ["SAMPLERS", "Race", "Trial", "space_size"]
