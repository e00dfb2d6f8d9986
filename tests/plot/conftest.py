"""Pictures are drawn without a display and closed after each test."""

import pytest

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def closed_figures():
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
