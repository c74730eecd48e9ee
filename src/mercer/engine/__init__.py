"""One traced formula, computed tile by tile: ``expression`` records it, ``tiles`` evaluates it with NumPy or torch."""
