"""Check whether a repository can be worked on: rights, clone, tools, set-up and checks of the untouched base.

No agent works and nothing is changed; what was found is kept with the repository as a report. An agent is
asked for a definition only where the order names a model.

Safe to repeat because everything is looked at anew and the report replaces the one before.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from journeyman.agents.roles import ROLES, environment_prompt
from journeyman.environments.definition import as_yaml, parse_definition, with_commands
from journeyman.environments.doctor import (
    TRIED,
    CheckFact,
    CloneFact,
    DeniedFact,
    EnvironmentFacts,
    FaultFact,
    LayerFact,
    MistakeFact,
    ServiceFact,
    SetupProblem,
    ToolFact,
    diagnose,
)
from journeyman.environments.plan import Environment, ToolNeed
from journeyman.environments.resolve import SERVER, own_file
from journeyman.environments.services import ServiceStart, start_services
from journeyman.environments.tool_versions import fits
from journeyman.errors import InvalidEnvironment, JourneymanError, Mistake
from journeyman.events.log import read_all
from journeyman.events.types import AgentNotice, EnvironmentReady, NetworkDenied
from journeyman.git.commit_files import list_files
from journeyman.sandboxes.base import Sandbox
from journeyman.steps.context import StepContext
from journeyman.verification.own_code import code_under_test
from journeyman.verification.run import CheckResult, run_checks
from journeyman.work_orders.order import PREPARE

_VERSION_SECONDS = 20.0
_OWN_VERSION_FLAG = {"go": "version", "java": "-version"}
_MOST_SUMMARY = 500


class CheckEnvironmentOutput(BaseModel):
    score: int
    state: str
    summary: str


class DefinitionProposal(BaseModel):
    """What an agent hands over when it is asked for a definition."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    definition: str = Field(min_length=1, max_length=20_000, description="The file's text, in YAML.")


@dataclass(frozen=True)
class CheckedEnvironment:
    """What came of the set-up, the services and the checks. `_check` is where they are carried out."""

    environment: Environment
    checks: tuple[CheckFact, ...] = ()
    tools: tuple[ToolFact, ...] = ()
    services: tuple[ServiceFact, ...] = ()
    problem: SetupProblem | None = None
    mistakes: tuple[MistakeFact, ...] = ()


async def run(context: StepContext) -> CheckEnvironmentOutput:
    rights = await context.forge.verify(context.repository)
    checked = await _check(context)
    proposal = await _proposal(context, checked)
    order, events = context.order, await read_all(context.orders.database, context.order_id)
    report = diagnose(
        EnvironmentFacts(
            agent_work_order_id=context.order_id,
            commit_sha=context.workspace.base_commit_sha,
            checked_at=datetime.now(UTC),
            repository_url=order.repository_url,
            can_push=rights.can_push,
            source=TRIED if order.initial_prompt else checked.environment.source,
            ecosystems=checked.environment.ecosystems,
            notes=checked.environment.notes,
            install=tuple(one.command for one in checked.environment.install),
            tools=checked.tools,
            clone=await _clone(context),
            mistakes=checked.mistakes,
            layer=_layer([one.event for one in events]),
            setup_problem=checked.problem,
            services=checked.services,
            checks=checked.checks,
            denied=_denied([one.event for one in events]),
            is_trial=bool(order.initial_prompt),
            proposed_definition=proposal,
        )
    )
    await context.orders.repositories.finish_check(
        order.repository_url,
        context.order_id,
        # What was only tried says nothing about the environment in force.
        state="unknown" if report.is_trial else report.state,
        report=report.model_dump(mode="json"),
        default_branch=rights.default_branch,
        rights={"push": rights.can_push, "pull_request": rights.can_push, "workflows": None},
    )
    blocking = [one.what for one in report.findings if one.blocks]
    summary = blocking[0] if blocking else f"Ready, with a score of {report.score}."
    return CheckEnvironmentOutput(score=report.score, state=report.state, summary=summary)


async def _check(context: StepContext) -> CheckedEnvironment:
    """Set-up, services, tools and checks in a clean sandbox on the untouched base."""
    try:
        planned = await context.environment.planned()
    except InvalidEnvironment as error:
        return await _mistaken(context, error)
    ready = await context.environment.ready()
    environment = ready.environment
    async with context.sandboxes.clean(context.workspace.base_commit_sha) as sandbox:
        services = await start_services(
            sandbox, environment.start, environment.env, workdir=environment.workdir
        )
        tools = [await _tool(sandbox, need) for need in environment.tools]
        results = await run_checks(
            sandbox,
            environment.checks,
            timeout=context.settings.verification_timeout_seconds,
            code=code_under_test(planned.project, planned.project, changed=(), diff=""),
        )
    return CheckedEnvironment(
        replace(environment, notes=ready.notes),
        tuple(map(_check_fact, results)),
        tuple(tools),
        tuple(map(_service_fact, services)),
        SetupProblem(reason=ready.problem.reason, remedy=ready.problem.remedy, command=ready.problem.command)
        if ready.problem
        else None,
    )


