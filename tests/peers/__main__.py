"""``python -m tests.peers [-v] [NAME …]``: the table, of the modules whose path contains a NAME. -v: the failures by
their reason too.
"""

from __future__ import annotations

import sys

from tests.peers.harness import MODULES, available, run
from tests.peers.report import HEADER, Report, compare


def main(arguments: list[str]) -> None:
    if not available():
        raise SystemExit("scikit-learn is installed without its tests.")
    names = [a for a in arguments if a != "-v"]
    print(HEADER)
    reports = []
    for module in MODULES:
        if not names or any(name in module for name in names):
            reports.append(compare(module, run(module)))
            print(reports[-1].row(), flush=True)
    for report in reports:
        _details(report, "-v" in arguments)


def _details(report: Report, whole: bool) -> None:
    lines = [f"  {count:4d}  {reason}" for reason, count in report.by_reason().items()] if whole else []
    lines += [f"  not explained: {name}: {reason}" for name, reason in report.unexplained.items()]
    lines += [f"  the list is wrong: {said}" for said in report.stale]
    if lines:
        print("", report.module, *lines, sep="\n")


main(sys.argv[1:])
