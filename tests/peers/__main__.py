"""``python -m tests.peers [-v] [NAME …]``: the table; of the modules whose path contains a NAME; -v: each failure with its place."""

from __future__ import annotations

import sys

from tests.peers.harness import MODULES, run

names = [a for a in sys.argv[1:] if not a.startswith("-")]
print("| module | passed | failed |\n|---|---|---|")
for module in MODULES:
    if names and not any(n in module for n in names):
        continue
    results = run(module)
    failed = {k: r for k, r in results.items() if r.outcome == "failed"}
    print(f"| {module} | {sum(r.outcome == 'passed' for r in results.values())} | {len(failed)} |", flush=True)
    if "-v" in sys.argv:
        for k, r in failed.items():
            print(f"    {k}: {r.reason}")
