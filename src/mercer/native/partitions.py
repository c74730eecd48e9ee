"""The cells of rows in trees of thresholds."""

from mercer.runtime import compiling


@compiling.jit
def cells(X, feature, threshold, left, right, roots, out):  # type: ignore[no-untyped-def]
    """out[i, t] is the cell that row i falls into in tree t, counted from the root of the tree: right where column
    ``feature`` of the row exceeds ``threshold``, and so on until a cell is not divided (−1).
    """
    for t in range(len(roots)):  # a tree stays in the cache while rows pass
        for i in range(X.shape[0]):
            cell = roots[t]
            while feature[cell] >= 0:
                cell = left[cell] if X[i, feature[cell]] <= threshold[cell] else right[cell]
            out[i, t] = cell - roots[t]
