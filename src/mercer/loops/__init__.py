"""Compiled loops over structured data. Imported when first used: Numba takes a second to load."""
