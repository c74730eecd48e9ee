"""Hidden Markov models of strings."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.annotations import RandomState, Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import DataError, Ragged, Sequences, check_weights
from mercer.data.notices import warn
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.checks import check_whole
from mercer.estimators.generative import GenerativeModel
from mercer.estimators.parameters import estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.runtime.randomness import generator
from mercer.solvers.baum_welch import Chain, Counts, climbed, expected, likelihoods, most_probable, side_by_side
from mercer.troubles import coded


@estimator
class HiddenMarkovModel(GenerativeModel):
    """p(x) = Σ over states s of π(s_1) E(s_1, x_1) Π_i T(s_{i−1}, s_i) E(s_i, x_i): letters of states not seen.

    Fitted by expectation–maximisation, ``smoothing`` added to each expected count, from random starts; 16 sequences
    are gone through side by side, n_states² steps a letter, with scaled numbers, so that no length underflows. A letter
    that was not seen in ``fit``, or that equals nothing, may be any: its place counts, its letter does not.
    ``score_vectors`` is the gradient of log p(x) in the logarithms of π and of the rows of T and E (each a softmax),
    for the ``Fisher`` kernel.

    Parameters
    ----------
    n_states : int, default=2
        The number of states.
    smoothing : float, default=0.01
        Added to each expected count, at least 0. With 0 the likelihood is maximised, and strings may become impossible.
    tol : float, default=1e-4
        Steps end when the mean log-likelihood gains less.
    max_iter : int, default=200
        The largest number of steps of a start.
    n_init : int, default=1
        The number of starts, of which the likeliest end is kept.
    random_state : int, RandomState, Generator or None, default=None
        For the starts.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the probabilities that are there.

    Attributes
    ----------
    letters_ : ndarray of shape (n_letters,)
        The codes of the letters or tokens that were seen, sorted.
    initial_ : ndarray of shape (n_states,)
        π.
    transition_ : ndarray of shape (n_states, n_states)
        T; rows sum to 1.
    emission_ : ndarray of shape (n_states, n_letters)
        E, in the order of ``letters_``; rows sum to 1.
    lower_bound_ : float
        The mean log-likelihood, less the price of ``smoothing``, before the last step.
    n_iter_ : int
        The number of steps of the start that was kept.
    converged_ : bool
        Whether they ended by ``tol``.

    See Also
    --------
    MarkovChain : States that are the letters.
    Fisher : A kernel made of the model's score vectors.

    References
    ----------
    .. [1] L. R. Rabiner. A tutorial on hidden Markov models and selected applications in speech recognition.
       Proceedings of the IEEE 77, 1989.

    Examples
    --------
    >>> import mercer as mc
    >>> strings = ["aabababbaaXYXXYYXX", "YXXYXaabbaba", "abbaabXYXXYY"]
    >>> model = mc.HiddenMarkovModel(2, random_state=0, n_init=5).fit(strings)
    >>> [path] = model.predict(["ababXYXYab"])
    >>> (path == path[0]).astype(int)
    array([1, 1, 1, 1, 0, 0, 0, 0, 1, 1])
    >>> bool(model.score_samples(["abXY"])[0] > model.score_samples(["aXbY"])[0])
    True
    """

    n_states: int = 2
    _: KW_ONLY
    smoothing: float = 0.01
    tol: float = 1e-4
    max_iter: int = 200
    n_init: int = 1
    random_state: RandomState = None
    warm_start: bool = False

    @all_or_nothing
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Fit the model to strings.

        Parameters
        ----------
        X : list of str, or of sequences of tokens
            The strings; at least one has a letter.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its string.

        Returns
        -------
        self
        """
        self._check()
        codes: Ragged = Sequences().check(X)
        w = check_weights(len(codes), sample_weight)
        going_on = self.warm_start and hasattr(self, "transition_")
        if going_on and len(self._chain.initial) != self.n_states:
            raise ValueError(
                coded(
                    f"n_states={self.n_states} and warm_start=True, and the probabilities that are there are of"
                    f" {len(self._chain.initial)} states; give that number, or warm_start=False.",
                    "M314",
                )
            )
        if not going_on:
            self.letters_ = np.unique(codes.values[codes.values != 0]).astype(np.int64)
        if not len(self.letters_):
            raise DataError("All strings are empty: there is no letter to learn from.", "M116")
        items, rng = self._numbered(codes), generator(self.random_state)
        starts = [self._chain] if going_on else [self._start(items, w, rng) for _ in range(self.n_init)]
        runs = [
            climbed(items, w, start, smoothing=self.smoothing, tol=self.tol, max_iter=self.max_iter) for start in starts
        ]
        best = max(runs, key=lambda run: run.bound)
        self.initial_, self.transition_, self.emission_ = (
            best.chain.initial,
            best.chain.transition,
            best.chain.emission,
        )
        self.lower_bound_, self.n_iter_, self.converged_ = best.bound, len(best.bounds), best.converged
        if not self.converged_ and self.max_iter:
            warn(
                f"HiddenMarkovModel stopped after max_iter={self.max_iter} steps, the last of which still gained"
                f" {self.tol:g} or more in the mean log-likelihood. Raise max_iter or tol.",
                "M301",
                ConvergenceWarning,
            )
        return self

    def _check(self) -> None:
        check_whole(self, "n_states", "n_init")
        check_whole(self, "max_iter", least=0)
        for name in ("smoothing", "tol"):
            if not getattr(self, name) >= 0:
                raise ValueError(coded(f"{name}={getattr(self, name)!r}: give a number of at least 0.", "M205"))

    @property
    def _chain(self) -> Chain:
        return Chain(self.initial_, self.transition_, self.emission_)

    def _start(self, items: Ragged, weights: Array, rng: np.random.Generator) -> Chain:
        """Random moves, and letters half as frequent as they are and half at random."""
        S, K = int(self.n_states), len(self.letters_)
        each = np.bincount(items.values, np.repeat(weights, items.lengths), K + 1)[:K]
        frequent = each / each.sum() if each.sum() > 0 else np.full(K, 1 / K)
        emission = (frequent + rng.dirichlet(np.ones(K), S)) / 2
        return Chain(rng.dirichlet(np.ones(S)), rng.dirichlet(np.ones(S), S), emission)

    def _numbered(self, codes: Ragged) -> Ragged:
        """The letters by number; n_letters for one that was not seen."""
        K = len(self.letters_)
        place = np.minimum(np.searchsorted(self.letters_, codes.values), K - 1)
        return Ragged(np.where(self.letters_[place] == codes.values, place, K), codes.offsets)

    def _entered(self, X: Samples) -> Ragged:
        check_is_fitted(self)
        return self._numbered(Sequences().check(X))

    def score_samples(self, X: Samples) -> Array:
        """log p(x) of each string, an array of shape (n_samples,)."""
        return likelihoods(self._entered(X), self._chain)

    def score(self, X: Samples, y: Targets = None) -> float:
        """The mean of log p(x) over strings."""
        return float(np.mean(self.score_samples(X)))

    def predict(self, X: Samples) -> list[Any]:
        """For each string the states that are together most probable (Viterbi), an array of its length."""
        return most_probable(self._entered(X), self._chain)

    def score_vectors(self, X: Samples) -> Array:
        """∇ log p(x): expected counts less what the model expects of them.

        Parameters
        ----------
        X : list of str, or of sequences of tokens
            Strings.

        Returns
        -------
        ndarray of shape (n_samples, n_states·(1 + n_states + n_letters))
            In the logarithms of π, then of T, then of E, row by row: what the kernel ``Fisher`` is made of.
        """
        items, chain = self._entered(X), self._chain
        S = len(chain.initial)
        out = np.empty((len(items), S * (1 + S + len(self.letters_))))
        for members, _, counts in expected(side_by_side(items, S, len(self.letters_)), chain):
            out[members] = _gradients(counts, chain)
        return out


def _gradients(counts: Counts, chain: Chain) -> Array:
    """One row for each sequence."""
    parts = []
    for found, p in ((counts.first, chain.initial), (counts.moves, chain.transition), (counts.letters, chain.emission)):
        each = np.moveaxis(found, -1, 0)
        parts.append((each - each.sum(axis=-1, keepdims=True) * p).reshape(len(each), -1))
    return np.concatenate(parts, axis=1)
