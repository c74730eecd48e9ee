"""Tests of hypotheses about distributions, by kernels."""
