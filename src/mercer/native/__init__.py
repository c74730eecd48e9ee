"""Machine code: registers, shared numbers, LAPACK, factorisations in place, and compiled loops over structured data.

The loops are imported when first used: Numba takes a second to load. What they compute is said by the kernels that call
them.
"""
