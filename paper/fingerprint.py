"""Fingerprint of the code that a cell's figures depend on: a cell measured by other code is stale.

Comments, docstrings and layout do not enter, so that a change of words leaves the figures standing.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["fingerprint", "sources"]

ROOT = Path(__file__).parents[1]
_OPERATORS = (
    "gsp_fb/operators.py",
    "gsp_fb/variants.py",
    "gsp_fb/graph.py",
    "gsp_fb/_kernels/*.py",
    "gsp_fb/backend/sparse.py",
)
_TRAINING = (
    *_OPERATORS,
    "gsp_fb/datasets/divisions.py",
    "gsp_fb/datasets/splits.py",
    "gsp_fb/datasets/targets.py",
    "gsp_fb/datasets/unions.py",
    "gsp_fb/filters/heat_basis.py",
    "gsp_fb/filters/polynomials.py",
    "gsp_fb/nn/*.py",
    "gsp_fb/nn/propagation/*.py",
    "gsp_fb/sampling/subgraphs.py",
    "gsp_fb/tuning/*.py",
    "paper/training.py",
    "paper/choice.py",
)
# How a cell is measured -> the files that decide its figures.
_SOURCES: Mapping[str, tuple[str, ...]] = {
    "s-values": (*_OPERATORS, "gsp_fb/energy/dirichlet.py", "gsp_fb/energy/signals.py", "paper/s_values.py"),
    "training": (*_TRAINING, "paper/measures.py", "paper/protocols.py"),
}
# Modules of the networks that write, read, convert or show, and never change a number of a training.
_INERT = ("__init__", "__main__", "_guard", "patch", "pyg", "predict", "distributed")
# Kernels of networks alone.
_TORCH = (
    *("attention", "attention_loops", "synthesis", "synthesis_loops"),
    *("torch_dense", "torch_device", "torch_elementwise", "torch_features", "torch_matrix", "torch_sparse"),
)
# Absent from a tree of older Python versions, or empty there.
_VERSIONED = ("type_params", "type_comment", "type_ignores", "kind")


def sources(kind: str) -> list[Path]:
    """Return the files that the figures of a kind of cell depend on.

    Examples
    --------
    >>> "operators.py" in [path.name for path in sources("s-values")]
    True
    """
    patterns = _SOURCES["s-values" if kind == "s-values" else "training"]
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    left_out = {"nn": _INERT, "_kernels": _TORCH if kind == "s-values" else ()}
    return sorted(path for path in found if path.stem not in left_out.get(path.parent.name, ()))


@cache
def fingerprint(kind: str) -> str:
    """Return the hash of the code behind a kind of cell.

    Examples
    --------
    >>> len(fingerprint("nodes")), fingerprint("nodes") == fingerprint("s-values")
    (16, False)
    """
    digests = {str(path.relative_to(ROOT)): code_digest(path.read_text(encoding="utf-8")) for path in sources(kind)}
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()[:16]


def code_digest(text: str) -> str:
    """Return the hash of a module's syntax tree without its docstrings.

    Examples
    --------
    >>> code_digest("x = 1  # one") == code_digest("x   = 1"), code_digest("x = 1") == code_digest("x = 2")
    (True, False)
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(json.dumps(_plain(tree)).encode()).hexdigest()


def _plain(node: Any) -> Any:
    """Return a tree as lists that no version of Python orders or fills otherwise."""
    if isinstance(node, ast.AST):
        return [type(node).__name__, *_fields(node)]
    return [_plain(entry) for entry in node] if isinstance(node, list) else repr(node)


def _fields(node: ast.AST) -> Iterator[Any]:
    for name, value in ast.iter_fields(node):
        if name not in _VERSIONED and value is not None and value != []:
            yield [name, _plain(value)]
