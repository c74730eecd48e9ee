"""Results of a module held against the list of ``expected``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.peers.expected import MISSING, STAYS
from tests.peers.harness import Result

HEADER = "| module | passed | failed | deliberate | private | missing | not explained |\n|---|---|---|---|---|---|---|"


@dataclass
class Report:
    """What passed and failed of a module; ``reasons``: each explained failure's; ``stale``: what the list says and is
    not so.
    """

    module: str
    passed: int = 0
    failed: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    unexplained: dict[str, str] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

    def row(self) -> str:
        counts = [
            sum(reason.startswith(kind) for reason in self.reasons.values())
            for kind in ("deliberate", "private", "missing")
        ]
        return (
            f"| {self.module} | {self.passed} | {self.failed} | {' | '.join(map(str, counts))} |"
            f" {len(self.unexplained)} |"
        )

    def by_reason(self) -> dict[str, int]:
        return {reason: list(self.reasons.values()).count(reason) for reason in dict.fromkeys(self.reasons.values())}


def patterns(module: str) -> dict[str, str]:
    """{pattern: reason}."""
    return {
        pattern: reason for table in (STAYS, MISSING) for reason,
        tests in table.get(module, {}).items() for pattern in tests
    }  # fmt: skip


def compare(module: str, results: dict[str, Result]) -> Report:
    """``results`` of a module explained by the list."""
    report, known = Report(module), patterns(module)
    matched: dict[str, list[str]] = {pattern: [] for pattern in known}
    for name, result in results.items():
        why = [pattern for pattern in known if _matches(pattern, name)]
        for pattern in why:
            matched[pattern].append(result.outcome)
        report.passed += result.outcome == "passed"
        report.failed += result.outcome == "failed"
        if result.outcome == "failed" and why:
            report.reasons[name] = known[why[0]]
        elif result.outcome == "failed":
            report.unexplained[name] = result.reason
    for pattern, outcomes in matched.items():
        if "passed" in outcomes or "failed" not in outcomes:
            report.stale.append(
                f"{pattern} ({known[pattern]}): {outcomes.count('failed')} fail, {outcomes.count('passed')} pass"
            )
    return report


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None
