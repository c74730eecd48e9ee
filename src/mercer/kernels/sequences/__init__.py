"""Kernels between sequences: words, gaps, mismatches, alignments; what their features are and how they are counted."""
