"""Mercer: kernel methods as one coherent system.

Names are loaded when first used, so that ``import mercer`` is quick; ``__init__.pyi`` beside this file lists them.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
