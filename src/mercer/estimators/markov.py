"""Markov chains over strings."""

from __future__ import annotations

from typing import Self

import numpy as np

from mercer.annotations import Samples, Targets, Weights
from mercer.arrays import Array
from mercer.data import Ragged, Sequences, check_weights
from mercer.estimators.generative import GenerativeModel
from mercer.estimators.parameters import estimator
from mercer.estimators.scikit_checks import check_is_fitted
from mercer.troubles import coded


@estimator
class MarkovChain(GenerativeModel):
    """p(x) = π(x_1) Π_i T(x_i, x_{i+1}): each letter depends on the one before.

    Fitted by counting, ``smoothing`` added to each count. Letters that were not seen in ``fit`` are passed over.
    ``score_vectors`` is the gradient of log p(x) in the logarithms of π and of the rows of T (each a softmax), for the
    ``Fisher`` kernel.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to each count, above 0: without it a string with a pair of letters that was not seen is impossible.

    Attributes
    ----------
    letters_ : ndarray of shape (n_letters,)
        The codes of the letters or tokens that were seen, sorted.
    initial_ : ndarray of shape (n_letters,)
        π, in the order of ``letters_``.
    transition_ : ndarray of shape (n_letters, n_letters)
        T; rows sum to 1.

    See Also
    --------
    HiddenMarkovModel : Letters of states that are not seen.
    Fisher : A kernel made of the chain's score vectors.
    Spectrum : Counts of words of a given length.

    Examples
    --------
    >>> import mercer as mc
    >>> chain = mc.MarkovChain(smoothing=0.1).fit(["abababab", "babababa", "ababab"])
    >>> chain.transition_.round(2)
    array([[0.01, 0.99],
           [0.99, 0.01]])
    >>> chain.score_samples(["abab", "aabb"]).round(1)
    array([-0.5, -9.6])
    """

    smoothing: float = 1.0

    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Count which letters begin the strings and which follow each other.

        Parameters
        ----------
        X : list of str, or of sequences of tokens
            The strings.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A weight counts as that many repetitions of its string.

        Returns
        -------
        self
        """
        if not self.smoothing > 0:
            raise ValueError(
                coded(
                    f"smoothing={self.smoothing!r}: give a number above 0; without it a string with a new pair of"
                    " letters is impossible.",
                    "M205",
                )
            )
        codes: Ragged = Sequences().check(X)
        w = check_weights(len(codes), sample_weight)
        self.letters_ = np.unique(codes.values[codes.values != 0])
        first, pairs = self._counts(codes)
        k = len(self.letters_)
        start, moves = w @ first + self.smoothing, (w @ pairs).reshape(k, k) + self.smoothing
        self.initial_, self.transition_ = start / start.sum(), moves / moves.sum(axis=1, keepdims=True)
        return self

    def _counts(self, codes: Ragged) -> tuple[Array, Array]:
        """For each string, which letter begins it and how often each pair of letters follows each other."""
        k = len(self.letters_)
        place = np.minimum(np.searchsorted(self.letters_, codes.values), max(0, k - 1))
        known = self.letters_[place] == codes.values if k else np.zeros(len(place), bool)
        row = np.repeat(np.arange(len(codes)), codes.lengths)
        place, row = place[known], row[known]
        begins = np.concatenate([[True], row[1:] != row[:-1]])[: len(row)]
        first, pairs = np.zeros((len(codes), k)), np.zeros((len(codes), k * k))
        first[row[begins], place[begins]] = 1.0
        inner = np.flatnonzero(~begins)
        np.add.at(pairs, (row[inner], place[inner - 1] * k + place[inner]), 1.0)
        return first, pairs

    def score_samples(self, X: Samples) -> Array:
        """log p(x) of each string, an array of shape (n_samples,)."""
        check_is_fitted(self)
        first, pairs = self._counts(Sequences().check(X))
        out: Array = first @ np.log(self.initial_) + pairs @ np.log(self.transition_).ravel()
        return out

    def score_vectors(self, X: Samples) -> Array:
        """∇ log p(x): counts less what the model expects of them.

        Parameters
        ----------
        X : list of str, or of sequences of tokens
            Strings.

        Returns
        -------
        ndarray of shape (n_samples, n_letters + n_letters²)
            In the logarithms of π, then of T row by row: what the kernel ``Fisher`` is made of.
        """
        check_is_fitted(self)
        first, pairs = self._counts(Sequences().check(X))
        k = len(self.letters_)
        left = pairs.reshape(-1, k, k).sum(axis=2)
        expected = (left[:, :, None] * self.transition_).reshape(len(pairs), -1)
        return np.concatenate([first - first.sum(axis=1, keepdims=True) * self.initial_, pairs - expected], axis=1)
