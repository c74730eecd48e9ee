"""Kernels with few features that stand for others: what is learnt with them costs n·m, not n².

``nystrom`` takes the values with some of the samples, for any data; ``random_features`` random frequencies,
``sketches`` sketches of products, ``homogeneous`` sampled spectra. How a kernel is sampled stands with that kernel;
here is what is made of it. Each is a kernel as any other: it adds, multiplies, prints, and is fixed by ``bind``.
"""
