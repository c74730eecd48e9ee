"""Tables and models on disk: what comes from outside is doubted before it is believed. What the columns of a table mean
is decided elsewhere.

Of tables ``readers`` is the door, ``delimited``, ``fasta``, ``fastq``, ``svmlight``, ``parquet`` and ``npz`` are the
kinds of files, ``places`` tells them apart by name, ``text`` reads characters. Of models ``persistence`` is the
file, ``plain`` the form of what is in it; ``libsvm`` is the text of libsvm's models, ``libsvm_machines`` what they
mean, ``onnx`` writes graphs.
"""