async def _mistaken(context: StepContext, error: InvalidEnvironment) -> CheckedEnvironment:
    """A definition that cannot be read: what was detected, and what is wrong with the text."""
    detected = await context.environment.detected(context.workspace.base_commit_sha)
    _, source = await _written(context)
    mistakes = error.errors or (Mistake(1, 1, error.message, error.hint),)
    return CheckedEnvironment(
        replace(detected.environment, source=source, install=()),
        mistakes=tuple(MistakeFact.model_validate(vars(one)) for one in mistakes),
    )


def _service_fact(started: ServiceStart) -> ServiceFact:
    return ServiceFact(
        command=started.service.command,
        is_ready=started.ok,
        duration_seconds=round(started.duration_seconds, 2),
        detail=started.problem,
    )


def _check_fact(result: CheckResult) -> CheckFact:
    return CheckFact(
        name=result.check.name,
        kind=result.check.kind,
        command=result.check.command,
        workdir=result.check.workdir,
        outcome=result.outcome,
        summary=result.summary[:_MOST_SUMMARY],
        faults=tuple(FaultFact.model_validate(vars(fault)) for fault in result.faults),
        duration_seconds=round(result.duration_seconds, 2),
    )


async def _tool(sandbox: Sandbox, need: ToolNeed) -> ToolFact:
    """What the sandbox has of a tool that the project asks for."""
    command = f"{shlex.quote(need.tool)} {_OWN_VERSION_FLAG.get(need.tool, '--version')} 2>&1"
    asked = await sandbox.execute_command(command, timeout=_VERSION_SECONDS, stdin=b"")
    lines = asked.output.strip().splitlines()
    found = lines[0][:200] if asked.ok and lines else None
    return ToolFact(
        tool=need.tool,
        wanted=need.version,
        said_in=need.said_in,
        found=found,
        fits=found is not None and fits(need.version, found),
    )


async def _clone(context: StepContext) -> CloneFact:
    files = await list_files(context.workspace.mirror, context.workspace.base_commit_sha, ".")
    prepared = await context.orders.steps.current(context.order_id, PREPARE)
    seconds = 0.0
    if prepared is not None and prepared.completed_at is not None:
        seconds = (prepared.completed_at - prepared.started_at).total_seconds()
    return CloneFact(
        duration_seconds=round(seconds, 2), size_bytes=sum(file.size for file in files), files=len(files)
    )


def _layer(events: Sequence[object]) -> LayerFact | None:
    made = [event for event in events if isinstance(event, EnvironmentReady)]
    return LayerFact.model_validate(made[-1].model_dump()) if made else None


def _denied(events: Sequence[object]) -> tuple[DeniedFact, ...]:
    """Hosts that the set-up was refused, each once."""
    denied = [event for event in events if isinstance(event, NetworkDenied)]
    hosts = {event.host: event for event in denied}
    return tuple(
        DeniedFact(host=host, command=event.command, may_be_allowed=event.may_be_allowed)
        for host, event in hosts.items()
    )


async def _proposal(context: StepContext, checked: CheckedEnvironment) -> str:
    """What people wrote, else what was detected with what the checks lack; an agent may better either."""
    text, _ = await _written(context)
    if text is None:
        lacking = [fault.command for check in checked.checks for fault in check.faults if fault.command]
        text = as_yaml(with_commands(checked.environment, lacking, why="a check lacks it"))
    if not context.order.model:
        return text
    try:
        outcome = await context.agent.turn(
            ROLES["explore"], environment_prompt(text), deliverable=DefinitionProposal
        )
        assert outcome.deliverable is None or isinstance(outcome.deliverable, DefinitionProposal)
        if outcome.deliverable is not None:
            parse_definition(outcome.deliverable.definition, source="proposal")
            return outcome.deliverable.definition
        why = "it handed nothing over"
    except JourneymanError as error:
        why = error.message
    notice = f"the agent's definition is not used: {why}"
    await context.emit(AgentNotice(step=context.spec.name, text=notice))
    return text


async def _written(context: StepContext) -> tuple[str | None, str]:
    """The definition that people wrote, and where: the one that is tried, the server's, the repository's."""
    if context.order.initial_prompt:
        return context.order.initial_prompt, TRIED
    record = await context.orders.repositories.find(context.order.repository_url)
    if record is not None and record.definition is not None:
        return record.definition, SERVER
    project = (await context.environment.detected(context.workspace.base_commit_sha)).project
    path = own_file(project)
    return (None, "") if path is None else (project.text(path), path)
