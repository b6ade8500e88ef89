"""What facts about a repository come to: a score, a state and findings with remedies."""

from datetime import UTC, datetime
from typing import Any

import pytest

from journeyman.environments.doctor import (
    CheckFact,
    DeniedFact,
    EnvironmentFacts,
    EnvironmentReport,
    FaultFact,
    MistakeFact,
    ServiceFact,
    SetupProblem,
    ToolFact,
    diagnose,
    failed_check,
)
from journeyman.environments.plan import CheckOutcome

NOW = datetime.now(UTC)


def _check(outcome: CheckOutcome, kind: str = "test", **more: Any) -> CheckFact:
    name = {"test": "pytest", "lint": "ruff", "build": "make", "types": "mypy"}[kind]
    return CheckFact(name=name, kind=kind, command=f"{name} .", outcome=outcome, **more)


def _facts(**more: Any) -> EnvironmentFacts:
    given: dict[str, Any] = {
        "agent_work_order_id": "wo-aaaaaaaa",
        "commit_sha": "a" * 40,
        "checked_at": NOW,
        "repository_url": "https://github.com/acme/thing",
        "can_push": True,
        "source": "detected",
        "checks": (_check("passed"),),
        **more,
    }
    return EnvironmentFacts(**given)


def test_a_repository_that_is_in_order_has_the_full_score_and_no_finding() -> None:
    report = diagnose(_facts(checks=(_check("passed"), _check("passed", "lint"))))
    assert (report.score, report.state, report.findings) == (100, "ready", ())


@pytest.mark.parametrize(
    ("more", "score", "state", "words"),
    [
        ({"can_push": False}, 80, "needs_attention", "not pushed to"),
        ({"checks": (_check("failed"),)}, 80, "needs_attention", "fails before anything is changed"),
        ({"checks": (_check("environment"),)}, 70, "needs_attention", "could not be run here"),
        ({"checks": (_check("timed_out"),)}, 75, "needs_attention", "did not end in time"),
        ({"checks": (_check("unavailable"),)}, 80, "needs_attention", "has nothing to run"),
        ({"checks": (_check("flaky"),)}, 90, "ready", "passes only sometimes"),
        ({"checks": (_check("passed"), _check("failed", "lint"))}, 95, "ready", "ruff fails"),
        ({"checks": (_check("passed"), _check("environment", "types"))}, 95, "ready", "mypy could not"),
        ({"checks": (_check("passed"), _check("failed", "build"))}, 80, "needs_attention", "make fails"),
        ({"checks": ()}, 75, "needs_attention", "No tests and no build"),
        ({"checks": (_check("passed", "lint"),)}, 75, "needs_attention", "No tests were found"),
        ({"checks": (_check("passed", "build"),)}, 75, "ready", "No tests were found"),
        (
            {"setup_problem": SetupProblem(reason="no index answers", remedy="Allow it.", command="pip")},
            70,
            "needs_attention",
            "no index answers",
        ),
        (
            {"tools": (ToolFact(tool="node", wanted=">=20", said_in="engines", found=None, fits=False),)},
            90,
            "ready",
            "node >=20 is not there",
        ),
        (
            {"tools": (ToolFact(tool="go", wanted="1.22", said_in="go.mod", found="1.19", fits=False),)},
            95,
            "ready",
            "go.mod asks for go 1.22; there is 1.19",
        ),
        (
            {"services": (ServiceFact(command="redis", is_ready=False, duration_seconds=2),)},
            80,
            "needs_attention",
            "did not become ready",
        ),
        ({"denied": (DeniedFact(host="files.example"),)}, 95, "ready", "files.example"),
    ],
)
def test_each_shortcoming_costs_points_and_says_what_to_do(
    more: dict[str, Any], score: int, state: str, words: str
) -> None:
    report = diagnose(_facts(**more))
    assert (report.score, report.state) == (score, state)
    [finding] = report.findings
    assert words in finding.what
    assert finding.remedy


