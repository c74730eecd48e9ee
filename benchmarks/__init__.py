"""One file per promise; each prints a short table of ratios to its peers, measured in one interleaved run."""
