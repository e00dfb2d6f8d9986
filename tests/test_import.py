"""What `import gsp_fb` costs and pulls in, seen from a fresh interpreter."""

import ast
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


def test_import_loads_no_optional_library():
    assert json.loads(run(REPORT)) == []


def test_import_loads_nothing_of_scipy_beyond_sparse_matrices():
    """scipy.special, scipy.stats and their like take longer to import than all of ours: functions import them."""
    code = (
        f"{MANDATORY}\nimport sys\nbefore = set(sys.modules)\nimport gsp_fb\nprint(sorted(set(sys.modules) - before))"
    )
    found = ast.literal_eval(run(code))
    foreign = {name for name in found if name.partition(".")[0] not in {"gsp_fb", *sys.stdlib_module_names}}
    assert foreign == set()


def test_every_public_name_is_there():
    code = "import gsp_fb\nprint([name for name in gsp_fb.__all__ if not hasattr(gsp_fb, name)])"
    assert run(code).strip() == "[]"
