"""Kernels between rows of numbers."""
