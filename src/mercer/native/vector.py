"""Vector code: the operations of formulas as LLVM instructions on whole registers.

Numba's own vectoriser stops at 256 bits and knows no vector ``exp``; instructions written on ``<16 x float>`` values
are what a hand-written kernel would use, and LLVM fits them to whatever the machine has (AVX-512, AVX2, NEON).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils

_INT32 = ir.IntType(32)

# exp(r) = 1 + r + r² P(r) on |r| ≤ ln 2/2, and log((1+s)/(1−s)) = 2s + s³ Q(s²) on s ≤ 3 − 2√2: Chebyshev interpolants,
# found with 60 digits; relative errors of exp and log below 1e-8 (float32) and 1e-17 (float64).
_EXP = {
    "float32": (0.5, 0.16666576666119928, 0.04166655421298415, 0.008363232883682618, 0.0013926250831497611),
    "float64": (
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333326084,
        0.0013888888888883711,
        0.0001984126987500228,
        2.480158732567746e-05,
        2.755725517000089e-06,
        2.755727347871858e-07,
        2.5105312729622103e-08,
        2.09147553258932e-09,
    ),
}
_LOG = {
    "float32": (0.6666666655404201, 0.4000012221181065, 0.28550778633191964, 0.23331614471843498),
    "float64": (
        0.6666666666666666,
        0.40000000000000885,
        0.28571428570799784,
        0.22222222392581045,
        0.18181795547521137,
        0.15386244737621665,
        0.13268638369266825,
        0.13088034850927555,
    ),
}
# ln 2 in two parts: the first has so few digits that n·ln 2 is exact for every exponent n
_LN2 = {"float32": (0.693359375, -2.12194440e-4), "float64": (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
# At these ends the exponent n of 2^n is one beyond the normal ones: its bits are those of 0 and of infinity.
_EXP_RANGE = {"float32": (-88.0, 89.0), "float64": (-709.0, 710.0)}
_LOG2_E = 1.4426950408889634


@cache
def register_bytes() -> int:
    """The width of the machine's widest vector registers."""
    features = binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx") else 16


