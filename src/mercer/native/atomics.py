"""Numbers that threads share inside compiled loops: read, written, claimed and counted without a lock.

``flags`` is an array of int64; ``place`` an index into it. Places that different threads write should stand in
different cache lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing import Signature


def _pointer(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
    return builder.gep(target.make_array(sig.args[0])(target, builder, values[0]).data, [values[1]])


@intrinsic
def read(context, flags, place):  # type: ignore[no-untyped-def]  # Numba reads the signature
    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        return builder.load_atomic(_pointer(target, builder, sig, values), "acquire", 8)

    return types.int64(flags, types.intp), code


@intrinsic
def write(context, flags, place, value):  # type: ignore[no-untyped-def]
    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        builder.store_atomic(values[2], _pointer(target, builder, sig, values), "release", 8)
        return target.get_dummy_value()

    return types.void(flags, types.intp, types.int64), code


@intrinsic
def claim(context, flags, place, job):  # type: ignore[no-untyped-def]
    """Whether this thread is the first to raise the number there from job − 1 to job."""

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        before = builder.sub(values[2], ir.Constant(ir.IntType(64), 1))
        return builder.extract_value(
            builder.cmpxchg(_pointer(target, builder, sig, values), before, values[2], "acq_rel", "acquire"), 1
        )

    return types.boolean(flags, types.intp, types.int64), code


@intrinsic
def count(context, flags, place):  # type: ignore[no-untyped-def]
    """The number there, which is one more afterwards: each thread gets another."""

    def code(target: BaseContext, builder: ir.IRBuilder, sig: Signature, values: Sequence[ir.Value]) -> Any:
        return builder.atomic_rmw(
            "add", _pointer(target, builder, sig, values), ir.Constant(ir.IntType(64), 1), "acq_rel"
        )

    return types.int64(flags, types.intp), code
