"""The result of a check on a base commit, as a value that can be kept and found again.

Its key is everything that decides it: the files, what is installed, variables, services and the command.
"""

import hashlib
import json
import zlib
from dataclasses import asdict
from typing import Any

from journeyman.environments.plan import Check
from journeyman.environments.setup import ReadyEnvironment
from journeyman.verification.counts import Counts
from journeyman.verification.per_test import CaseResult, ForeignModule, SuiteReport
from journeyman.verification.run import CheckResult

_SCHEMA = 1
"""Counted up when results are measured or stored in another way."""
_NOT_KEPT = frozenset({"environment"})
"""What may come out differently with the same key: somebody installs a tool, or allows a host."""


def baseline_key(
    check: Check, *, repository_url: str, tree_sha: str, ready: ReadyEnvironment, hosts: tuple[str, ...]
) -> str:
    decides = [
        _SCHEMA,
        repository_url,
        tree_sha,
        ready.layer.key if ready.layer else None,
        ready.env,
        ready.path,
        [asdict(service) for service in ready.environment.start],
        hosts,
        check.command,
        check.workdir,
    ]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def is_kept(result: CheckResult) -> bool:
    return result.outcome not in _NOT_KEPT


def pack(result: CheckResult) -> bytes:
    stored = {
        "command": result.check.command,
        "outcome": result.outcome,
        "summary": result.summary,
        "counts": asdict(result.counts) if result.counts else None,
        "report": asdict(result.report) if result.report else None,
        "exit_code": result.exit_code,
        "duration_seconds": result.duration_seconds,
    }
    return zlib.compress(json.dumps(stored).encode(), 1)


def unpack(check: Check, stored: bytes) -> CheckResult:
    """The result of the check on the base; its output is not kept."""
    facts: dict[str, Any] = json.loads(zlib.decompress(stored))
    counts, report = facts["counts"], facts["report"]
    return CheckResult(
        check=check,
        outcome=facts["outcome"],
        summary=facts["summary"],
        counts=Counts(**counts) if counts else None,
        report=_report(report) if report else None,
        exit_code=facts["exit_code"],
        duration_seconds=facts["duration_seconds"],
    )


def _report(facts: dict[str, Any]) -> SuiteReport:
    tests = tuple(CaseResult(**one) for one in facts["tests"])
    foreign = tuple(ForeignModule(**one) for one in facts["foreign_modules"])
    lists = {name: tuple(value) for name, value in facts.items() if isinstance(value, list)}
    return SuiteReport(**{**facts, **lists, "tests": tests, "foreign_modules": foreign})
