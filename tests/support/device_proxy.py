"""Tests written for NumPy, run on a device: what they give goes over, what they get comes back.

A test's names of gsp_fb are replaced by ones that stand on the shore: their arguments are moved to the device, the
library computes there, and the test sees NumPy arrays again. A result that is no longer on the device when the library
returns it fails the test.

>>> import numpy as np
>>> import gsp_fb
>>> from tests.support.device import DEVICE
>>> gf = DeviceProxy(DEVICE).wrap(gsp_fb)
>>> op = gf.operator(gf.Graph.from_edges([(0, 1), (1, 2)]), "rw")
>>> op.graph.device, op @ np.array([1.0, 5.0, 3.0])
('double', array([5., 2., 5.]))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from types import FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from gsp_fb.backend import device_of, is_sparse, move, to_host
from gsp_fb.graph import Graph
from gsp_fb.operators import Operator, operator

__all__ = ["DeviceProxy", "why_not"]

PACKAGE = "gsp_fb"
# Oracles and strategies: they read the objects of a test, and are no part of what runs on a device.
HOST_ONLY = (f"{PACKAGE}.testing", f"{PACKAGE}.theory.dense")
# What a device calls by another name.
OTHER_NAMES = {"to_scipy": "to_sparse"}


def why_not(device: str) -> str | None:
    """Return the reason why nothing can run on a device here, if there is one.

    Examples
    --------
    >>> why_not("cpu") is None
    True
    """
    try:
        Graph.from_edges([(0, 1)]).to(device)
    except ImportError as missing:
        return str(missing)
    except Exception as broken:  # noqa: BLE001  # the error types of a driver need its library to be named
        return f"no device {device!r}: {type(broken).__name__}: {broken}"
    return None


class DeviceProxy:
    """Carries arguments to a device and results back.

    Parameters
    ----------
    device : str
        A row of :data:`gsp_fb.backend.TABLE`.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        # The same object is the same passenger, as long as a test holds it.
        self._passengers: WeakValueDictionary[int, _DeviceObject] = WeakValueDictionary()

    def wrap(self, value: Any) -> Any:
        """Return what a test sees of a module, class or function of gsp_fb, or of an object on the device."""
        if isinstance(value, ModuleType):
            return _HostModule(self, value) if _is_ours(value.__name__) else value
        if isinstance(value, type):
            stays = issubclass(value, BaseException) or not _is_ours(value.__module__)
            return value if stays else _HostModule(self, value)
        if isinstance(value, FunctionType | MethodType):
            return self.function(value) if _is_ours(value.__module__) else value
        return self.back(value, strictly=False)

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``function`` with its arguments taken to the device and its result brought back."""

        @wraps(function)
        def carried(*args: Any, **options: Any) -> Any:
            # A test may put it in the place of another function, where the library itself calls it.
            if self.on_device(args) or self.on_device(options):
                return function(*args, **options)
            args, options = self.over(args), self.over(options)
            on_device = self.on_device([getattr(function, "__self__", None), args, options])
            if on_device:
                args, options = tuple(map(self._numbers, args)), {k: self._numbers(x) for k, x in options.items()}
            return self.back(function(*args, **options), strictly=on_device)

        return carried

    def over(self, x: Any) -> Any:
        """Return ``x`` with every array, graph and operator in it on the device."""
        if isinstance(x, _DeviceObject):
            return _there(x)
        if type(x) in (list, tuple):
            return type(x)(map(self.over, x))
        if type(x) is dict:
            return {key: self.over(value) for key, value in x.items()}
        if isinstance(x, Graph):
            return x.to(self.device)
        if isinstance(x, Operator) and not self.on_device(x):
            return operator(x.graph.to(self.device), x.family, x.channel, x.gamma or None, x.isolated)
        return move(x, self.device) if _is_numeric(x) or is_sparse(x) else x

    def back(self, x: Any, *, strictly: bool) -> Any:
        """Return ``x`` with every array in it on the host; what holds arrays on the device becomes a passenger.

        With ``strictly``, an array that is on the host already raises AssertionError: it has left the device unasked.
        """
        if type(x) in (list, tuple):
            return type(x)(self.back(value, strictly=strictly) for value in x)
        if type(x) is dict:
            return {key: self.back(value, strictly=strictly) for key, value in x.items()}
        for part in _parts(x) if strictly else ():
            if _is_numeric(part) or (device_of(part) == "cpu" and is_sparse(part)):
                raise AssertionError(f"an array of shape {part.shape} in {type(x).__name__} has left the device")
        if isinstance(x, _DeviceObject):
            return x
        if device_of(x) == self.device and not hasattr(x, "matvec"):
            return to_host(x)
        x = self.over(x) if isinstance(x, Graph | Operator) else x
        return self._passenger(x) if self.on_device(x) else x

    def _passenger(self, there: Any) -> _DeviceObject:
        known = self._passengers.get(id(there))
        if known is None:
            operations = tuple(name for name in OPERATIONS if hasattr(type(there), name))
            known = self._passengers[id(there)] = _kind(operations)(self, there)
        return known

    def on_device(self, x: Any) -> bool:
        """Return whether ``x`` is an array on the device, or an object of ours or a plain container that holds one."""
        if type(x) in (list, tuple):
            return any(map(self.on_device, x))
        if type(x) is dict:
            return any(map(self.on_device, x.values()))
        parts = _parts(x)
        if any(part is x for part in parts):
            return device_of(x) == self.device
        return any(map(self.on_device, parts))

    def _numbers(self, x: Any) -> Any:
        """Return a list of numbers, which a user may give for a signal, as an array on the device."""
        if type(x) is not list:
            return x
        try:
            array = np.asarray(x)
        except ValueError:
            return x
        return self.over(array) if _is_numeric(array) else x


class _HostModule:
    """A module or class of ours as a test sees it: every function in it is carried."""

    __slots__ = ("_ferry", "_target")

    def __init__(self, proxy: DeviceProxy, target: Any) -> None:
        object.__setattr__(self, "_ferry", proxy)
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        return found if name == "__dict__" else self._ferry.wrap(found)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._target, name, value)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._ferry.function(self._target)(*args, **options)

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, self._target)

    def __repr__(self) -> str:
        return f"{self._target!r} on {self._ferry.device}"


class _DeviceObject:
    """An object on the device as a test sees it: attributes come back as NumPy arrays, methods are carried."""

    def __init__(self, proxy: DeviceProxy, there: Any) -> None:
        object.__setattr__(self, "_ferry", proxy)
        object.__setattr__(self, "_there", there)

    @property  # type: ignore[misc]  # isinstance asks for it
    def __class__(self) -> Any:
        return type(_there(self))

    def __getattr__(self, name: str) -> Any:
        proxy = object.__getattribute__(self, "_ferry")
        found = getattr(_there(self), OTHER_NAMES.get(name, name))
        return proxy.function(found) if isinstance(found, MethodType) else proxy.back(found, strictly=True)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_there(self), name, value)

    def __repr__(self) -> str:
        return repr(_there(self))


def _there(passenger: _DeviceObject) -> Any:
    return object.__getattribute__(passenger, "_there")


# Python asks the type of an object, not the object, for these.
OPERATIONS = ("__matmul__", "__len__", "__getitem__", "__iter__", "__call__", "__add__")


def _operation(name: str) -> Callable[..., Any]:
    def carried(self: _DeviceObject, *args: Any) -> Any:
        proxy = object.__getattribute__(self, "_ferry")
        return proxy.function(getattr(_there(self), name))(*args)

    return carried


@cache
def _kind(operations: tuple[str, ...]) -> type[_DeviceObject]:
    """Return the class of the passengers that stand for objects with these operations."""
    return type("_DeviceObject", (_DeviceObject,), {name: _operation(name) for name in operations})


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE and not module.startswith(HOST_ONLY)


def _parts(x: Any) -> list[Any]:
    """Return the fields of an object of ours; anything else is its own part."""
    is_object = is_dataclass(type(x)) and _is_ours(type(x).__module__)
    return [getattr(x, field.name) for field in fields(x)] if is_object else [x]


def _is_numeric(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim > 0 and x.dtype.kind in "biufc"
