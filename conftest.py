"""For tests and doctests alike: a clean place to start from."""

import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

# A suite that was started in the background inherits that Ctrl-C is ignored, and so would the processes it interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


NO_PETSC = pytest.mark.skip(
    reason="petsc4py is not installed here; `make test-mpi` installs it and runs these examples"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the examples of graphs over several processes where the library behind them is missing."""
    if find_spec("petsc4py") is None:
        for item in items:
            if "gsp_fb/distributed/" in item.path.as_posix():
                item.add_marker(NO_PETSC)


@pytest.fixture(autouse=True)
def _no_figure_left_open() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _no_model_left_registered() -> Iterator[None]:
    yield
    models = sys.modules.get("gsp_fb.nn.models")
    if models is not None:
        own = {row.name for row in models._ROWS}
        for name in set(models.MODELS) - own:
            del models._TABLE[name]
