"""Promise: ``HiddenMarkovModel`` has hmmlearn's log-likelihood to 1e-8 and, on one thread, does the steps of
expectation–maximisation on many sequences ≥ 5× as fast as hmmlearn's ``CategoricalHMM``, in logarithms as is its
default and with scaled numbers; of one long sequence, which has one lane, ≥ 1×.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from measure import interleaved, judged, promise, sized, skipped, table
from string_peers import has, random_dna

import mercer as mc

STEPS = 5


def ours(X: list[str], states: int, start: Any) -> mc.HiddenMarkovModel:
    m = mc.HiddenMarkovModel(states, smoothing=0.0, tol=0.0, max_iter=STEPS, warm_start=True)
    m.letters_, m.initial_, m.transition_, m.emission_ = start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return m.fit(X)


def theirs(letters: Any, lengths: list[int], states: int, start: Any, way: str) -> Any:
    from hmmlearn.hmm import CategoricalHMM

    m = CategoricalHMM(states, n_iter=STEPS, tol=-np.inf, init_params="", implementation=way)
    m.startprob_, m.transmat_, m.emissionprob_ = start[1:]
    m.n_features = len(start[0])
    return m.fit(letters, lengths)


def compared(n: int, low: int, high: int, states: int, least: float) -> None:
    X = random_dna(n, low, high)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = mc.HiddenMarkovModel(states, max_iter=0, random_state=0).fit(X)
    start = (first.letters_, first.initial_, first.transition_, first.emission_)
    title = f"{STEPS} steps, {n} sequences of {low} … {high} letters, {states} states"
    if not has("hmmlearn"):
        skipped("hmmlearn")
        return
    letters = np.searchsorted(first.letters_, np.frombuffer("".join(X).encode(), np.uint8) + 1)[:, None]
    lengths = [len(x) for x in X]
    tasks = {"HiddenMarkovModel": lambda: ours(X, states, start)} | {
        f"hmmlearn, {way}": lambda way=way: theirs(letters, lengths, states, start, way) for way in ("scaling", "log")
    }
    known = [tasks["HiddenMarkovModel"]().score_samples(X).sum(), tasks["hmmlearn, scaling"]().score(letters, lengths)]
    promise(f"{title}: log-likelihoods apart, relative", abs(known[0] / known[1] - 1), at_most=1e-8, unit="")
    ways = {"hmmlearn, log": least, "hmmlearn, scaling": least}
    table(title, interleaved(tasks, 3), "HiddenMarkovModel", promised=ways)


def main() -> None:
    for states in (2, 5, 10):
        compared(sized(2000, 50), 50, 200, states, 5.0)
    compared(1, sized(200_000, 1000), sized(200_000, 1000), 5, 1.0)


if __name__ == "__main__":
    judged(main)
