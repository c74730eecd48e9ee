"""A x = b for a small positive definite A, by LAPACK, from compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Signature


@intrinsic
def solve_positive(context, routine, A, n, b):  # type: ignore[no-untyped-def]  # Numba reads the signature
    """A ← its Cholesky factor, b ← A^−1 b in float64; LAPACK's ``info``, 0 where A is positive definite.

    ``routine`` is ``lapack.address("dposv")``; it is an argument, since an address must not be kept with the code. A is
    flat, n rows of n, of which the upper triangle is read: to LAPACK, which counts by columns, that is the lower one.
    """

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, args: Sequence[ir.Value]) -> Any:
        address, matrix, count, right = args
        data = [
            target.make_array(kind)(target, builder, value).data
            for kind, value in ((sig.args[1], matrix), (sig.args[3], right))
        ]
        number = ir.IntType(32)

        def place(value: ir.Value) -> Any:
            return cgutils.alloca_once_value(builder, value)

        rows = place(builder.trunc(count, number))
        one, info, lower = place(number(1)), place(number(0)), place(ir.IntType(8)(ord("L")))
        given = [lower, rows, one, data[0], rows, data[1], rows, info]
        signature = ir.FunctionType(ir.VoidType(), [x.type for x in given])
        builder.call(builder.inttoptr(address, signature.as_pointer()), given)
        return builder.sext(builder.load(info), ir.IntType(64))

    return types.int64(types.int64, A, types.int64, b), code
