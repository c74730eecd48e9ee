"""Kernels with finitely many features that approximate others: random frequencies, sketches of products, sampled
spectra. How a kernel is sampled stands with that kernel; here is what is made of it.
"""
