"""Two things of the processor numba has no name for: asking the memory for a line early, and rows in registers.

A product with an arbitrarily numbered graph reads rows at random, and the processor alone keeps too few of those
reads in flight; asking some neighbours ahead hides the memory's latency. A row that is in the cache costs what the
instructions cost: sums of a fixed number of columns stay in registers from the first neighbour to the last, where
those of a loop over any number of columns go to memory and back at every neighbour. Results differ by rounding at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from .._extras import require
from .compiling import CACHE_LINE

__all__ = ["fma", "load", "prefetch", "prefetch_item", "reduce_add", "relu_mask", "store", "zeros"]

extending = require("numba.extending", "the compiled engine")
types = require("numba.core.types", "the compiled engine")
cgutils = require("numba.core.cgutils", "the compiled engine")
ir = require("llvmlite.ir", "the compiled engine")

READ, KEEP_IN_ALL_CACHES, DATA = 0, 3, 1
# A product and a sum may become one instruction.
FUSED = ("contract",)


def _intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an instruction of a function that returns its types and what emits it; numbers in the code are types too."""
    return cast("Callable[..., Any]", extending.intrinsic(prefer_literal=True)(function))


class SimdVector(types.Type):  # type: ignore[misc, name-defined]  # numba is untyped, and known at run time alone
    """The numba type of ``width`` numbers side by side in registers."""

    def __init__(self, kind: Any, width: int) -> None:
        self.kind, self.width = kind, width
        super().__init__(name=f"SimdVector({kind}, {width})")


@extending.register_model(SimdVector)
class _SimdVectorModel(extending.models.PrimitiveModel):  # type: ignore[misc, name-defined]  # as above
    def __init__(self, models: Any, lanes: SimdVector) -> None:
        super().__init__(models, lanes, ir.VectorType(models[lanes.kind].get_value_type(), lanes.width))


def _item(array: Any) -> int:
    """Return the bytes of a number."""
    return int(array.dtype.bitwidth) // 8


def _address(context: Any, builder: Any, kind: Any, arguments: Any, kinds: Any) -> Any:
    """Return the address of an item; the arguments are an array of that kind and the places on its axes."""
    array, *at = arguments
    parts = context.make_array(kind)(context, builder, array)
    shape, strides = (cgutils.unpack_tuple(builder, field) for field in (parts.shape, parts.strides))
    places = [context.cast(builder, index, given, types.intp) for index, given in zip(at, kinds, strict=True)]
    return cgutils.get_item_pointer2(context, builder, parts.data, shape, strides, kind.layout, places)


@_intrinsic
def zeros(context: Any, array: Any, width: Any) -> tuple[Any, Any]:
    """Return ``width`` zeros of the array's kind in registers; a width is a constant, here and below."""
    lanes = SimdVector(array.dtype, width.literal_value)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(array, width), emit


@_intrinsic
def load(context: Any, array: Any, row: Any, column: Any, width: Any) -> tuple[Any, Any]:
    """Return ``array[row, column:column + width]`` of a contiguous array."""
    lanes = SimdVector(array.dtype, width.literal_value)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[:3], signature.args[1:3])
        kind = context.get_value_type(lanes)
        return builder.load(builder.bitcast(address, kind.as_pointer()), align=_item(array))

    return lanes(array, row, column, width), emit


@_intrinsic
def store(context: Any, lanes: Any, array: Any, row: Any, column: Any) -> tuple[Any, Any]:
    """Set ``array[row, column:column + width]`` of a contiguous array of the lanes' kind."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[1:], signature.args[2:])
        builder.store(arguments[0], builder.bitcast(address, arguments[0].type.as_pointer()), align=_item(array))
        return context.get_dummy_value()

    return types.void(lanes, array, row, column), emit


@_intrinsic
def fma(context: Any, lanes: Any, factor: Any, others: Any) -> tuple[Any, Any]:
    """Return ``lanes + factor * others`` in the precision of the lanes; the factor is one number or lanes as well."""
    kind = factor if isinstance(factor, SimdVector) else lanes.kind

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, factor, values = arguments
        if others.kind != lanes.kind:
            values = builder.fpext(values, total.type)
        factor = factor if isinstance(kind, SimdVector) else _spread(builder, factor, total.type)
        return builder.fadd(total, builder.fmul(factor, values, flags=FUSED), flags=FUSED)

    return lanes(lanes, kind, others), emit


@_intrinsic
def relu_mask(context: Any, lanes: Any, others: Any) -> tuple[Any, Any]:
    """Return the lanes where ``others`` are positive or not a number, and zero elsewhere."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, signs = arguments
        below = builder.fcmp_ordered("<=", signs, ir.Constant(signs.type, None))
        return builder.select(below, ir.Constant(values.type, None), values)

    return lanes(lanes, others), emit


@_intrinsic
def reduce_add(context: Any, lanes: Any) -> tuple[Any, Any]:
    """Return the sum of the lanes, whose number is a power of two: halves are added until one number is left."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (values,), width = arguments, lanes.width
        while width > 1:
            width //= 2
            low, high = (builder.shuffle_vector(values, values, _places(start, width)) for start in (0, width))
            values = builder.fadd(low, high)
        return builder.extract_element(values, ir.IntType(32)(0))

    return lanes.kind(lanes), emit


def _places(start: int, width: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(start, start + width)))


def _spread(builder: Any, number: Any, kind: Any) -> Any:
    """Return one number in all lanes."""
    count, nothing = ir.IntType(32), ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(count, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(count, kind.count), None))


@_intrinsic
def prefetch(context: Any, array: Any, row: Any, column: Any, width: Any) -> tuple[Any, Any]:
    """Ask the memory for ``array[row, column:column + width]``, which will be loaded some time later."""
    # A part that does not begin with a line ends in one more.
    places = dict.fromkeys([*range(0, width.literal_value, CACHE_LINE // _item(array)), width.literal_value - 1])

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[:3], signature.args[1:3])
        for place in places:
            _prefetch(builder, builder.gep(address, [ir.IntType(64)(place)]))
        return context.get_dummy_value()

    return types.void(array, row, column, width), emit


@_intrinsic
def prefetch_item(context: Any, array: Any, place: Any) -> tuple[Any, Any]:
    """Ask the memory for ``array[place]``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _prefetch(builder, _address(context, builder, array, arguments, signature.args[1:]))
        return context.get_dummy_value()

    return types.void(array, place), emit


def _prefetch(builder: Any, address: Any) -> None:
    pointer = builder.bitcast(address, ir.IntType(8).as_pointer())
    flag = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
    function = builder.module.declare_intrinsic("llvm.prefetch", (pointer.type,), kind)
    builder.call(function, [pointer, flag(READ), flag(KEEP_IN_ALL_CACHES), flag(DATA)])
