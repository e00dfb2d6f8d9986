"""Eight neighbouring numbers as one value of compiled code, held in a vector register.

The compiler makes vectors of long loops alone; what has eight columns, as a head of attention has, it adds one by one.
"""

from __future__ import annotations

from typing import Any

from .._extras import require

__all__ = ["LANES", "load", "multiply_add", "store", "total", "zeros"]

extending = require("numba.extending", "the compiled engine")
types = require("numba.core.types", "the compiled engine")
cgutils = require("numba.core.cgutils", "the compiled engine")
ir = require("llvmlite.ir", "the compiled engine")

LANES = 8


class _Lanes(types.Type):  # type: ignore[misc,name-defined]  # numba is untyped, and known at run time alone
    """The type of eight numbers of one floating type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@extending.register_model(_Lanes)
class _Model(extending.models.PrimitiveModel):  # type: ignore[misc,name-defined]  # as above
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(manager[kind.dtype].get_value_type(), LANES))


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return where the first of the lanes ``array[i, s, q, :]`` is."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    shape, strides = (cgutils.unpack_tuple(builder, field) for field in (array.shape, array.strides))
    at = [
        context.cast(builder, index, given, types.intp)
        for index, given in zip(arguments[1:4], signature.args[1:4], strict=True)
    ]
    first = [*at, context.get_constant(types.intp, 0)]
    pointer = cgutils.get_item_pointer2(context, builder, array.data, shape, strides, kind.layout, first)
    return builder.bitcast(pointer, context.get_value_type(_Lanes(kind.dtype)).as_pointer())


def _load(context: Any, array: Any, i: Any, s: Any, q: Any) -> tuple[Any, Any]:
    """Return ``array[i, s, q, :]``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # Aligned as its numbers are: NumPy promises no more.
        return builder.load(_address(context, builder, signature, arguments), align=array.dtype.bitwidth // 8)

    return _Lanes(array.dtype)(array, i, s, q), emit


def _store(context: Any, array: Any, i: Any, s: Any, q: Any, lanes: Any) -> tuple[Any, Any]:  # noqa: PLR0917  # numba passes what compiled code does, by position
    """Set ``array[i, s, q, :]``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[4], _address(context, builder, signature, arguments), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, i, s, q, lanes), emit


def _zeros(context: Any, array: Any) -> tuple[Any, Any]:
    """Return lanes of zeros, of the array's type."""
    kind = _Lanes(array.dtype)
    return kind(array), lambda context, builder, signature, arguments: context.get_constant_null(kind)


def _multiply_add(context: Any, given: Any, factor: Any, lanes: Any) -> tuple[Any, Any]:
    """Return ``given + factor * lanes``; the factor is one number or lanes itself."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        addend, times, values = arguments
        if not isinstance(factor, _Lanes):
            one = context.cast(builder, times, factor, lanes.dtype)
            alone = builder.insert_element(ir.Constant(values.type, ir.Undefined), one, ir.IntType(32)(0))
            times = builder.shuffle_vector(alone, alone, _order([0] * LANES))
        kind, name = ir.FunctionType(values.type, [values.type] * 3), f"llvm.fmuladd.v{LANES}f{lanes.dtype.bitwidth}"
        return builder.call(builder.module.declare_intrinsic(name, (), kind), [times, values, addend])

    return lanes(given, factor, lanes), emit


def _order(places: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)


def _total(context: Any, lanes: Any) -> tuple[Any, Any]:
    """Return the sum of the lanes: halves are added until one number is left."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (values,), width = arguments, LANES
        while width > 1:
            width //= 2
            low, high = (
                builder.shuffle_vector(values, values, _order([start + k for k in range(width)]))
                for start in (0, width)
            )
            values = builder.fadd(low, high)
        return builder.extract_element(values, ir.IntType(32)(0))

    return lanes.dtype(lanes), emit


load, store, zeros, multiply_add, total = (
    extending.intrinsic(part) for part in (_load, _store, _zeros, _multiply_add, _total)
)
