"""What a verification showed, as an in-toto statement that others can check.

The predicate is in-toto's test result; beside its lists stands our whole record, under `journeyman`. The
bytes are canonical JSON, so that the same evidence is the same statement wherever it is made. Lists of tests
are cut; the hash beside each is over the whole list.
"""

import hashlib
import json
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from importlib.metadata import version
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from journeyman.access.signing import EvidenceKey
from journeyman.environments.plan import CheckKind
from journeyman.errors import InvalidEvidence
from journeyman.verification.compare import Comparison
from journeyman.verification.envelope import first_mistake, seal, strict_json
from journeyman.verification.records import outcome_of
from journeyman.work_orders.order import CheckOutput, Evidence

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
_MOST_NAMES = 500
_MOST_FINDINGS = 200
_NAME_CHARACTERS = 300
_DECIDING = ("build", "test")
_COPIED = ("name", "kind", "command", "exit_code", "tests", "runner", "base")

EvidenceOutcome = Literal["passed", "failed", "none"]
Result = Literal["PASSED", "WARNED", "FAILED"]
_Sha = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GitDigest(_Part):
    gitCommit: _Sha
    gitTree: _Sha


class StatementSubject(_Part):
    name: str
    digest: GitDigest


class OutputDigest(_Part):
    sha256: _Sha256
    """Of everything that was kept, as `GET …/output/{check}` returns it."""
    bytes: int
    truncated: bool
    """Whether the sandbox dropped the middle of it."""


class CheckFacts(_Part):
    name: str
    kind: CheckKind
    command: str
    workdir: str = "."
    outcome: str
    exit_code: int | None
    duration_seconds: float
    tests: dict[str, int] | None
    output: OutputDigest | None
    runner: str | None = None
    base: dict[str, str] | None = None
    new_failures: list[str] = []
    still_failing: list[str] = []
    old_failures: list[str] = []
    fixed: list[str] = []
    flaky: list[str] = []
    removed: list[str] = []
    newly_skipped: list[str] = []


class NameList(_Part):
    count: int
    sha256: _Sha256
    """Of the canonical JSON of all names, sorted; the statement itself lists only the first of many."""


class EnvironmentRecord(_Part):
    layer: str | None = None
    image: str | None = None
    isolation: str | None = None
    variables: list[str] = []
    """Names only."""


class EvidenceFacts(_Part):
    """Our own record."""

    agent_work_order_id: str
    round: int
    step: str
    attempt: int
    outcome: EvidenceOutcome
    """`none`: nothing could be shown either way."""
    summary: str
    created_at: datetime
    base: GitDigest
    environment: EnvironmentRecord
    checks: list[CheckFacts]
    tests: dict[Literal["passed", "warned", "failed"], NameList]
    red_to_green: list[dict[str, Any]] | None
    tampering: list[dict[str, Any]] | None
    """None when it was not looked for."""
    version: str
    """Of Journeyman."""


class ResultPredicate(_Part):
    result: Result
    """`FAILED` also where nothing was shown: the type has no word for it, and it must not read as a pass."""
    configuration: list[dict[str, Any]]
    passedTests: list[str]
    warnedTests: list[str]
    failedTests: list[str]
    journeyman: EvidenceFacts


class Statement(_Part):
    type: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Annotated[list[StatementSubject], Field(min_length=1, max_length=1)]
    predicateType: Literal["https://in-toto.io/attestation/test-result/v0.1"]
    predicate: ResultPredicate

    @property
    def facts(self) -> EvidenceFacts:
        return self.predicate.journeyman

    @property
    def head(self) -> GitDigest:
        return self.subject[0].digest


def statement_of(
    evidence: Evidence,
    outputs: Sequence[CheckOutput],
    *,
    repository_url: str,
    branch: str,
    journeyman: str,
) -> bytes:
    """The statement's canonical bytes; `journeyman` is the version that made it."""
    names = _names(evidence.checks, outputs)
    facts = {
        "agent_work_order_id": evidence.agent_work_order_id,
        "round": evidence.round,
        "step": evidence.step,
        "attempt": evidence.attempt,
        "outcome": outcome_word(evidence.passed),
        "summary": evidence.summary[:2000],
        "created_at": evidence.created_at.isoformat(),
        "base": {"gitCommit": evidence.base_commit_sha, "gitTree": evidence.base_tree_sha},
        "environment": evidence.environment or {},
        "checks": _check_facts(evidence.checks, outputs),
        "tests": {word: {"count": len(found), "sha256": _digest(found)} for word, found in names.items()},
        "red_to_green": _bounded(evidence.red_to_green),
        "tampering": _bounded(evidence.tampering),
        "version": journeyman,
    }
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {
                "name": subject_name(repository_url, branch),
                "digest": {"gitCommit": evidence.commit_sha, "gitTree": evidence.tree_sha},
            }
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": _result(evidence, names["warned"]),
            "configuration": [
                {
                    "name": str(check["name"]),
                    "digest": {"sha256": _digest([check["command"], check.get("workdir", ".")])},
                }
                for check in evidence.checks
            ],
            **{f"{word}Tests": [_cut(name) for name in found[:_MOST_NAMES]] for word, found in names.items()},
            "journeyman": facts,
        },
    }
    return canonical(Statement.model_validate(_encodable(statement)).model_dump(mode="json", by_alias=True))


