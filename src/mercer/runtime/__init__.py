"""How work runs: on which threads, until when, and compiled. Nothing here knows what is computed."""
