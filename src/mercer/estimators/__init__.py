"""What users fit: scikit-learn's contract over any kernel and any data."""
