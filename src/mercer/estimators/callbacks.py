"""scikit-learn's callbacks (``set_callbacks``), where the installed version has them: one task for a fit, one for each of a solver's reports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from mercer.estimators.whole import whole

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
    """A ``fit`` after which callbacks are torn down, however it ends; one that fails leaves the estimator as it was."""
    managed: Method = whole(_managed(method))
    return managed


_one_at_a_time = threading.Lock()  # pairs of classes are trained in parallel


class Reporting(CallbackSupportMixin):  # type: ignore[misc]
    """``fit`` opens a task, each report of a solver is a task inside it, and a callback that returns True stops the solver."""

    progress: Callable[[dict[str, Any]], Any] | None

    def _open_task(self, X: Any, y: Any = None) -> None:
        if getattr(self, "_skl_callbacks", None):
            self._init_callback_context(max_subtasks=None).call_on_fit_task_begin(estimator=self, X=X, y=y)

    def _close_task(self) -> None:
        if hasattr(self, "_callback_fit_ctx"):
            self._callback_fit_ctx.call_on_fit_task_end(estimator=self)

    def _reporter(self) -> Callable[[dict[str, Any]], bool] | None:
        """What a solver reports to; None where nobody listens."""
        listening = hasattr(self, "_callback_fit_ctx")
        if self.progress is None and not listening:
            return None

        def report(state: dict[str, Any]) -> bool:
            with _one_at_a_time:
                stop = bool(self.progress(state)) if self.progress is not None else False
                if listening:
                    task = self._callback_fit_ctx.subcontext(task_name="round").call_on_fit_task_begin(estimator=self)
                    stop = bool(task.call_on_fit_task_end(estimator=self)) or stop
            return stop

        return report
