"""Reports: what is known of a fitted model as one HTML file that a person reads, offline, light and dark, on paper.

``blocks`` are what a page is made of, ``page`` writes them as HTML, ``figures`` draws pictures as vectors into it,
``items`` shows one sample as what it is. ``quality``, ``similarity`` and ``machines`` say what is known: how good the
answers are, what the kernel makes of the samples, and how the machine was found. Nothing is learnt here; who has
findings of its own (a model of a table) makes its page from the same blocks.
"""
