"""Promise: outliers of the ODDS/ADBench sets as well as the published one-class SVM: our mean ROC-AUC over theirs ≥ 1×.
Arguments: names of sets; all that are here without any.

PyOD's protocol: ten splits 60/40, standardised, ν = ½, γ = 1/d. ADBench's: ten splits 70/30; theirs is PyOD's machine
on columns scaled to [0, 1], ours on standardised ones.
"""

from __future__ import annotations

import csv
import sys
import time
from typing import Any

import numpy as np
from measure import QUICK, judged, promise, skipped
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from tables import FOLDER

import mercer as mc

HERE = FOLDER / "odds_adbench"
MOST = 8000  # rows to learn from
PROTOCOLS: dict[str, tuple[float, Any]] = {"PyOD": (0.4, StandardScaler), "ADBench": (0.3, StandardScaler)}


def published() -> dict[str, dict[str, tuple[float, int | None]]]:
    """Of each table: set → (ROC-AUC of the one-class SVM, rows where the table gives them)."""
    found: dict[str, dict[str, tuple[float, int | None]]] = {}
    for name, file, key in (
        ("PyOD", "pyod_roc_reference.csv", "Data"),
        ("ADBench", "adbench_paper_aucroc_unsup.csv", "dataset"),
    ):
        with open(HERE / file) as f:
            found[name] = {
                r[key].lower(): (float(r["OCSVM"]), int(r["#Samples"]) if "#Samples" in r else None)
                for r in csv.DictReader(f)
                if r["OCSVM"]
            }
    return found


def models(d: int) -> dict[str, Any]:
    k = mc.Gaussian(1 / d)
    return {"OneClassSVM": mc.OneClassSVM(0.5, k), "SVDD": mc.SVDD(0.5, k), "kernel PCA": mc.KernelPCANovelty(kernel=k)}


def aucs(X: Any, y: Any, protocol: str, runs: int) -> dict[str, float]:
    share, scaler = PROTOCOLS[protocol]
    found: dict[str, list[float]] = {}
    for seed in range(runs):
        A, B, _, b = train_test_split(X, y, test_size=share, stratify=y, random_state=seed)
        scale = scaler().fit(A)
        A, B = scale.transform(A[:MOST]), scale.transform(B)
        for name, m in models(X.shape[1]).items():
            found.setdefault(name, []).append(roc_auc_score(b, -m.fit(A).score_samples(B)))
    return {name: float(np.mean(v)) for name, v in found.items()}


def main() -> None:
    if not HERE.exists():
        skipped("odds_adbench", "is not at hand")
        return
    wanted, names = published(), sys.argv[1:] or sorted(p.stem for p in HERE.glob("*.npz"))
    names = names[:3] if QUICK else names
    for protocol in PROTOCOLS:
        heads = list(models(1))
        print(
            f"\nROC-AUC, {protocol}'s protocol\n  {'':<14} {'n':>7} {'d':>4} {'published':>10} "
            + " ".join(f"{h:>13}" for h in heads)
        )
        rows = []
        for name in names:
            with np.load(HERE / f"{name}.npz") as z:
                X, y = z["X"].astype(np.float64), z["y"]
            value, n = wanted[protocol].get(name.lower(), (np.nan, None))
            if n not in (None, len(X)):
                value = np.nan  # another set of the same name
            start = time.perf_counter()
            scores = aucs(X, y, protocol, 10 if len(X) < 5000 else 3)
            rows.append([value, *scores.values()])
            print(
                f"  {name:<14} {len(X):>7} {X.shape[1]:>4} {value:>10.3f} "
                + " ".join(f"{scores[h]:>13.3f}" for h in heads)
                + f"   {time.perf_counter() - start:.0f} s",
                flush=True,
            )
        both = np.array([r for r in rows if np.isfinite(r[0])])
        for title, part in ((f"mean of {len(both)} published", both), (f"mean of all {len(rows)}", np.array(rows))):
            if len(part):
                means = part.mean(0)
                print(f"  {title:<27} {means[0]:>10.3f} " + " ".join(f"{v:>13.3f}" for v in means[1:]))
        if len(both):
            ratio = float(both[:, 1].mean() / both[:, 0].mean())
            promise(f"{protocol}'s protocol, mean ROC-AUC of OneClassSVM over the published", ratio, at_least=1.0)


if __name__ == "__main__":
    judged(main)
