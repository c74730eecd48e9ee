"""Choosing the model without waste: cross-validation over shared Grams, gradients of criteria, bounds, intervals."""
