"""The main job in miniature: data, a kernel expression, its check, its Gram matrix, what it sees."""

from __future__ import annotations

import time

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from mercer import backend
from mercer.backend import human
from mercer.estimators.svm import SVC
from mercer.functions import alignment, effective_dimension
from mercer.kernels.base import Kernel
from mercer.kernels.notation import parse
from mercer.testing import check_kernel


def run(rows: int, expression: str, console: Console | None = None) -> None:
    """Print the demonstration."""
    console = console or Console()
    data = load_breast_cancer()
    some = np.random.default_rng(0).permutation(len(data.data))[:rows]
    X, y = StandardScaler().fit_transform(data.data)[some], data.target[some]
    kernel = parse(expression)
    console.print(f"[bold]Data[/bold]      breast cancer, {X.shape[0]} rows × {X.shape[1]} columns, 2 classes")
    console.print(f"[bold]Kernel[/bold]    {escape(expression)}")
    console.print(f"[bold]Check[/bold]     {escape(str(check_kernel(kernel, X)))}")

    start = time.perf_counter()
    K = backend.to_numpy(kernel.gram(X).dense())
    elapsed = time.perf_counter() - start
    console.print(f"[bold]Gram[/bold]      {K.shape[0]} × {K.shape[1]} {K.dtype}, {human(K.nbytes)}, computed in {1000 * elapsed:.1f} ms\n")

    table = Table("kernel", "mean value", "dimension¹", "alignment²", "accuracy³", box=None, pad_edge=False)
    target = np.where(y[:, None] == y[None, :], 1.0, -1.0)
    for k in _parts(kernel):
        G = backend.to_numpy(k(X))
        accuracy = cross_val_score(SVC(kernel="precomputed"), G, y, cv=5).mean()
        table.add_row(
            escape(str(k)), f"{G.mean():.3f}", f"{effective_dimension(G, 1.0):.1f}", f"{alignment(G, target):.3f}", f"{100 * accuracy:.1f} %"
        )
    console.print(table)
    console.print("\n¹ effective, at α = 1   ² with the classes, centred   ³ of a support vector machine with this kernel, 5-fold cross-validation")


def _parts(kernel: Kernel) -> list[Kernel]:
    """The terms of a sum, and the sum."""
    terms = list(getattr(kernel, "terms", ()))
    return [*terms, kernel] if len(terms) > 1 else [kernel]
