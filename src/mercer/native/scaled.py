"""Numbers that no float could hold, as m·2^(512 e): m near 1 as far as powers of 2^512 bring it there."""

from mercer.runtime import compiling

UNIT = 512
_BIG, _SMALL = 2.0**256, 2.0**-256
_UP, _DOWN = 2.0**512, 2.0**-512


@compiling.jit
def in_range(m, e):  # type: ignore[no-untyped-def]
    """The same number with |m| from 2^−256 to 2^256; 0 has e = 0."""
    if m == 0.0:
        return 0.0, 0
    while m > _BIG:
        m *= _DOWN
        e += 1
    while m < _SMALL:
        m *= _UP
        e -= 1
    return m, e


@compiling.jit
def plus(a, p, b, q):  # type: ignore[no-untyped-def]
    """a·2^(512 p) + b·2^(512 q), of numbers of at least 0 in range."""
    if p == q:
        return in_range(a + b, p)
    if a == 0.0 or (q > p and b != 0.0):
        a, p, b, q = b, q, a, p
    if b == 0.0 or p - q > 1:
        return a, p
    return in_range(a + b * _DOWN, p)
