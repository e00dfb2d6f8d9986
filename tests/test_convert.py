"""The converters' own rules, which no other library decides."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from gsp_fb import convert
from gsp_fb.errors import GraphError, ParameterError

MISSING = """
import sys
sys.modules[{root!r}] = None
from importlib import util
real = util.find_spec
util.find_spec = lambda name, *args: None if name == {root!r} else real(name, *args)
import gsp_fb._extras
gsp_fb._extras.find_spec = util.find_spec
from gsp_fb import Graph, convert
try:
    convert.{function}(Graph.from_edges([(0, 1)]))
except ImportError as missing:
    print(missing)
"""


@pytest.mark.parametrize(
    ("function", "root", "remedy"),
    [
        ("to_networkx", "networkx", "pip install 'gsp-fb[graphs]'"),
        ("to_pandas", "pandas", "pip install 'gsp-fb[graphs]'"),
        ("to_pyg", "torch", "pip install 'gsp-fb[nn]'"),
        ("to_pygsp", "pygsp", "pip install pygsp"),
        ("to_igraph", "igraph", "pip install igraph"),
        ("to_torch", "torch", "pip install 'gsp-fb[nn]'"),
    ],
)
def test_a_missing_library_is_named_with_its_remedy(function: str, root: str, remedy: str) -> None:
    code = MISSING.format(function=function, root=root)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert f"needs {root}: {remedy}" in said


def test_importing_the_converters_imports_no_other_library() -> None:
    code = "import sys, gsp_fb.convert, gsp_fb.files; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"igraph", "networkx", "pandas", "pyarrow", "pygsp", "torch", "torch_geometric"} & set(loaded)


@pytest.mark.parametrize("rule", ["maximum", 3])
@pytest.mark.parametrize("function", ["from_networkx", "from_pyg", "from_pygsp"])
def test_an_unknown_rule_is_named(function: str, rule: object) -> None:
    with pytest.raises(ParameterError, match=f"unknown symmetrize {rule!r}"):
        getattr(convert, function)(SimpleNamespace(is_directed=lambda: False), symmetrize=rule)


@pytest.mark.parametrize("function", ["from_networkx", "from_pyg", "from_pygsp"])
def test_directed_and_symmetrized_contradict_each_other(function: str) -> None:
    with pytest.raises(GraphError, match="contradict"):
        getattr(convert, function)(SimpleNamespace(is_directed=lambda: True), directed=True, symmetrize="max")


def test_the_given_matrix_stays_as_it_is() -> None:
    W = sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    G = SimpleNamespace(W=W, is_directed=lambda: False)
    graph = convert.from_pygsp(G)
    assert not np.shares_memory(graph.adjacency.indices, W.indices)
    assert convert.from_pygsp(G, symmetrize="sum").degrees.tolist() == [2.0, 2.0]


def test_pyg_data_needs_no_torch_to_be_read() -> None:
    data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), edge_attr=np.array([[2.0], [2.0]]), num_nodes=3)
    np.testing.assert_array_equal(convert.from_pyg(data).degrees, [2.0, 2.0, 0.0])
