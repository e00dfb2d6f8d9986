"""The folder of the real data sets, and the mark of tests that need it."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("GSP_FB_DATA_DIR") or Path(__file__).parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the real data sets are not in {DATA}; set GSP_FB_DATA_DIR")
