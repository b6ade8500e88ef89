"""Whether a repository can be worked on, as a score, findings and remedies, from facts that were gathered.

Pure: the facts come from a step that clones, installs and checks; what they mean is decided here. A finding
that blocks is one without which an order's result could not be trusted or delivered.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from journeyman.environments.plan import CheckOutcome

RemedyAction = Literal["check_again", "allow_host", "edit_definition"]
"""What a button can do about a finding."""
RemedyOwner = Literal["maintainer", "operator", "anyone"]
"""Who can bring what is missing: a maintainer of the repository, an operator of the server, or anyone who may
steer the order."""

TRIED = "definition"
"""The source of an environment that was only tried: not in force, neither stored nor in the repository."""
_PASSED_ENOUGH = frozenset({"passed", "flaky"})
_REQUIRED = frozenset({"test", "build"})
_COST_OF_OUTCOME: dict[CheckOutcome, int] = {
    "passed": 0,
    "flaky": 10,
    "failed": 20,
    "unavailable": 20,
    "timed_out": 25,
    "environment": 30,
}
_COST_OF_MISTAKE = 100
_COST_OF_STYLE = 5
"""What a linter or type checker costs that does not pass: it may have failed for years."""


class _Stored(BaseModel):
    """Kept as JSON; what a later version adds is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ToolFact(_Stored):
    tool: str
    wanted: str
    """As the project writes it; empty when any version will do."""
    said_in: str
    found: str | None
    """The version in the sandbox; null when the tool is not there."""
    fits: bool


class CloneFact(_Stored):
    duration_seconds: float
    size_bytes: int
    """Of all files of the commit."""
    files: int


class LayerFact(_Stored):
    layer: str
    reused: bool
    duration_seconds: float
    size_bytes: int
    files: int


class SetupProblem(_Stored):
    reason: str
    remedy: str
    command: str | None = None


class ServiceFact(_Stored):
    command: str
    is_ready: bool
    duration_seconds: float
    detail: str = ""


class FaultFact(_Stored):
    """Something that a check needs and that is not there."""

    what: str
    remedy: str
    who: RemedyOwner
    command: str = ""
    """What would bring it, for a shell; empty where no command does."""


class CheckFact(_Stored):
    name: str
    kind: str
    command: str
    workdir: str = "."
    outcome: CheckOutcome
    summary: str = ""
    faults: tuple[FaultFact, ...] = ()
    duration_seconds: float = 0.0


class DeniedFact(_Stored):
    host: str
    command: str | None = None
    may_be_allowed: bool = True


class MistakeFact(_Stored):
    """One thing that is wrong in the definition; lines and columns count from 1."""

    line: int
    column: int
    message: str
    hint: str


class EnvironmentFacts(_Stored):
    """What a check gathered."""

    agent_work_order_id: str
    commit_sha: str
    checked_at: datetime
    repository_url: str
    can_push: bool
    source: str
    ecosystems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    install: tuple[str, ...] = ()
    tools: tuple[ToolFact, ...] = ()
    clone: CloneFact | None = None
    mistakes: tuple[MistakeFact, ...] = ()
    """Of the definition; where there is one, nothing was installed and checked."""
    layer: LayerFact | None = None
    setup_problem: SetupProblem | None = None
    services: tuple[ServiceFact, ...] = ()
    checks: tuple[CheckFact, ...] = ()
    denied: tuple[DeniedFact, ...] = ()
    is_trial: bool = False
    """Whether a definition was tried that is not the one in force."""
    proposed_definition: str = ""


class EnvironmentFinding(_Stored):
    what: str
    remedy: str
    command: str | None = None
    """What brings the remedy about, for a shell."""
    failed_command: str | None = None
    """The command that showed it."""
    who: RemedyOwner | None = None
    """Who can do it, where that is known."""
    action: RemedyAction | None = None
    host: str | None = None
    """For `allow_host`."""
    blocks: bool = True
    cost: int = 0
    """Points of the score that it takes."""


class EnvironmentReport(EnvironmentFacts):
    score: int
    """0 to 100."""
    state: Literal["ready", "needs_attention"]
    findings: tuple[EnvironmentFinding, ...] = ()


def diagnose(facts: EnvironmentFacts) -> EnvironmentReport:
    findings = sorted(_findings(facts), key=lambda one: (not one.blocks, -one.cost))
    return EnvironmentReport(
        **facts.model_dump(),
        score=max(0, 100 - sum(one.cost for one in findings)),
        state="needs_attention" if any(one.blocks for one in findings) else "ready",
        findings=tuple(findings),
    )


def failed_check(
    *, agent_work_order_id: str, repository_url: str, checked_at: datetime, reason: str, remedy: str
) -> EnvironmentReport:
    """The report of a check that ended before it could find out anything."""
    return EnvironmentReport(
        agent_work_order_id=agent_work_order_id,
        commit_sha="",
        checked_at=checked_at,
        repository_url=repository_url,
        can_push=False,
        source="",
        score=0,
        state="needs_attention",
        findings=(
            EnvironmentFinding(what=reason, remedy=remedy or "Check again.", action="check_again", cost=100),
        ),
    )


