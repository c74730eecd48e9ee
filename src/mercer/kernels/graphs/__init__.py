"""Kernels between graphs, molecules, trees and sets, and between the vertices of one graph."""
