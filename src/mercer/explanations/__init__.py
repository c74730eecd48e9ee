"""Why a model answers what it answers: contributions that add up to the answer, motifs, and what a row changed.

It knows functions f = Σ_i α_i k(·, x_i) + b and what kernels say of themselves; of a model it asks what it can do. No
formula of a kernel is here, and no solver.
"""
