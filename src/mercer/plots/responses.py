"""One number for each row, from any fitted estimator: what pictures of effects, of calibration and of errors show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import arrays
from mercer.annotations import Estimator, Samples
from mercer.arrays import Array
from mercer.plots.drawing import word
from mercer.plots.samples import called
from mercer.troubles import coded

METHODS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True, eq=False)
class Response:
    """What an estimator answers, and what that is called."""

    ask: Callable[[Samples], Array]
    name: str

    def __call__(self, X: Samples) -> Array:
        return self.ask(X)

    @classmethod
    def of(cls, estimator: Estimator, method: str = "auto", target: object = None) -> Response:
        """The method asked for; "auto": of a classifier the probability, else the decision function, of others
        ``predict``. ``target``: the class, or the number of the output; None: the last of two classes, the only output.
        """
        classes = getattr(estimator, "classes_", None)
        if method == "auto":
            known = METHODS if classes is not None else ("predict", "decision_function")
            method = next((name for name in known if hasattr(estimator, name)), "predict")
        if method not in METHODS:
            raise ValueError(coded(f"response={method!r}: choose 'auto', {', '.join(map(repr, METHODS))}.", "M205"))
        if not hasattr(estimator, method):
            raise ValueError(coded(f"{called(estimator)} has no {method}(X).", "M311"))
        if method == "predict" and classes is not None:
            raise ValueError(
                coded(
                    f"{called(estimator)} predicts classes: there is no number to show. Ask for its predict_proba or"
                    " decision_function.",
                    "M311",
                )
            )
        k, name = _column(estimator, classes, method, target)

        def ask(X: Samples) -> Array:
            found = np.asarray(arrays.to_numpy(getattr(estimator, method)(X)), np.float64)
            if found.ndim == 1:
                return -found if classes is not None and k == 0 else found
            if k is None and found.shape[1] > 1:
                raise ValueError(
                    coded(
                        f"{called(estimator)} has {found.shape[1]} outputs: choose one by its number, target=0.", "M205"
                    )
                )
            return found[:, k or 0]

        return cls(ask, name)


def _column(estimator: Estimator, classes: Array | None, method: str, target: Any) -> tuple[int | None, str]:
    """Which column is meant, and what it is called."""
    if classes is None:
        name = "prediction" if method == "predict" else "decision function"
        return target, name if target is None else f"{name}, output {target}"
    if target is None:
        if len(classes) > 2:
            raise ValueError(coded(f"There are {len(classes)} classes: choose one, target={classes[0]!r}.", "M205"))
        target = classes[-1]
    if target not in list(classes):
        raise ValueError(coded(f"target={target!r}: the classes are {', '.join(map(str, classes))}.", "M205"))
    k = list(classes).index(target)
    return k, f"P({word(target)})" if method == "predict_proba" else f"decision function for {word(target)}"
