"""What a signed statement says of a verification, whatever the tests are called."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from journeyman.errors import InvalidEvidence
from journeyman.verification.statement import canonical, read_statement, subject_name
from journeyman.work_orders.order import CheckOutput
from tests.verification.evidences import PRINTED, a_check, an_evidence, payload_of, statement


def test_the_subject_is_the_commit_with_its_tree() -> None:
    document = statement(an_evidence())
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert document["subject"] == [
        {
            "name": "git+https://github.com/acme/api@refs/heads/journeyman/fix-wo-1a2b3c4d",
            "digest": {"gitCommit": "a" * 40, "gitTree": "b" * 40},
        }
    ]


def test_the_same_evidence_is_the_same_bytes() -> None:
    evidence = an_evidence()
    turned = replace(evidence, checks=[dict(reversed(list(one.items()))) for one in evidence.checks])
    assert payload_of(turned, PRINTED) == payload_of(evidence, PRINTED)
    assert payload_of(evidence, PRINTED) == canonical(json.loads(payload_of(evidence, PRINTED)))


def test_a_check_is_recorded_with_all_that_is_needed_to_run_it_again() -> None:
    facts = statement(an_evidence(), PRINTED)["predicate"]["journeyman"]
    [check] = facts["checks"]
    assert (check["command"], check["workdir"], check["exit_code"]) == ("python -m pytest", ".", 0)
    assert check["output"] == {
        "sha256": hashlib.sha256(PRINTED.output).hexdigest(),
        "bytes": len(PRINTED.output),
        "truncated": False,
    }
    assert facts["base"] == {"gitCommit": "c" * 40, "gitTree": "d" * 40}
    assert facts["environment"]["variables"] == ["DATABASE_URL"]


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({}, "PASSED"),
        ({"passed": False}, "FAILED"),
        ({"passed": None}, "FAILED"),
        ({"tampering": []}, "PASSED"),
        ({"tampering": [{"kind": "skipped", "path": "t.py", "lines": [3], "detail": "x"}]}, "WARNED"),
        ({"checks": [a_check(), a_check("ruff", kind="lint", outcome="failed")]}, "WARNED"),
        ({"passed": None, "checks": []}, "FAILED"),
    ],
)
def test_only_what_was_shown_without_a_doubt_reads_as_passed(fields: dict[str, Any], result: str) -> None:
    assert statement(an_evidence(**fields))["predicate"]["result"] == result


def _cases(**outcomes: str) -> CheckOutput:
    results = [{"test_id": name, "outcome": outcome} for name, outcome in outcomes.items()]
    return replace(PRINTED, results=results)


def test_tests_are_listed_by_what_became_of_them() -> None:
    checks = [a_check(outcome="failed", old_failures=["b"], flaky=["c"], new_failures=["d"])]
    printed = _cases(a="passed", b="failed", c="failed", d="failed", e="skipped")
    predicate = statement(an_evidence(passed=False, checks=checks), printed)["predicate"]
    assert predicate["passedTests"] == ["pytest: a"]
    assert predicate["warnedTests"] == ["pytest: b", "pytest: c"]
    assert predicate["failedTests"] == ["pytest: d"]


def test_a_check_without_single_tests_stands_for_itself() -> None:
    checks = [
        a_check("build", kind="build"),
        a_check("ruff", kind="lint", outcome="failed"),
        a_check("pytest", outcome="failed"),
        a_check("npm", outcome="environment"),
    ]
    predicate = statement(an_evidence(passed=False, checks=checks))["predicate"]
    assert predicate["passedTests"] == ["build"]
    assert predicate["failedTests"] == ["pytest"]
    assert predicate["warnedTests"] == ["npm", "ruff"]


def test_a_long_list_is_cut_and_its_hash_is_over_the_whole() -> None:
    names = [f"t{number:05}" for number in range(50_000)]
    printed = _cases(**dict.fromkeys(names, "passed"))
    document = statement(an_evidence(), printed)
    assert len(document["predicate"]["passedTests"]) == 500
    whole = canonical([f"pytest: {name}" for name in names])
    listed = document["predicate"]["journeyman"]["tests"]["passed"]
    assert listed == {"count": 50_000, "sha256": hashlib.sha256(whole).hexdigest()}


@pytest.mark.parametrize("name", ["x" * 10_000, "two\nlines", "<b>\x1b[31m", "half \ud800 a pair", "\0"])
def test_a_name_of_any_kind_makes_a_statement_that_can_be_read(name: str) -> None:
    printed = replace(PRINTED, results=[{"test_id": name, "outcome": "failed"}])
    evidence = an_evidence(passed=False, checks=[a_check(new_failures=[name])], summary=name)
    read = read_statement(payload_of(evidence, printed))
    [shown] = read.predicate.failedTests
    assert shown.startswith("pytest: ")
    assert len(shown) <= 310


def test_many_findings_are_cut_and_counted() -> None:
    findings = [{"kind": "removed", "path": f"{number}"} for number in range(1000)]
    facts = statement(an_evidence(tampering=findings))["predicate"]["journeyman"]
    assert len(facts["tampering"]) == 201
    assert facts["tampering"][-1] == {"more": 800}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/api", "git+https://github.com/acme/api@refs/heads/b"),
        ("https://ada:secret@git.example:8443/api", "git+https://git.example:8443/api@refs/heads/b"),
        ("file:///srv/people/ada/my%20api", "my api@refs/heads/b"),
    ],
)
def test_the_name_holds_no_credential_and_no_path_of_a_machine(url: str, name: str) -> None:
    assert subject_name(url, "b") == name


def _without(document: dict[str, Any], *path: str) -> None:
    for part in path[:-1]:
        document = document[part]
    del document[path[-1]]


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.update(_type="https://in-toto.io/Statement/v0.1"),
        lambda it: it.update(predicateType="https://slsa.dev/provenance/v1"),
        lambda it: it.update(subject=[]),
        lambda it: it.update(subject=it["subject"] * 2),
        lambda it: it["subject"][0]["digest"].update(gitCommit="HEAD"),
        lambda it: it["subject"][0]["digest"].update(gitCommit=["a" * 40]),
        lambda it: it["predicate"].update(result="passed"),
        lambda it: it["predicate"]["journeyman"].update(outcome="PASSED"),
        lambda it: it["predicate"]["journeyman"].update(checks={}),
        lambda it: _without(it, "predicate", "journeyman", "base"),
        lambda it: _without(it, "predicate", "journeyman"),
    ],
)
def test_what_is_no_statement_of_ours_is_refused(change: Any) -> None:
    document = statement(an_evidence())
    change(document)
    with pytest.raises(InvalidEvidence):
        read_statement(canonical(document))
