"""The dispatch table: which module knows an array, by the package its type comes from.

A row is all it takes to put another kind of arrays under the core. Its module has the functions of
:mod:`gsp_fb.backend.host`, by the same names: what the array API standard lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar, cast

from .._extras import require
from . import host

__all__ = ["TABLE", "Row", "device_of", "dispatched", "library", "move", "register", "to_host"]


_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Row:
    """One kind of arrays."""

    device: str  # what :meth:`gsp_fb.Graph.to` calls the place where they live
    packages: tuple[str, ...]  # packages, or single modules, that define their types; making them needs the first one
    module: str  # the module with their functions; it is imported with the first such array


TABLE = {
    row.device: row
    for row in (
        Row("cpu", ("numpy", "scipy"), "gsp_fb.backend.host"),
        Row("cuda", ("cupy", "cupyx"), "gsp_fb.backend.cuda"),
    )
}


def register(row: Row) -> None:
    """Add a row to the table, or replace the one of the same device."""
    TABLE[row.device] = row
    _MODULES.clear()


# What was found for each type so far.
_MODULES: dict[type, Any] = {}


def _module_of(kind: type) -> Any:
    names = {kind.__module__, kind.__module__.partition(".")[0]}
    for row in TABLE.values():
        if names.intersection(row.packages):
            return import_module(row.module)
    return host


def library(*arrays: Any) -> Any:
    """Return the module of the first array that does not live in host memory; lists and numbers do."""
    for array in arrays:
        kind = type(array)
        if kind not in _MODULES:
            _MODULES[kind] = _module_of(kind)
        module = _MODULES[kind]
        if module is not host:
            return module
    return host


def dispatched(function: _Function) -> _Function:
    """Return a function of the host as one of arrays of any kind: that of the library of its first argument."""

    @wraps(function)
    def call(first: Any, *others: Any, **options: Any) -> Any:
        return getattr(library(first), function.__name__)(first, *others, **options)

    return cast(_Function, call)


def device_of(x: Any) -> str:
    """Return the name of the device that ``x``, dense or sparse, lives on."""
    return str(library(x).DEVICE)


def to_host(x: Any) -> Any:
    """Return ``x`` as a NumPy array, or a SciPy one if it is sparse: the only way from a device to the host."""
    return library(x).to_host(x)


def move(x: Any, device: str) -> Any:
    """Return ``x`` on the named device; itself if it is there already."""
    if x is None or device_of(x) == device:
        return x
    row = TABLE[device]
    require(row.packages[0], f"an array on {device!r}")
    return import_module(row.module).from_host(to_host(x))
