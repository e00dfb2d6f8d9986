"""For tests and doctests alike: a clean place to start from."""

import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

# A suite that was started in the background inherits that Ctrl-C is ignored, and so would the processes it interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Its examples need a PETSc, which `make test-mpi` sees to.
collect_ignore = [] if find_spec("petsc4py") else ["gsp_fb/distributed"]


@pytest.fixture(autouse=True)
def _no_figure_left_open() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