class Vector:
    """One vector register of floats, and what can be done with it at the builder's position."""

    def __init__(self, builder: ir.IRBuilder, dtype: np.dtype[Any]) -> None:
        self.b, self.dtype = builder, dtype
        self.lanes = register_bytes() // dtype.itemsize
        self.scalar, self.bits = (ir.FloatType(), 32) if dtype.itemsize == 4 else (ir.DoubleType(), 64)
        self.mantissa, self.bias = (23, 127) if dtype.itemsize == 4 else (52, 1023)
        self.type = ir.VectorType(self.scalar, self.lanes)
        self.int_type = ir.VectorType(ir.IntType(self.bits), self.lanes)
        self._constants: dict[str, Any] = {}

    # -- constants and memory ----------------------------------------------------------------------------------------

    def constant(self, value: float) -> Any:
        """The same object for the same value: writing out its lanes takes longer than all else that is done with it."""
        number = float(self.dtype.type(value))
        name = repr(number)  # not the number: −0 is equal to 0
        if name not in self._constants:
            self._constants[name] = ir.Constant(self.type, [number] * self.lanes)
        return self._constants[name]

    def integer(self, value: int) -> Any:
        return ir.Constant(self.int_type, [value] * self.lanes)

    def splat(self, x: ir.Value) -> Any:
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.b.insert_element(undefined, x, ir.Constant(_INT32, 0))
        return self.b.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, self.lanes), [0] * self.lanes))

    def load(self, pointer: ir.Value) -> Any:
        value = self.b.load(self.b.bitcast(pointer, self.type.as_pointer()))
        value.align = self.dtype.itemsize
        return value

    def store(self, value: ir.Value, pointer: ir.Value, *, stream: bool = False) -> None:
        """``stream`` past the cache: for results too large to be read back soon; the pointer must be aligned to the
        register.
        """
        instruction = self.b.store(value, self.b.bitcast(pointer, self.type.as_pointer()))
        instruction.align = register_bytes() if stream else self.dtype.itemsize
        if stream:
            instruction.set_metadata("nontemporal", self.b.module.add_metadata([ir.Constant(_INT32, 1)]))

    def prefetch(self, pointer: ir.Value) -> None:
        """Ask for a cache line; an address that is not there does no harm."""
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(self.b.module, kind, "llvm.prefetch.p0")
        self.b.call(
            function,
            [self.b.bitcast(pointer, ir.IntType(8).as_pointer()), *(ir.Constant(_INT32, k) for k in (0, 3, 1))],
        )

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def _call(self, name: str, *args: ir.Value) -> Any:
        suffix = f"v{self.lanes}f{self.bits}"
        function = cgutils.get_or_insert_function(
            self.b.module, ir.FunctionType(self.type, [self.type] * len(args)), f"llvm.{name}.{suffix}"
        )
        return self.b.call(function, args)

    def fma(self, x: ir.Value, y: ir.Value, z: ir.Value) -> Any:
        return self._call("fma", x, y, z)

    def add(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fadd(x, y)

    def subtract(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fsub(x, y)

    def multiply(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fmul(x, y)

    def divide(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.fdiv(x, y)

    def negative(self, x: ir.Value) -> Any:
        return self.b.fneg(x)

    def absolute(self, x: ir.Value) -> Any:
        return self._call("fabs", x)

    def sqrt(self, x: ir.Value) -> Any:
        return self._call("sqrt", x)

    def minimum(self, x: ir.Value, y: ir.Value) -> Any:
        """NaN if either is, as in NumPy: a comparison with NaN is unordered and takes x; where y alone is NaN, the
        second select takes y.
        """
        return self._or_nan(y, self.b.select(self.b.fcmp_unordered("<", x, y), x, y))

    def maximum(self, x: ir.Value, y: ir.Value) -> Any:
        return self._or_nan(y, self.b.select(self.b.fcmp_unordered(">", x, y), x, y))

    def _or_nan(self, x: ir.Value, otherwise: ir.Value) -> Any:
        return self.b.select(self.b.fcmp_unordered("uno", x, x), x, otherwise)

    def transposed(self, rows: list[ir.Value]) -> list[Any]:
        """A square of registers with rows and columns exchanged, in log₂ n rounds of exchanging halves."""
        n = self.lanes
        stride = 1
        while stride < n:
            low = [lane if not lane & stride else n + lane - stride for lane in range(n)]
            high = [lane + stride if not lane & stride else n + lane for lane in range(n)]
            masks = [ir.Constant(ir.VectorType(_INT32, n), m) for m in (low, high)]
            pairs = [(i, i + stride) for i in range(n) if not i & stride]
            for i, j in pairs:
                a, b = rows[i], rows[j]
                rows[i], rows[j] = (self.b.shuffle_vector(a, b, mask) for mask in masks)
            stride *= 2
        return rows

    # Conditions are kept as 1.0 and 0.0, like every other value of a formula.
    def greater(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.select(self.b.fcmp_ordered(">", x, y), self.constant(1), self.constant(0))

    def equal(self, x: ir.Value, y: ir.Value) -> Any:
        return self.b.select(self.b.fcmp_ordered("==", x, y), self.constant(1), self.constant(0))

    def where(self, condition: ir.Value, x: ir.Value, y: ir.Value) -> Any:
        return self.b.select(self.b.fcmp_unordered("!=", condition, self.constant(0)), x, y)

    def least(self, x: ir.Value, y: ir.Value) -> Any:
        """The smaller of two, one instruction; NaN in x is passed over."""
        return self.b.select(self.b.fcmp_ordered("<", x, y), x, y)

    def any_less(self, x: ir.Value, y: ir.Value) -> Any:
        """One bit: whether x < y in some lane."""
        mask = self.b.bitcast(self.b.fcmp_ordered("<", x, y), ir.IntType(self.lanes))
        return self.b.icmp_unsigned("!=", mask, ir.Constant(ir.IntType(self.lanes), 0))

    # -- elementary functions ----------------------------------------------------------------------------------------

    def _polynomial(self, coefficients: tuple[float, ...], x: ir.Value) -> Any:
        out = self.constant(coefficients[-1])
        for c in coefficients[-2::-1]:
            out = self.fma(out, x, self.constant(c))
        return out

    def _rounded(self, shifted: ir.Value) -> tuple[Any, Any]:
        """n and 2^n from y + _shift: the sum has no digits after the point, and n + bias in its last bits, which are
        2^n's exponent.
        """
        n = self.b.fsub(shifted, self.constant(self._shift))
        return n, self.b.bitcast(
            self.b.shl(self.b.bitcast(shifted, self.int_type), self.integer(self.mantissa)), self.type
        )

    @property
    def _shift(self) -> float:
        return 1.5 * 2.0**self.mantissa + self.bias

    def _exp_parts(self, x: ir.Value) -> tuple[Any, Any]:
        """2^n and r with x = n ln 2 + r, |r| ≤ ln 2/2; x within range."""
        n, scale = self._rounded(self.fma(x, self.constant(_LOG2_E), self.constant(self._shift)))
        high, low = _LN2[self.dtype.name]
        return scale, self.fma(n, self.constant(-low), self.fma(n, self.constant(-high), x))

    def _clamped(self, x: ir.Value, low: float, high: float) -> Any:
        """x within bounds; NaN stays NaN, since it compares false and x is what is kept then."""
        lower, upper = self.constant(low), self.constant(high)
        x = self.b.select(self.b.fcmp_ordered("<", x, lower), lower, x)
        return self.b.select(self.b.fcmp_ordered(">", x, upper), upper, x)

    def exp(self, x: ir.Value) -> Any:
        """0 below the range and infinite above, as 2^n is there: multiplied, not added to, it stays so."""
        scale, r = self._exp_parts(self._clamped(x, *_EXP_RANGE[self.dtype.name]))
        return self.b.fmul(scale, self._polynomial((1.0, 1.0, *_EXP[self.dtype.name]), r))

    def exp_scaled(self, c: ir.Value, x: ir.Value) -> Any:
        """exp(c x) as 2^y with y = (c log₂ e)·x: rounded once, as c x is, and cheaper than the product and its exp."""
        y = self._clamped(self.b.fmul(self.b.fmul(c, self.constant(_LOG2_E)), x), -self.bias, self.bias + 1)
        n, scale = self._rounded(self.b.fadd(y, self.constant(self._shift)))
        powers = tuple(a * np.log(2.0) ** k for k, a in enumerate((1.0, 1.0, *_EXP[self.dtype.name])))
        return self.b.fmul(scale, self._polynomial(powers, self.b.fsub(y, n)))

    def tanh(self, x: ir.Value) -> Any:
        """e/(e + 2) with e = exp(2x) − 1, which keeps all digits near 0; beyond |x| = 20 it is ±1 to the last bit."""
        clipped = self._clamped(x, -20.0, 20.0)
        scale, r = self._exp_parts(self.b.fadd(clipped, clipped))
        expm1 = self.fma(self._polynomial(_EXP[self.dtype.name], r), self.b.fmul(r, r), r)
        e = self.fma(scale, expm1, self.b.fsub(scale, self.constant(1)))
        return self.b.fdiv(e, self.b.fadd(e, self.constant(2)))

    def log(self, x: ir.Value) -> Any:
        """n ln 2 + log m with x = 2^n m, √½ ≤ m < √2; −∞ at 0, NaN below."""
        name = self.dtype.name
        # numbers too small for a full mantissa are scaled up first
        tiny = self.b.fcmp_ordered("<", x, self.constant(2.0 ** (2 - self.bias)))
        lift = self.mantissa + 2
        scaled = self.b.select(tiny, self.b.fmul(x, self.constant(2.0**lift)), x)
        bits = self.b.bitcast(scaled, self.int_type)
        root_half = int(np.array(np.sqrt(0.5), self.dtype).view(f"i{self.dtype.itemsize}"))
        shifted = self.b.sub(bits, self.integer(root_half))
        n = self.b.ashr(shifted, self.integer(self.mantissa))
        m = self.b.bitcast(self.b.sub(bits, self.b.shl(n, self.integer(self.mantissa))), self.type)
        n = self.b.sub(n, self.b.select(tiny, self.integer(lift), self.integer(0)))
        s = self.b.fdiv(self.b.fsub(m, self.constant(1)), self.b.fadd(m, self.constant(1)))
        w = self.b.fmul(s, s)
        tail = self.b.fmul(self.b.fmul(self._polynomial(_LOG[name], w), w), s)
        high, low = _LN2[name]
        nf = self.b.sitofp(n, self.type)
        out = self.fma(nf, self.constant(high), self.b.fadd(self.fma(nf, self.constant(low), tail), self.b.fadd(s, s)))
        infinite = self.constant(float("inf"))
        out = self.b.select(self.b.fcmp_ordered("==", x, self.constant(0)), self.constant(float("-inf")), out)
        out = self.b.select(self.b.fcmp_ordered("==", x, infinite), infinite, out)
        return self.b.select(self.b.fcmp_unordered("<", x, self.constant(0)), self.constant(float("nan")), out)
