"""scikit-learn's callbacks (``set_callbacks``), where the installed version has them: one task for a fit, one for each
of a solver's reports.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, ClassVar, TypeVar

from mercer.annotations import Samples, Targets
from mercer.compute import within
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.runtime.watch import Stopped, Watch, watching

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _managed
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def _managed(method: Any) -> Any:
        return method


Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """A ``fit`` that ends in time, tells how far it is, and after which callbacks are torn down, however it ends; one
    that fails leaves the estimator as it was.
    """
    managed: Method = all_or_nothing(_managed(watched(method)))
    return managed


def watched(method: Method) -> Method:
    """The method inside ``max_time``, all its work reporting to ``progress`` and scikit-learn's callbacks
    (``mercer.runtime.watch``).
    """

    @functools.wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        with within(self.compute), self._watching() as watch:
            try:
                return method(self, *args, **kwargs)
            except Stopped as stop:
                if watch is None or stop.watch is not watch:
                    raise
                raise type(stop)(watch, type(self).__name__) from None

    return fit  # type: ignore[return-value]


class Reporting(CallbackSupportMixin):  # type: ignore[misc]
    """``fit`` opens a task, each report of a solver is a task inside it, and a callback that returns True stops the
    solver.
    """

    progress: Callable[[dict[str, Any]], Any] | None
    _first_report: ClassVar[dict[str, Any]] = {}  # what is said before the solver has anything to say

    def _open_task(self, X: Samples, y: Targets = None) -> None:
        if getattr(self, "_skl_callbacks", None):
            self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self, X=X, y=y)

    def _close_task(self) -> None:
        if hasattr(self, "_callback_fit_ctx"):
            self._callback_fit_ctx.call_on_fit_task_end(estimator=self)

    def _watching(self) -> AbstractContextManager[Watch | None]:
        heard = self.progress is not None or bool(getattr(self, "_skl_callbacks", None))
        return watching(
            getattr(self, "max_time", None), self._tell if heard else None, partial=True, **self._first_report
        )

    def _tell(self, state: dict[str, Any]) -> bool:
        """One report, from whichever thread; whether somebody wants no more."""
        stop = bool(self.progress(state)) if self.progress is not None else False
        if hasattr(self, "_callback_fit_ctx"):
            task = self._callback_fit_ctx.subcontext(task_name="round").call_on_fit_task_begin(estimator=self)
            stop = bool(task.call_on_fit_task_end(estimator=self)) or stop
        return stop
