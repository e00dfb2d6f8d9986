"""What `import gsp_fb` costs and pulls in, seen from a fresh interpreter."""

import json
import subprocess
import sys

HEAVY = [
    "torch",
    "networkx",
    "matplotlib",
    "pandas",
    "numba",
    "cupy",
    "pooch",
    "sklearn",
    "hypothesis",
    "pyamg",
    "tqdm",
]
REPORT = f"""
import json, sys
import gsp_fb
print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
"""
MANDATORY = "import numpy, scipy.sparse.linalg, scipy.sparse.csgraph"


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def import_seconds(statement):
    """Return the time of the quickest of five first imports, each in an interpreter of its own."""
    timed = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return min(float(run(timed)) for _ in range(5))


def test_import_loads_no_optional_library():
    assert json.loads(run(REPORT)) == []


def test_import_takes_less_than_800_milliseconds():
    # Where numpy and scipy alone take most of that, we may add as much as they cost.
    assert import_seconds("import gsp_fb") < max(0.8, 2 * import_seconds(MANDATORY))


def test_every_public_name_is_there():
    code = "import gsp_fb\nprint([name for name in gsp_fb.__all__ if not hasattr(gsp_fb, name)])"
    assert run(code).strip() == "[]"
