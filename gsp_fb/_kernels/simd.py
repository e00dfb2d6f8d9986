"""SIMD intrinsics that numba lacks: software prefetch, and vectors of constant width in registers.

A product with an arbitrarily numbered graph reads rows at random, and the hardware keeps too few of those reads in
flight; prefetching some neighbours ahead hides the memory latency. For rows in the cache the instructions dominate:
with register blocking the sums of a constant number of columns stay in registers over all neighbours, whereas a loop
over a variable number of columns loads and stores them at each neighbour. Results differ by rounding only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from .._extras import require
from .tiles import CACHE_LINE

__all__ = ["fma", "item", "load_vector", "prefetch", "prefetch_item", "reduce_add", "relu_mask", "store", "zeros"]

extending = require("numba.extending", "the compiled engine")
types = require("numba.core.types", "the compiled engine")
cgutils = require("numba.core.cgutils", "the compiled engine")
ir = require("llvmlite.ir", "the compiled engine")

# Arguments of llvm.prefetch: read access, highest temporal locality, data cache.
READ, HIGH_LOCALITY, DATA = 0, 3, 1
# LLVM may contract a product and a sum to one fused instruction.
FUSED = ("contract",)


def _intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function that returns a signature and a code generator as an intrinsic; literals are types."""
    return cast("Callable[..., Any]", extending.intrinsic(prefer_literal=True)(function))


class SimdVector(types.Type):  # type: ignore[misc, name-defined]  # numba is untyped, and known at run time alone
    """The numba type of a vector of ``width`` numbers in registers."""

    def __init__(self, kind: Any, width: int) -> None:
        self.kind, self.width = kind, width
        super().__init__(name=f"SimdVector({kind}, {width})")


@extending.register_model(SimdVector)
class _SimdVectorModel(extending.models.PrimitiveModel):  # type: ignore[misc, name-defined]  # as above
    def __init__(self, models: Any, vector: SimdVector) -> None:
        super().__init__(models, vector, ir.VectorType(models[vector.kind].get_value_type(), vector.width))


def _itemsize(array: Any) -> int:
    """Return the size of an array element in bytes."""
    return int(array.dtype.bitwidth) // 8


def _address(context: Any, builder: Any, kind: Any, arguments: Any, kinds: Any) -> Any:
    """Return the address of an array element; the arguments are an array of that type and its indices."""
    array, *at = arguments
    parts = context.make_array(kind)(context, builder, array)
    shape, strides = (cgutils.unpack_tuple(builder, field) for field in (parts.shape, parts.strides))
    places = [context.cast(builder, index, given, types.intp) for index, given in zip(at, kinds, strict=True)]
    return cgutils.get_item_pointer2(context, builder, parts.data, shape, strides, kind.layout, places)


@_intrinsic
def zeros(context: Any, array: Any, width: Any) -> tuple[Any, Any]:
    """Return a zero vector of ``width`` elements of the array's dtype; widths are compile-time constants throughout."""
    vector = SimdVector(array.dtype, width.literal_value)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(vector), None)

    return vector(array, width), emit


@_intrinsic
def load_vector(context: Any, array: Any, row: Any, column: Any, width: Any) -> tuple[Any, Any]:
    """Return ``array[row, column:column + width]`` of a contiguous array as a vector."""
    vector = SimdVector(array.dtype, width.literal_value)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[:3], signature.args[1:3])
        kind = context.get_value_type(vector)
        return builder.load(builder.bitcast(address, kind.as_pointer()), align=_itemsize(array))

    return vector(array, row, column, width), emit


@_intrinsic
def store(context: Any, vector: Any, array: Any, row: Any, column: Any) -> tuple[Any, Any]:
    """Set ``array[row, column:column + width]`` of a contiguous array of the vector's dtype."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[1:], signature.args[2:])
        builder.store(arguments[0], builder.bitcast(address, arguments[0].type.as_pointer()), align=_itemsize(array))
        return context.get_dummy_value()

    return types.void(vector, array, row, column), emit


@_intrinsic
def fma(context: Any, accumulator: Any, factor: Any, values: Any) -> tuple[Any, Any]:
    """Return ``accumulator + factor * values`` in the precision of the accumulator; a scalar factor is broadcast."""
    kind = factor if isinstance(factor, SimdVector) else accumulator.kind

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, by, added = arguments
        if values.kind != accumulator.kind:
            added = builder.fpext(added, total.type)
        by = by if isinstance(kind, SimdVector) else _broadcast(builder, by, total.type)
        return builder.fadd(total, builder.fmul(by, added, flags=FUSED), flags=FUSED)

    return accumulator(accumulator, kind, values), emit


@_intrinsic
def item(context: Any, vector: Any, index: Any) -> tuple[Any, Any]:
    """Return one element of a vector."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(*arguments)

    return vector.kind(vector, types.intp), emit


@_intrinsic
def relu_mask(context: Any, vector: Any, preactivation: Any) -> tuple[Any, Any]:
    """Return ``vector`` where ``preactivation`` is positive or NaN, and zero elsewhere: the backward pass of a ReLU."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, signs = arguments
        below = builder.fcmp_ordered("<=", signs, ir.Constant(signs.type, None))
        return builder.select(below, ir.Constant(values.type, None), values)

    return vector(vector, preactivation), emit


@_intrinsic
def reduce_add(context: Any, vector: Any) -> tuple[Any, Any]:
    """Return the sum of the elements by pairwise halving; the width is a power of two."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (values,), width = arguments, vector.width
        while width > 1:
            width //= 2
            lanes = ir.VectorType(ir.IntType(32), width)
            halves = (ir.Constant(lanes, list(range(start, start + width))) for start in (0, width))
            values = builder.fadd(*(builder.shuffle_vector(values, values, half) for half in halves))
        return builder.extract_element(values, ir.IntType(32)(0))

    return vector.kind(vector), emit


def _broadcast(builder: Any, number: Any, kind: Any) -> Any:
    """Return a vector with all elements equal to a scalar."""
    index, undefined = ir.IntType(32), ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(index, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(index, kind.count), None))


@_intrinsic
def prefetch(context: Any, array: Any, row: Any, column: Any, width: Any) -> tuple[Any, Any]:
    """Prefetch ``array[row, column:column + width]``."""
    # One address per cache line, and the last element: a part that is not aligned ends in one line more.
    offsets = dict.fromkeys([*range(0, width.literal_value, CACHE_LINE // _itemsize(array)), width.literal_value - 1])

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[:3], signature.args[1:3])
        for offset in offsets:
            _prefetch(builder, builder.gep(address, [ir.IntType(64)(offset)]))
        return context.get_dummy_value()

    return types.void(array, row, column, width), emit


@_intrinsic
def prefetch_item(context: Any, array: Any, index: Any) -> tuple[Any, Any]:
    """Prefetch ``array[index]``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _prefetch(builder, _address(context, builder, array, arguments, signature.args[1:]))
        return context.get_dummy_value()

    return types.void(array, index), emit


def _prefetch(builder: Any, address: Any) -> None:
    pointer = builder.bitcast(address, ir.IntType(8).as_pointer())
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
    function = builder.module.declare_intrinsic("llvm.prefetch", (pointer.type,), kind)
    builder.call(function, [pointer, flag(READ), flag(HIGH_LOCALITY), flag(DATA)])
