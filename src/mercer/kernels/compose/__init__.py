"""Kernels made from kernels: algebra, feature space, inputs, parts; and from models of the data."""
