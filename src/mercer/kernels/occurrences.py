Occurrences = object