def _findings(facts: EnvironmentFacts) -> Iterator[EnvironmentFinding]:
    if not facts.can_push:
        yield EnvironmentFinding(
            what="The repository can be read but not pushed to, so no pull request can be opened.",
            remedy="Give the server a token, or the user it runs as a right, that may write there.",
            cost=20,
        )
    if facts.mistakes:
        yield from (_of_mistake(facts.source, one) for one in facts.mistakes)
        return
    yield from _of_denials(facts.denied)
    if (problem := facts.setup_problem) is not None:
        yield EnvironmentFinding(
            what=f"Not everything could be installed: {problem.reason}",
            remedy=problem.remedy,
            failed_command=problem.command,
            action="check_again",
            cost=30,
        )
    for tool in facts.tools:
        if (finding := _of_tool(tool)) is not None:
            yield finding
    for service in facts.services:
        if not service.is_ready:
            yield EnvironmentFinding(
                what=f"A service did not become ready: {service.detail or 'it did not answer in time'}",
                remedy="Correct its command, or how to tell that it is ready, under 'start'.",
                failed_command=service.command,
                action="edit_definition",
                cost=20,
            )
    yield from _of_checks(facts.checks)


def _of_mistake(source: str, mistake: MistakeFact) -> EnvironmentFinding:
    return EnvironmentFinding(
        what=f"{_PLACES.get(source, source)}, line {mistake.line}: {mistake.message}",
        remedy=mistake.hint,
        action="edit_definition",
        cost=_COST_OF_MISTAKE,
    )


def _of_denials(denied: Iterable[DeniedFact]) -> Iterator[EnvironmentFinding]:
    for one in denied:
        if one.may_be_allowed:
            yield EnvironmentFinding(
                what=f"The set-up wanted to reach {one.host}, which is not a package registry.",
                remedy="Allow it if the project needs it, then check again.",
                failed_command=one.command,
                action="allow_host",
                host=one.host,
                blocks=False,
                cost=5,
            )
        else:
            yield EnvironmentFinding(
                what=f"The set-up wanted to reach {one.host}, a private address.",
                remedy="Private addresses stay closed. Install what is needed from a public host.",
                failed_command=one.command,
                blocks=False,
                cost=5,
            )


def _of_tool(tool: ToolFact) -> EnvironmentFinding | None:
    wanted = f"{tool.tool} {tool.wanted}".strip()
    if tool.found is None:
        return EnvironmentFinding(
            what=f"{wanted} is not there; {tool.said_in} asks for it.",
            remedy=f"Install {wanted} on the server, where sandboxes can see it.",
            blocks=False,
            cost=10,
        )
    if not tool.fits:
        return EnvironmentFinding(
            what=f"{tool.said_in} asks for {wanted}; there is {tool.found}.",
            remedy=f"Install {wanted} on the server. Until then {tool.found} is used.",
            blocks=False,
            cost=5,
        )
    return None


def _of_checks(checks: tuple[CheckFact, ...]) -> Iterator[EnvironmentFinding]:
    has_passed = any(one.kind in _REQUIRED and one.outcome in _PASSED_ENOUGH for one in checks)
    if not any(one.kind == "test" for one in checks):
        yield EnvironmentFinding(
            what="No tests were found." if checks else "No tests and no build were found.",
            remedy="Name the command that runs them under 'checks'.",
            action="edit_definition",
            blocks=not has_passed,
            cost=25,
        )
    for check in checks:
        yield from _of_check(check)


def _of_check(check: CheckFact) -> Iterator[EnvironmentFinding]:
    """One finding for each thing that it lacks; the first of them costs what the check costs."""
    if check.outcome == "passed":
        return
    is_required = check.kind in _REQUIRED
    what, remedy, action = _WORDS[check.outcome]
    finding = EnvironmentFinding(
        what=f"{check.name} {what}" + (f": {check.summary}" if check.summary else ""),
        remedy=remedy,
        failed_command=check.command,
        action=action,
        blocks=is_required and check.outcome != "flaky",
        cost=_COST_OF_OUTCOME[check.outcome] if is_required else _COST_OF_STYLE,
    )
    if not check.faults:
        yield finding
    for number, fault in enumerate(check.faults):
        lacks = {
            "what": f"{check.name} {what}: {fault.what}",
            "remedy": fault.remedy,
            "command": fault.command or None,
            "who": fault.who,
        }
        yield finding.model_copy(update=lacks if number == 0 else {**lacks, "cost": 0})


_PLACES = {"server": "The stored definition", TRIED: "The definition"}
_WORDS: dict[str, tuple[str, str, RemedyAction | None]] = {
    "failed": (
        "fails before anything is changed",
        "Repair it on the default branch, by an order for instance, or leave the check out.",
        "edit_definition",
    ),
    "environment": (
        "could not be run here",
        "Add the command that installs what is missing under 'install'.",
        "edit_definition",
    ),
    "timed_out": ("did not end in time", "Name a quicker command under 'checks'.", "edit_definition"),
    "flaky": ("passes only sometimes", "Look for what it depends on: time, order, the network.", None),
    "unavailable": (
        "has nothing to run",
        "Correct its command under 'checks', or leave it out.",
        "edit_definition",
    ),
}
