"""scikit-learn's own tests, run against Mercer: ``python -m tests.peers`` prints what passes and what does not, and
why.
"""
