"""Every script of the gallery runs as it stands and draws something."""

import os
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
DATA = Path(os.environ.get("GSP_FB_DATA_DIR") or Path(__file__).parents[2] / "shared" / "data")


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the real data sets are not in {DATA}; set GSP_FB_DATA_DIR")
@pytest.mark.parametrize("script", sorted(GALLERY.glob("plot_*.py")), ids=lambda path: path.stem)
def test_gallery_script(script, monkeypatch):
    monkeypatch.setenv("GSP_FB_DATA_DIR", str(DATA))
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    try:
        runpy.run_path(str(script))
        assert plt.get_fignums()
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    finally:
        plt.close("all")
