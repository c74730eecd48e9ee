"""Kernels between sets of vectors: point clouds, samples of distributions, persistence diagrams, images as patches."""
