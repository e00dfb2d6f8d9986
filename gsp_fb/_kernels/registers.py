"""Sums of rows that stay in the processor's registers until they are whole.

The loops that numba compiles load and store the sum anew for every few rows that are added to it; without that the
product of a bag of words and its weights takes about six tenths of the time.
"""

# ruff: noqa: PLR0917  # as in the loops: plain arrays, one argument each

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._extras import require

__all__ = ["VECTOR_BYTES", "add_rows_1", "add_rows_4"]

extending = require("numba.extending", "the compiled engine")
types = require("numba.core.types", "the compiled engine")
cgutils = require("numba.core.cgutils", "the compiled engine")
ir = require("llvmlite.ir", "the compiled engine")

# The widest registers there are; where they are narrower, the compiler takes several.
VECTOR_BYTES = 64
# A product and a sum may become one instruction.
FUSED = ("contract",)


def _adder(n_vectors: int) -> Callable[..., Any]:
    """Return ``add(total, column, dense, places, factors, n)`` for so many vectors of columns.

    It adds ``sum_p factors[p] * dense[places[p]]`` over p < n to ``total``, from ``column`` on. The arrays are
    contiguous and of one precision; nothing checks that the columns are there.
    """

    def add_rows(
        context: Any, total: Any, column: Any, dense: Any, places: Any, factors: Any, n: Any
    ) -> tuple[Any, Any]:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _emit(n_vectors, context, builder, signature, arguments)

        return types.void(total, types.intp, dense, places, factors, types.intp), emit

    return extending.intrinsic(add_rows)  # type: ignore[no-any-return]  # numba is untyped


def _emit(n_vectors: int, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kinds = signature.args
    total, dense, places, factors = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 2, 3, 4))
    column, n = arguments[1], arguments[5]
    number = context.get_value_type(kinds[0].dtype)
    itemsize = context.get_abi_sizeof(number)
    lanes = VECTOR_BYTES // itemsize
    vector = ir.VectorType(number, lanes)

    def at(row: Any, k: int) -> Any:
        place = builder.gep(row, [context.get_constant(types.intp, k * lanes)])
        return builder.bitcast(place, vector.as_pointer())

    own = builder.gep(total.data, [column])
    width = cgutils.unpack_tuple(builder, dense.shape)[1]
    sums = [cgutils.alloca_once(builder, vector) for _ in range(n_vectors)]
    for k, each in enumerate(sums):
        builder.store(builder.load(at(own, k), align=itemsize), each)
    with cgutils.for_range(builder, n) as loop:
        place = context.cast(builder, builder.load(builder.gep(places.data, [loop.index])), kinds[3].dtype, types.intp)
        row = builder.gep(dense.data, [builder.add(builder.mul(place, width), column)])
        factor = _repeated(builder, builder.load(builder.gep(factors.data, [loop.index])), lanes)
        for k, each in enumerate(sums):
            product = builder.fmul(factor, builder.load(at(row, k), align=itemsize), flags=FUSED)
            builder.store(builder.fadd(builder.load(each), product, flags=FUSED), each)
    for k, each in enumerate(sums):
        builder.store(builder.load(each), at(own, k), align=itemsize)
    return context.get_dummy_value()


def _repeated(builder: Any, number: Any, lanes: int) -> Any:
    """Return a vector of one number."""
    empty = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
    index = ir.IntType(32)
    first = builder.insert_element(empty, number, index(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(index, lanes), [0] * lanes))


add_rows_1, add_rows_4 = _adder(1), _adder(4)