def attest(
    evidence: Evidence,
    outputs: Sequence[CheckOutput],
    key: EvidenceKey,
    *,
    repository_url: str,
    branch: str,
    redact: Callable[[str], str],
) -> Evidence:
    """The evidence with its statement, signed."""
    payload = statement_of(
        evidence, outputs, repository_url=repository_url, branch=branch, journeyman=version("journeyman")
    )
    return replace(evidence, statement=seal(redact(payload.decode()).encode(), key))


def read_statement(payload: bytes) -> Statement:
    """A statement whose signature is known to be good. Raises InvalidEvidence."""
    try:
        return Statement.model_validate(strict_json(payload))
    except ValidationError as error:
        raise InvalidEvidence(f"it is not a statement of Journeyman: {first_mistake(error)}") from None


def subject_name(repository_url: str, branch: str) -> str:
    """Repository and branch; of an address neither user nor password, of a directory only its name."""
    parts = urlsplit(repository_url)
    ref = f"@refs/heads/{branch}"
    if parts.scheme in ("http", "https") and parts.hostname:
        port = f":{parts.port}" if parts.port else ""
        return f"git+{parts.scheme}://{parts.hostname}{port}{parts.path}{ref}"
    return f"{posixpath.basename(unquote(parts.path).rstrip('/'))}{ref}"


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def outcome_word(passed: bool | None) -> EvidenceOutcome:
    return "none" if passed is None else "passed" if passed else "failed"


def _result(evidence: Evidence, warned: Sequence[str]) -> Result:
    if not evidence.passed:
        return "FAILED"
    return "WARNED" if warned or evidence.tampering else "PASSED"


def _check_facts(checks: Iterable[Mapping[str, Any]], outputs: Sequence[CheckOutput]) -> list[dict[str, Any]]:
    kept = {one.check_name: one for one in outputs}
    lists = [field.name for field in fields(Comparison)]
    return [
        {
            **{name: check.get(name) for name in _COPIED},
            "workdir": check.get("workdir", "."),
            "outcome": outcome_of(check),
            "duration_seconds": check.get("duration_seconds", 0.0),
            "output": _output_digest(kept.get(check["name"])),
            **{name: [_cut(test) for test in (check.get(name) or [])[:_MOST_NAMES]] for name in lists},
        }
        for check in checks
    ]


def _output_digest(kept: CheckOutput | None) -> dict[str, Any] | None:
    if kept is None:
        return None
    return {"sha256": kept.sha256, "bytes": len(kept.output), "truncated": kept.truncated}


def _names(checks: Iterable[Mapping[str, Any]], outputs: Sequence[CheckOutput]) -> dict[str, list[str]]:
    """All tests by what became of them; a check that reports no single tests stands for itself."""
    results = {one.check_name: one.results or [] for one in outputs}
    found: dict[str, set[str]] = {"passed": set(), "warned": set(), "failed": set()}
    for check in checks:
        excused = {*(check.get("old_failures") or ()), *(check.get("flaky") or ())}
        cases = [one for one in results.get(check["name"], ()) if one["outcome"] != "skipped"]
        for case in cases:
            word = "warned" if case["test_id"] in excused else case["outcome"]
            found[word].add(f"{check['name']}: {case['test_id']}")
        if not cases:
            found[_word_of(check)].add(check["name"])
        elif check["kind"] not in _DECIDING and outcome_of(check) != "passed":
            found["warned"].add(check["name"])
    return {word: sorted(names) for word, names in found.items()}


def _word_of(check: Mapping[str, Any]) -> str:
    outcome = outcome_of(check)
    if outcome == "passed":
        return "passed"
    return "failed" if outcome in ("failed", "timed_out") and check["kind"] in _DECIDING else "warned"


def _encodable(value: dict[str, Any]) -> Any:
    """The same without halves of surrogate pairs, which a test's name may hold and UTF-8 cannot."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def _cut(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else f"{name[:_NAME_CHARACTERS]}…"


def _bounded(findings: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """The first of many; what follows is counted, so that none disappears in silence."""
    if findings is None or len(findings) <= _MOST_FINDINGS:
        return None if findings is None else list(findings)
    return [*findings[:_MOST_FINDINGS], {"more": len(findings) - _MOST_FINDINGS}]
