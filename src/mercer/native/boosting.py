"""One tree of thresholds by histograms: columns as codes of their bins, what is left of the targets summed by bin."""

import numpy as np

from mercer.runtime import compiling

BINS = 256  # of a column, at most: a code is a byte


@compiling.jit
def tree(codes, left_over, weights, rows, drawn, least, feature, cut, left, right, value):  # type: ignore[no-untyped-def]
    """Grow a tree on ``rows``, which are put in another order, and return how many cells it has.

    The leaf whose division makes Σ w‖r − mean‖² least is divided next, until the arrays are full or nothing is gained.
    Cell c may be divided by the columns drawn[c]: its rows with a code up to cut[c] in column feature[c] (−1 in a leaf)
    are those of cell left[c], and value[c] is the weighted mean of what was left over. A leaf keeps ``least`` rows.
    """
    outputs, most = left_over.shape[1], len(feature)
    start, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
    gain, by = np.zeros(most), np.zeros(most, np.int64)  # of the best division of each leaf, and its column
    heavy, many, sums = np.zeros(BINS), np.zeros(BINS, np.int64), np.zeros((BINS, outputs))
    total, part = np.empty(outputs), np.empty(outputs)
    other = np.empty(len(rows), rows.dtype)
    end[0], cells = len(rows), 1
    fresh = 0  # the first cell that was not looked at
    while True:
        for c in range(fresh, cells):
            weight = _sum(left_over, weights, rows[start[c] : end[c]], total)
            for q in range(outputs):
                value[c, q] = total[q] / weight if weight > 0 else 0.0
            feature[c], left[c], right[c] = -1, -1, -1
            gain[c], by[c], cut[c] = _division(
                codes, left_over, weights, rows[start[c] : end[c]], drawn[c], least, weight, total, heavy, many, sums,
                part,
            )  # fmt: skip
        best = np.argmax(gain[:cells])
        if gain[best] <= 0 or cells + 2 > most:
            break
        fresh = cells
        feature[best], left[best], right[best] = by[best], cells, cells + 1
        middle = _divide(codes[by[best]], cut[best], rows[start[best] : end[best]], other) + start[best]
        start[cells], end[cells], start[cells + 1], end[cells + 1] = start[best], middle, middle, end[best]
        gain[best] = 0.0
        cells += 2
    return cells


@compiling.jit
def _sum(left_over, weights, rows, total):  # type: ignore[no-untyped-def]
    """total = Σ w_i r_i over rows; returns Σ w_i."""
    total[:] = 0.0
    weight = 0.0
    for i in rows:
        weight += weights[i]
        for q in range(len(total)):
            total[q] += weights[i] * left_over[i, q]
    return weight


@compiling.jit
def _division(  # type: ignore[no-untyped-def]
    codes, left_over, weights, rows, columns, least, weight, total, heavy, many, sums, part
):
    """The gain ‖S_l‖²/w_l + ‖S_r‖²/w_r − ‖S‖²/w of the best division, its column, and the last code to the left.

    The sums by bin are 0 before and after: a cell of few rows touches few bins.
    """
    outputs = len(total)
    best, feature, cut = 0.0, 0, 0
    if len(rows) < 2 * least or weight <= 0:
        return best, feature, cut
    whole = 0.0
    for q in range(outputs):
        whole += total[q] * total[q]
    whole /= weight
    # what rounding may make of no gain
    best = 1e-12 * whole
    found = False
    for column in columns:
        line = codes[column]
        last = 0
        for i in rows:
            b = line[i]
            last = max(last, b)
            many[b] += 1
            heavy[b] += weights[i]
            for q in range(outputs):
                sums[b, q] += weights[i] * left_over[i, q]
        count, light = 0, 0.0
        part[:] = 0.0
        for b in range(last + 1):
            if many[b] == 0:
                continue
            count += many[b]
            light += heavy[b]
            many[b], heavy[b] = 0, 0.0
            one, two = 0.0, 0.0
            for q in range(outputs):
                part[q] += sums[b, q]
                sums[b, q] = 0.0
                one += part[q] * part[q]
                two += (total[q] - part[q]) * (total[q] - part[q])
            if count < least or len(rows) - count < least or light <= 0 or weight - light <= 0:
                continue
            value = one / light + two / (weight - light) - whole
            if value > best:
                best, feature, cut, found = value, column, b, True
    return (best, feature, cut) if found else (0.0, feature, cut)


@compiling.jit
def _divide(line, cut, rows, other):  # type: ignore[no-untyped-def]
    """Rows with a code up to ``cut`` before the others, each in their order; returns how many."""
    few = 0
    rest = 0
    for i in rows:
        if line[i] <= cut:
            rows[few] = i
            few += 1
        else:
            other[rest] = i
            rest += 1
    for k in range(rest):
        rows[few + k] = other[k]
    return few


@compiling.jit
def learn(codes, feature, cut, left, right, value, rate, left_over):  # type: ignore[no-untyped-def]
    """left_over −= rate · the value of the leaf, for every row."""
    for i in range(left_over.shape[0]):
        c = 0
        while feature[c] >= 0:
            c = left[c] if codes[feature[c], i] <= cut[c] else right[c]
        for q in range(left_over.shape[1]):
            left_over[i, q] -= rate * value[c, q]
