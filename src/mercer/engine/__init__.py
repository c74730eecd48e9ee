"""One traced formula, computed tile by tile: ``expression`` records it, ``tiles`` evaluates it with NumPy or torch.
``onnx`` evaluates it on arrays that are not there yet (``recorded``), which writes it down as operators.
"""
