"""Σ min of sparse rows with sorted columns."""

from mercer.runtime import compiling


@compiling.jit
def minima(indptr, indices, data, other_indptr, other_indices, other_data, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            a, a_end, b, b_end = indptr[i], indptr[i + 1], other_indptr[j], other_indptr[j + 1]
            total = 0.0
            while a < a_end and b < b_end:
                if indices[a] < other_indices[b]:
                    a += 1
                elif indices[a] > other_indices[b]:
                    b += 1
                else:
                    total += min(data[a], other_data[b])
                    a += 1
                    b += 1
            out[i, j] = total
