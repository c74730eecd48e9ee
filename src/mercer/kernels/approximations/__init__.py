"""Kernels that stand for another and have few features: what is learnt with them costs n·m, not n².

``nystrom`` has the values with some of the samples. Each is a kernel as any other: it adds, multiplies, prints, and is
fixed by ``bind``.
"""
