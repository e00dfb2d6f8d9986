"""Pickles read as data: an allow-list of opcodes and names that only build placeholders for arrays.

No class or function of another library is called. What the pickle declares as an array, a dtype or a sparse matrix
becomes a record of its state, from which the reader constructs the array itself.
"""

from __future__ import annotations

import math
import pickle
import pickletools
import re
import warnings
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import FormatError
from ...files._limits import parser_errors
from .arrays import reading

__all__ = ["PickledArray", "PickledCsr", "PickledGraph", "load_pickle"]

# Opcodes of Planetoid's files: values, containers, the memo, and the few that build objects.
VALUES = {
    *("PROTO", "FRAME", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "FLOAT", "BINFLOAT", "GLOBAL"),
    *("INT", "LONG", "LONG1", "BININT", "BININT1", "BININT2"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE"),
    *("EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS"),
    *("MEMOIZE", "GET", "BINGET", "LONG_BINGET"),
}
MEMO_WRITES = {"PUT", "BINPUT", "LONG_BINPUT"}
BUILDERS = {"EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "REDUCE", "BUILD", "NEWOBJ"}
OPCODES = VALUES | MEMO_WRITES | BUILDERS
# A file holds one array, matrix or dictionary; repeated copies and nested tuples occur only in decompression bombs.
MAX_BUILDERS = 200
# Bound of node numbers. Memo indices are bounded by the size of the file: the unpickler allocates up to that index.
MAX_INTEGER = 2**31
_DTYPE = re.compile(r"[biuf][1-8]")


class PickledDtype:
    """Placeholder for numpy's dtype: its text and byte order."""

    def __init__(self, text: object = "", *flags: object) -> None:
        self.text, self.order = text, "="

    def __setstate__(self, state: Any) -> None:
        self.order = str(state[1])

    def dtype(self) -> np.dtype[Any]:
        """Return the plain number type, or raise FormatError."""
        if not _DTYPE.fullmatch(str(self.text)) or self.order not in tuple("<>|="):
            raise FormatError(f"an array of dtype {str(self.text)[:20]!r}, which no Planetoid file holds")
        return np.dtype(f"{self.order}{self.text}")


class PickledArray:
    """Placeholder for numpy's array: shape, dtype and bytes."""

    def __init__(self) -> None:
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def array(self) -> npt.NDArray[Any]:
        """Return the array, or raise FormatError if shape, dtype and bytes do not fit."""
        _, shape, dtype, fortran, raw = self.state
        is_shape = isinstance(shape, tuple) and all(type(length) is int and length >= 0 for length in shape)
        if not isinstance(dtype, PickledDtype) or not is_shape:
            raise FormatError(f"an array of shape {shape!r:.60}, which no Planetoid file holds")
        content = raw.encode("latin1") if isinstance(raw, str) else bytes(memoryview(raw))
        kind = dtype.dtype()
        if len(content) != math.prod(shape) * kind.itemsize:
            raise FormatError(f"an array of shape {shape} and {kind} has {len(content)} bytes")
        return np.frombuffer(content, dtype=kind).reshape(shape, order="F" if fortran else "C")


class PickledCsr:
    """Placeholder for scipy's CSR class: the pickled attributes, without running any code of that class."""

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)


class PickledGraph(dict[Any, Any]):
    """Placeholder for ``defaultdict(list)``."""

    def __init__(self, *factory: object) -> None:
        super().__init__()

    def __setstate__(self, state: Any = None) -> None:
        raise FormatError("the pickle changes a dictionary's class, which no Planetoid file does")


class _Builder(partial[object]):
    """A function that a pickle may call but not modify."""

    def __setstate__(self, state: Any) -> None:
        raise FormatError("the pickle changes a function, which no Planetoid file does")


def _array(cls: object, shape: object, kind: object) -> PickledArray:
    if cls is not PickledArray:
        raise FormatError("the pickle makes an array of another class, which no Planetoid file holds")
    return PickledArray()


def _object(cls: Any, base: object, state: object) -> PickledCsr:
    if cls is not PickledCsr or base is not _OBJECT or state is not None:
        raise FormatError(f"the pickle rebuilds a {getattr(cls, '__name__', 'list')}, which no Planetoid file holds")
    return PickledCsr()


def _bytes(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise FormatError(f"the pickle encodes by {encoding!r:.40}, which no Planetoid file does")
    return text.encode("latin1")


_OBJECT, _LIST = object(), object()
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _Builder(_array),
    ("numpy._core.multiarray", "_reconstruct"): _Builder(_array),
    ("numpy", "ndarray"): PickledArray,
    ("numpy", "dtype"): PickledDtype,
    ("scipy.sparse.csr", "csr_matrix"): PickledCsr,
    ("scipy.sparse._csr", "csr_matrix"): PickledCsr,
    ("collections", "defaultdict"): PickledGraph,
    ("__builtin__", "list"): _LIST,
    ("__builtin__", "object"): _OBJECT,
    ("copy_reg", "_reconstructor"): _Builder(_object),
    ("_codecs", "encode"): _Builder(_bytes),
}


class _AllowListUnpickler(pickle.Unpickler):
    """An unpickler that resolves only the names in the allow-list."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise FormatError(f"the pickle refers to {module}.{name}, which no Planetoid file does; refused") from None


def _check_opcodes(content: bytes) -> None:
    """Raise FormatError unless all opcodes and their arguments occur in Planetoid files."""
    n_builders = 0
    for opcode, argument, _ in pickletools.genops(content):
        limit = len(content) if opcode.name in MEMO_WRITES else MAX_INTEGER
        if isinstance(argument, int) and abs(argument) >= limit:
            raise FormatError(f"the pickle has {opcode.name} {argument!s:.40}, which no Planetoid file does")
        if opcode.name not in OPCODES:
            raise FormatError(f"the pickle uses {opcode.name}, which no Planetoid file does")
        n_builders += opcode.name in BUILDERS
    if n_builders > MAX_BUILDERS:
        raise FormatError(f"the pickle builds {n_builders} objects, more than any Planetoid file")


def load_pickle(path: Path, kind: type) -> Any:
    """Return the content of a Planetoid pickle, which must be a ``kind``; no code in it is run."""
    with reading(path), warnings.catch_warnings():
        # Both parsers warn of escape sequences that Python 3 writes differently.
        warnings.simplefilter("ignore", DeprecationWarning)
        content = path.read_bytes()
        _check_opcodes(content)
        with parser_errors("damaged pickle", (pickle.UnpicklingError, TypeError, AttributeError)):
            held = _AllowListUnpickler(BytesIO(content), encoding="latin1").load()
        if not isinstance(held, kind):
            raise FormatError(f"the pickle holds a {type(held).__name__}, expected a {kind.__name__}")
        return held
