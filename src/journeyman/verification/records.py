"""A verdict in its stored forms: the file in the commit, the checks of an event, the summary line."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from journeyman.verification.compare import Comparison
from journeyman.verification.run import CheckResult
from journeyman.verification.verdict import Verdict

NOT_VERIFIED = "not verified: "
_MOST_LISTED = 500
RESULTS_FILE = "test_results.json"
EVIDENCE_FILE = "evidence.dsse.json"
"""Below `.journeyman/<order id>/` on the order's branch."""


def as_dict(result: CheckResult) -> dict[str, Any]:
    return {
        "name": result.check.name,
        "kind": result.check.kind,
        "command": result.check.command,
        "workdir": result.check.workdir,
        "outcome": result.outcome,
        "summary": result.summary,
        "tests": asdict(result.counts) if result.counts else None,
        "runner": result.report.runner if result.report else None,
        "base": _on_base(result.base),
        "was_failing": result.was_failing,
        **_lists(result.comparison or Comparison()),
        "faults": [asdict(fault) for fault in result.faults],
        "exit_code": result.exit_code,
        "duration_seconds": round(result.duration_seconds, 2),
        "failing": result.failing,
        "output": result.output,
    }


def _on_base(base: CheckResult | None) -> dict[str, str] | None:
    return {"outcome": base.outcome, "summary": base.summary} if base else None


def _lists(comparison: Comparison) -> dict[str, list[str]]:
    """Ids of tests; of very many only the first."""
    return {name: list(tests[:_MOST_LISTED]) for name, tests in asdict(comparison).items()}


def summary(verdict: Verdict) -> str:
    """One line for people: `pytest: 12 passed; ruff: passed`, behind `not verified: ` where the environment
    lacks something."""
    lines = [f"{result.check.name}: {' '.join(result.summary.split())}" for result in verdict.checks]
    text = "; ".join(lines) or verdict.reason
    return f"{NOT_VERIFIED}{text}" if verdict.passed is None and verdict.faults else text


def outcome_of(check: Mapping[str, Any]) -> str:
    """How a stored check ended; records of earlier versions call it `status`."""
    return str(check.get("outcome") or check.get("status") or "unavailable")


def test_results(verdict: Verdict, commit_sha: str, attempt: int, *, agent_work_order_id: str) -> bytes:
    """The content of `.journeyman/<order id>/test_results.json`."""
    record = {
        "agent_work_order_id": agent_work_order_id,
        "commit_sha": commit_sha,
        "attempt": attempt,
        "passed": verdict.passed,
        "summary": summary(verdict),
        "checks": [
            {name: value for name, value in as_dict(result).items() if name != "output"}
            for result in verdict.checks
        ],
    }
    return (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
