"""The dispatch table: which library an array belongs to, and that every row offers the same functions."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from scipy import sparse

import gsp_fb
from gsp_fb import backend
from gsp_fb.backend import cuda, host, numpy1
from tests.support import device

PACKAGE = Path(gsp_fb.__file__).parent


def functions(path):
    """Return the parameters of each public function of a module, from its source."""
    tree = ast.parse(path.read_text())
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return {node.name: [a.arg for a in (*node.args.args, *node.args.kwonlyargs)] for node in found}


def test_rows_have_the_same_functions_with_the_same_parameters():
    wanted = functions(PACKAGE / "backend" / "host.py")
    assert set(wanted) | {"DEVICE"} == set(host.__all__)
    for name in wanted:
        ours, theirs = (list(inspect.signature(getattr(row, name)).parameters) for row in (host, cuda))
        assert ours == theirs
        assert callable(getattr(device, name))
    own = functions(Path(device.__file__))
    assert all(own[name] == wanted[name] for name in own.keys() & wanted.keys())


@pytest.mark.parametrize("x", [np.ones(2), sparse.eye_array(2), [1.0], 3, None])
def test_everything_without_a_row_lives_on_the_host(x):
    assert backend.library(x) is host
    assert backend.device_of(x) == "cpu"


def test_arrays_are_told_apart_by_the_package_of_their_type():
    for x in (device.from_host([1.0]), device.from_host(sparse.eye_array(2))):
        assert backend.library(np.ones(1), x) is device
        assert backend.namespace(np.ones(1), x) is strict
    assert backend.namespace(np.ones(1)) is np


def test_transfers_are_explicit_and_lossless():
    x = np.arange(6.0).reshape(2, 3)
    there = backend.move(x, device.DEVICE)
    assert backend.device_of(there) == device.DEVICE
    assert np.array_equal(backend.to_host(there), x)
    assert backend.move(there, device.DEVICE) is there
    assert backend.move(x, "cpu") is x
    assert backend.move(None, device.DEVICE) is None
    matrix = sparse.csr_array(x)
    assert np.array_equal(backend.to_host(backend.move(matrix, device.DEVICE)).toarray(), x)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_group_sums_of_vectors_blocks_and_nothing(dtype):
    groups, values = np.array([2, 0, 2]), np.array([1, 2, 3], dtype=dtype)
    assert np.array_equal(backend.group_sum(groups, values, 4), [2, 0, 4, 0])
    assert np.array_equal(backend.group_sum(groups, values[:, None], 4), [[2], [0], [4], [0]])
    assert backend.group_sum(groups[:0], np.empty(0), 2).dtype == np.float64


def test_cupy_is_asked_for_by_its_extra_where_it_is_missing():
    code = (
        "import sys; sys.modules['cupy'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "import gsp_fb._extras as e; e.find_spec = lambda name: None if name == 'cupy' else real(name)\n"
        "import gsp_fb as gf\n"
        "try: gf.Graph.from_edges([(0, 1)]).to('cuda')\n"
        "except ImportError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'gsp-fb[gpu]'" in said


def names_cupy(node):
    """Return whether a node imports cupy, or is a string with its name, as tables of libraries have it."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.partition(".")[0] in ("cupy", "cupyx")
    return isinstance(node, ast.Import | ast.ImportFrom) and "cupy" in ast.unparse(node)


def test_only_the_row_and_the_two_tables_name_cupy():
    named = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(names_cupy(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    ]
    assert sorted(named) == ["_extras.py", "backend/cuda.py", "backend/table.py"]


@pytest.mark.parametrize("kind", ["b1", "i1", "i8", "u4", "f4", "f8", "c8", "c16"])
def test_the_names_that_older_numpy_lacks_mean_what_numpy_means_by_them(kind):
    """NumPy 1.24 takes them from here; `make test-mpi` runs on it."""
    older, x = numpy1._Extended(), np.arange(4).astype(kind)
    for name in numpy1.KINDS:
        assert older.isdtype(x.dtype, name) == np.isdtype(x.dtype, name)
    assert older.isdtype(x.dtype, ("bool", "integral")) == np.isdtype(x.dtype, ("bool", "integral"))
    for ours, theirs in (
        (older.astype(x, np.complex128), np.astype(x, np.complex128)),
        (older.concat([x, x]), np.concat([x, x])),
        (older.cumulative_sum(x, include_initial=True), np.cumulative_sum(x, include_initial=True)),
        (older.permute_dims(x[None, :], (1, 0)), np.permute_dims(x[None, :], (1, 0))),
        (older.asarray(x, copy=True), np.asarray(x, copy=True)),
        (older.sqrt(x), np.sqrt(x)),
    ):
        np.testing.assert_array_equal(ours, theirs)
    assert older.bool is np.bool
