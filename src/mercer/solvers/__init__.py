"""Algorithms for the problems of ``mercer.problems``. They see a Gram matrix and nothing of data."""