def test_tools_and_services_that_are_there_are_no_findings() -> None:
    report = diagnose(
        _facts(
            tools=(
                ToolFact(tool="python3", wanted="3.11", said_in=".python-version", found="3.11.7", fits=True),
            ),
            services=(ServiceFact(command="redis-server &", is_ready=True, duration_seconds=0.3),),
        )
    )
    assert report.score == 100


def test_a_host_that_can_be_allowed_has_a_button_and_a_private_one_has_none() -> None:
    report = diagnose(
        _facts(denied=(DeniedFact(host="a.example"), DeniedFact(host="10.0.0.1", may_be_allowed=False)))
    )
    buttons = {finding.host: finding.action for finding in report.findings}
    assert buttons == {"a.example": "allow_host", None: None}


def test_what_blocks_comes_first_and_the_dearest_before_the_others() -> None:
    report = diagnose(
        _facts(
            can_push=False,
            checks=(_check("environment"), _check("failed", "lint")),
            denied=(DeniedFact(host="a.example"),),
        )
    )
    assert [(one.blocks, one.cost) for one in report.findings] == [
        (True, 30),
        (True, 20),
        (False, 5),
        (False, 5),
    ]


def test_no_score_is_below_nothing() -> None:
    checks = tuple(_check("environment") for _ in range(9))
    assert diagnose(_facts(checks=checks)).score == 0


def test_each_thing_that_a_check_lacks_is_a_finding_with_its_command_and_the_check_costs_once() -> None:
    faults = (
        FaultFact(
            what="freezegun is not installed",
            remedy="Declare it.",
            who="maintainer",
            command="pip install freezegun",
        ),
        FaultFact(what="there is no redis-server", remedy="Install it.", who="operator"),
    )
    report = diagnose(_facts(checks=(_check("environment", faults=faults),)))
    assert report.score == diagnose(_facts(checks=(_check("environment"),))).score
    assert [(one.what, one.remedy, one.command, one.who) for one in report.findings] == [
        (
            "pytest could not be run here: freezegun is not installed",
            "Declare it.",
            "pip install freezegun",
            "maintainer",
        ),
        ("pytest could not be run here: there is no redis-server", "Install it.", None, "operator"),
    ]
    assert {one.failed_command for one in report.findings} == {"pytest ."}


def test_a_definition_with_mistakes_has_a_finding_for_each_line_and_no_other() -> None:
    mistakes = (
        MistakeFact(line=2, column=1, message="unknown field 'cheks'", hint="Did you mean 'checks'?"),
        MistakeFact(line=4, column=1, message="'/etc' leads out", hint="Write a path."),
    )
    report = diagnose(_facts(source=".journeyman/environment.yaml", checks=(), mistakes=mistakes))
    assert (report.score, report.state) == (0, "needs_attention")
    assert [(one.what, one.remedy, one.action) for one in report.findings] == [
        (
            ".journeyman/environment.yaml, line 2: unknown field 'cheks'",
            "Did you mean 'checks'?",
            "edit_definition",
        ),
        (".journeyman/environment.yaml, line 4: '/etc' leads out", "Write a path.", "edit_definition"),
    ]


def test_a_report_comes_back_from_its_stored_form() -> None:
    report = diagnose(_facts(denied=(DeniedFact(host="a.example"),)))
    stored = report.model_dump(mode="json")
    assert EnvironmentReport.model_validate({**stored, "of_a_later_version": 1}) == report


def test_a_check_that_broke_off_reports_why() -> None:
    report = failed_check(
        agent_work_order_id="wo-aaaaaaaa",
        repository_url="https://github.com/acme/thing",
        checked_at=NOW,
        reason="the repository could not be cloned",
        remedy="",
    )
    assert (report.score, report.state) == (0, "needs_attention")
    assert report.findings[0].what == "the repository could not be cloned"
    assert report.findings[0].remedy
