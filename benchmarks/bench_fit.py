"""Promise: ``mercer fit`` with nothing but ``--time 60``, on every table of ``fit_tables.py``, against the peers of
``fit_peers.py`` on the same split: its mean rank is before that of every peer (theirs over ours ≥ 1×); its error
(1 − accuracy, or RMSE) is within 2 % of the best on ≥ 80 % of the tables and never more than 10 % above it; the score
that it claims is honest, optimistic by ≤ 0.3 of its standard errors on the mean; its probabilities have a Brier score
no larger than that of calibrated boosting on ≥ 60 % of the tables of classes; its intervals of 90 % hold 88 to 92 % of
the held-out targets on the mean.

A table on which it fails counts as the last rank. Where a peer makes no error at all, one error of ours is infinitely
far behind: the share within one row of the test set is printed as well, and promises nothing.

``python bench_fit.py [--results FILE] [--ours-only | --peers-only] [tables]``: finished rows are kept in FILE, one JSON
object on a line, and not run again: peers once (``--peers-only``), ours by a copy of that file (``--ours-only``).
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from fit_peers import CLASSES_ONLY, PEERS, Answer, at_hand
from fit_tables import Table, all_names, split, tables
from measure import QUICK, judged, promise, skipped
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

OURS = "mercer"
QUICK_TABLES = ["pima_diabetes", "energy"]
LEVEL = 0.9  # of the intervals
CLOSE = 1.02  # times the best error

Row = dict[str, Any]  # what is known of a table, and "results": who to what was measured


# ---------------------------------------------------------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------------------------------------------------------


def measured(answer: Answer, table: Table, test: pl.DataFrame) -> dict[str, float]:
    """Error, and for classes the mean error of the classes, the area under the curve and the Brier score."""
    if table.task == "regression":
        y = test[table.target].cast(pl.Float64).to_numpy()
        predicted = np.asarray(answer.predicted, dtype=np.float64)
        squares = (predicted - y) ** 2
        error = float(np.sqrt(squares.mean()))
        spread = float(squares.std() / np.sqrt(len(y)))  # of the mean square; the root's is half of it over the root
        return {"error": error, "error_se": spread / (2 * error) if error else 0.0}
    y = np.array([str(v) for v in test[table.target].to_list()])
    predicted = np.array([str(v) for v in answer.predicted])
    error = float(np.mean(predicted != y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class is predicted that the test set has not
        balanced = float(balanced_accuracy_score(y, predicted))
    found = {"error": error, "error_se": float(np.sqrt(error * (1 - error) / len(y))), "balanced": balanced}
    if answer.probabilities is None:
        return found
    P, classes = np.asarray(answer.probabilities, np.float64), [str(c) for c in answer.classes]
    truth = y[:, None] == np.array(classes)
    unknown = float(np.mean(~truth.any(axis=1)))  # rows of a class that it does not know
    found["brier"] = float(np.mean(np.sum((P - truth) ** 2, axis=1))) + unknown
    if len(classes) == 2 and truth[:, 1].any() and not truth[:, 1].all():
        found["auc"] = float(roc_auc_score(truth[:, 1], P[:, 1]))
    return found


def ours(table: Table, train: pl.DataFrame, test: pl.DataFrame, seconds: float) -> dict[str, Any]:
    """What ``mercer fit`` makes of a table with nothing but its time, and what it says of itself."""
    from mercer.tabular.job import learn

    start = time.perf_counter()
    # the peers are told what the target is, and so is it
    model = learn(train, table.target, seconds=seconds, task=table.task, random_state=0)
    took = time.perf_counter() - start
    without = test.drop(table.target)
    classes = table.task == "classification"
    answer = Answer(
        model.predict(without), model.predict_proba(without) if classes else None, model.classes_ if classes else None
    )
    found: dict[str, Any] = measured(answer, table, test)
    summary = model.summary_
    found |= {"seconds": took, "model": str(summary.get("model", "")), "metric": summary.get("metric", "")}
    found |= _claimed(model, table, test, found)
    if table.task == "regression":
        ends = np.asarray(model.predict_interval(without, LEVEL), dtype=np.float64)
        y = test[table.target].cast(pl.Float64).to_numpy()
        found["coverage"] = float(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])))
        found["width"] = float(np.median(ends[:, 1] - ends[:, 0]))
    return found


def _claimed(model: Any, table: Table, test: pl.DataFrame, found: dict[str, Any]) -> dict[str, float]:
    """The claimed score, the same on the held-out rows, and by how many standard errors the claim is too good."""
    metric, claimed = str(model.summary_.get("metric", "")), model.summary_.get("score")
    if claimed is None:
        return {}
    if metric == "rmse" and table.task == "regression":
        held = found["error"]
    elif metric == "accuracy" and table.task == "classification":
        held = 1 - found["error"]
    elif metric.replace("_", " ") == "balanced accuracy":
        held = found["balanced"]
    else:  # its own measure, as where it takes a number for a class
        held = abs(float(model.score(test)))
    small = metric in ("rmse", "mae", "brier", "log loss", "log_loss")
    excess = held - abs(claimed) if small else abs(claimed) - held
    out = {"claimed": abs(float(claimed)), "held_out": held}
    error = model.summary_.get("standard_error") or found["error_se"]  # its own, or that of as many rows as are tested
    return out | {"claimed_se": float(error), "optimism": excess / float(error)} if error else out


def run(table: Table, wanted: list[str], seconds: float) -> Row:
    """One table: what each of those that are wanted makes of it; a failure is kept with its words."""
    train, test = split(table)
    row: Row = {
        "table": table.name,
        "task": table.task,
        "rows": table.frame.height,
        "columns": table.frame.width - 1,
        "test": test.height,
        "seconds": seconds,
        "results": {},
    }
    for who in wanted:
        start = time.perf_counter()
        try:
            if who == OURS:
                found = ours(table, train, test, seconds)
            else:
                answer = PEERS[who](train, table.target, table.task, test, seconds)
                found = {"seconds": time.perf_counter() - start} | measured(answer, table, test)
        except Exception as error:
            traceback.print_exc()
            found = {"failed": f"{type(error).__name__}: {error}", "seconds": time.perf_counter() - start}
        row["results"][who] = found
    return row


# ---------------------------------------------------------------------------------------------------------------------
# Rows that are kept
# ---------------------------------------------------------------------------------------------------------------------


def kept(path: Path | None, seconds: float) -> dict[str, Row]:
    """Rows of former runs of as many seconds, by their table; several lines of one table are put together."""
    rows: dict[str, Row] = {}
    if path is None or not path.exists():
        return rows
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["seconds"] == seconds:
            rows[row["table"]] = _joined(rows.get(row["table"]), row)
    return rows


def _joined(old: Row | None, new: Row) -> Row:
    return new if old is None else {**new, "results": {**old["results"], **new["results"]}}


def finished(names: list[str], wanted: list[str], path: Path | None, seconds: float) -> Iterator[Row]:
    """The rows of these tables, one by one: what is missing in those that are kept is run, and kept."""
    known = kept(path, seconds)
    for name in names:
        old = known.get(name)
        if old is not None and not _missing(wanted, old["task"], old):
            yield old
            continue
        ((_, table),) = tables([name])
        if table is None:
            skipped(name, "is not at hand")
            continue
        row = run(table, _missing(wanted, table.task, old), seconds)
        if path is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        yield _joined(old, row)


def _missing(wanted: list[str], task: str, old: Row | None) -> list[str]:
    done = {} if old is None else old["results"]
    return [who for who in wanted if who not in done and (task == "classification" or who not in CLASSES_ONLY)]


# ---------------------------------------------------------------------------------------------------------------------
# Judging
# ---------------------------------------------------------------------------------------------------------------------


def errors(row: Row) -> dict[str, float]:
    """Who to error; infinite where ours failed, a peer that failed is not there."""
    found = {who: float(r["error"]) for who, r in row["results"].items() if "error" in r}
    return {OURS: np.inf, **found} if OURS in row["results"] else found


def ranks(row: Row) -> dict[str, float]:
    """1 for the smallest error; those that are equal share the mean of their places."""
    found = errors(row)
    return {
        who: 1 + sum(e < mine for e in found.values()) + (sum(e == mine for e in found.values()) - 1) / 2
        for who, mine in found.items()
    }


def ratio(row: Row) -> float:
    """Our error over the best of all, ours among them."""
    found = errors(row)
    best = min(found.values())
    if found[OURS] == best:
        return 1.0
    return found[OURS] / best if best > 0 else np.inf


def is_within_a_row(row: Row) -> bool:
    found = errors(row)
    few = row["task"] == "classification" and found[OURS] - min(found.values()) <= 1.0001 / row["test"]
    return few or ratio(row) <= CLOSE


def shown(row: Row, wanted: list[str]) -> str:
    cells = []
    for who in wanted:
        found = row["results"].get(who, {})
        cells.append(f"{'failed' if 'failed' in found else '–':>10}" if "error" not in found else _cell(found["error"]))
    line = f"{row['table']:<28} {row['rows']:>6} {row['columns']:>5} {row['task'][:5]} " + "".join(cells)
    if OURS not in row["results"]:
        return line
    mine = row["results"][OURS]
    optimism = f"{mine['optimism']:+6.2f}" if "optimism" in mine else f"{'–':>6}"
    return (
        f"{line}  {ranks(row)[OURS]:4.1f}/{len(errors(row))} {ratio(row):6.3f}× {optimism} {mine['seconds']:6.1f} s"
        f"  {mine.get('model', mine.get('failed', ''))[:60]}"
    )


def _cell(error: float) -> str:
    return f" {error:9.4f}" if 1e-3 <= error < 1e4 or error == 0 else f" {error:9.3g}"


def judge(rows: list[Row]) -> None:
    """The promises, over the tables on which both ours and peers were run."""
    mine = [row["results"][OURS] for row in rows if OURS in row["results"]]
    compared = [row for row in rows if OURS in row["results"] and len(errors(row)) > 1]
    for who in PEERS:
        both = [ranks(row) for row in compared if who in errors(row)]
        if both:
            theirs, own = (float(np.mean([r[name] for r in both])) for name in (who, OURS))
            promise(
                f"mean rank of {who} ({theirs:.2f}) over ours ({own:.2f}), {len(both)} sets", theirs / own, at_least=1
            )
    if compared:
        ratios = np.array([ratio(row) for row in compared])
        last = compared[int(np.argmax(ratios))]["table"]
        promise(
            f"share of {len(compared)} sets within 2 % of the best",
            float(np.mean(ratios <= CLOSE)),
            at_least=0.8,
            unit="",
        )
        print(f"       or within one row of the test set: {np.mean([is_within_a_row(row) for row in compared]):.3f}")
        promise(f"the farthest from the best ({last})", float(ratios.max()), at_most=1.1)
    claims = [found["optimism"] for found in mine if "optimism" in found]
    if claims:
        print(f"       optimism in standard errors: median {np.median(claims):+.2f}, largest {max(claims):+.2f}")
        promise(
            f"mean optimism of {len(claims)} scores in standard errors", float(np.mean(claims)), at_most=0.3, unit=""
        )
    pairs = [
        (row["results"][OURS]["brier"], row["results"]["HGB calibrated"]["brier"])
        for row in compared
        if all("brier" in row["results"].get(who, {}) for who in (OURS, "HGB calibrated"))
    ]
    if pairs:
        share = float(np.mean([a <= b for a, b in pairs]))
        promise(
            f"share of {len(pairs)} sets with a Brier score not above calibrated HGB's", share, at_least=0.6, unit=""
        )
    else:
        skipped("the Brier score", "has no probabilities to compare")
    held = [found["coverage"] for found in mine if "coverage" in found]
    if held:
        print(f"       coverage of intervals of 90 %: from {min(held):.3f} to {max(held):.3f}")
        promise(f"mean coverage of {len(held)} sets", 100 * float(np.mean(held)), at_least=88, unit="%")
        promise(f"mean coverage of {len(held)} sets", 100 * float(np.mean(held)), at_most=92, unit="%")
    else:
        skipped("coverage", "has no intervals to judge")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="rows are kept in this file, and not run again")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--ours-only", action="store_true", help="leave the peers alone")
    only.add_argument("--peers-only", action="store_true", help="leave mercer alone")
    parser.add_argument("--peers", default=",".join(PEERS), help="those to run, with commas between; all without")
    parser.add_argument("tables", nargs="*", help="names; all without")
    given = parser.parse_args()
    names = given.tables or (QUICK_TABLES if QUICK else all_names())
    asked = given.peers.split(",")
    peers = [who for who in at_hand() if who in asked]
    for who in [who for who in asked if who not in peers]:
        skipped(who)
    if not given.peers_only:
        import mercer.tabular.job  # noqa: F401  # what cannot be imported has not failed on a table
    wanted = [] if given.peers_only else [OURS]
    wanted += [] if given.ours_only else peers
    head = "".join(f" {who.replace('calibrated', 'cal.'):>9}" for who in [OURS, *PEERS])
    print(f"{'set':<28} {'n':>6} {'d':>5} {'task':<5} {head}  rank       ratio optim. seconds  model", flush=True)
    rows = []
    for row in finished(names, wanted, given.results, 10.0 if QUICK else 60.0):
        rows.append(row)
        print(shown(row, [OURS, *PEERS]), flush=True)
    judge(rows)


if __name__ == "__main__":
    judged(main)
