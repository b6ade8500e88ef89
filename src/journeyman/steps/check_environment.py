"""Check whether a repository can be worked on: rights, clone, tools, set-up and checks of the untouched base.

No agent works and nothing is changed; what was found is kept with the repository as a report. An agent is
asked for a definition only where the order names a model.

Safe to repeat because everything is looked at anew and the report replaces the one before.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from journeyman.agents.roles import ROLES, environment_prompt
from journeyman.environments.definition import as_yaml, parse_definition
from journeyman.environments.doctor import (
    CheckFact,
    CloneFact,
    DeniedFact,
    EnvironmentFacts,
    LayerFact,
    ServiceFact,
    SetupProblem,
    ToolFact,
    diagnose,
)
from journeyman.environments.plan import Environment, ToolNeed
from journeyman.environments.services import ServiceStart, start_services
from journeyman.environments.tool_versions import fits
from journeyman.errors import JourneymanError
from journeyman.events.log import read_all
from journeyman.events.types import AgentNotice, EnvironmentReady, NetworkDenied
from journeyman.git.commit_files import list_files
from journeyman.sandboxes.base import Sandbox
from journeyman.steps.context import StepContext
from journeyman.verification.own_code import code_under_test
from journeyman.verification.records import as_dict
from journeyman.verification.run import run_checks
from journeyman.work_orders.order import PREPARE
from journeyman.work_orders.repository_record import definition_in_force

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
    checks: tuple[CheckFact, ...]
    tools: tuple[ToolFact, ...]
    services: tuple[ServiceFact, ...] = ()
    problem: SetupProblem | None = None


async def run(context: StepContext) -> CheckEnvironmentOutput:
    rights = await context.forge.verify(context.repository)
    checked = await _check(context)
    proposal = await _proposal(context, checked.environment)
    order, events = context.order, await read_all(context.orders.database, context.order_id)
    report = diagnose(
        EnvironmentFacts(
            agent_work_order_id=context.order_id,
            commit_sha=context.workspace.base_commit_sha,
            checked_at=datetime.now(UTC),
            repository_url=order.repository_url,
            can_push=rights.can_push,
            source=checked.environment.source,
            ecosystems=checked.environment.ecosystems,
            notes=checked.environment.notes,
            install=tuple(one.command for one in checked.environment.install),
            tools=checked.tools,
            clone=await _clone(context),
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
        state=report.state,
        report=report.model_dump(mode="json"),
        default_branch=rights.default_branch,
        rights={"push": rights.can_push, "pull_request": rights.can_push, "workflows": None},
    )
    blocking = [one.what for one in report.findings if one.blocks]
    summary = blocking[0] if blocking else f"Ready, with a score of {report.score}."
    return CheckEnvironmentOutput(score=report.score, state=report.state, summary=summary)


async def _check(context: StepContext) -> CheckedEnvironment:
    """Set-up, services, tools and checks in a clean sandbox on the untouched base."""
    planned, ready = await context.environment.planned(), await context.environment.ready()
    environment = ready.environment
    async with context.sandboxes.clean(context.workspace.base_commit_sha) as sandbox:
        services = await start_services(
            sandbox, environment.start, environment.env, workdir=environment.workdir
        )
        tools = [await _tool(sandbox, need) for need in environment.tools]
        verdict = await run_checks(
            sandbox,
            environment.checks,
            timeout=context.settings.verification_timeout_seconds,
            code=code_under_test(planned.project, planned.project, changed=(), diff=""),
        )
    return CheckedEnvironment(
        replace(environment, notes=ready.notes),
        tuple(_check_fact(as_dict(one)) for one in verdict.checks),
        tuple(tools),
        tuple(map(_service_fact, services)),
        SetupProblem(reason=ready.problem.reason, remedy=ready.problem.remedy, command=ready.problem.command)
        if ready.problem
        else None,
    )


def _service_fact(started: ServiceStart) -> ServiceFact:
    return ServiceFact(
        command=started.service.command,
        is_ready=started.ok,
        duration_seconds=round(started.duration_seconds, 2),
        detail=started.problem,
    )


def _check_fact(result: Mapping[str, Any]) -> CheckFact:
    return CheckFact(
        name=result["name"],
        kind=result["kind"],
        command=result["command"],
        workdir=result.get("workdir", "."),
        outcome=result["outcome"],
        summary=result["summary"][:_MOST_SUMMARY],
        remedy=result.get("remedy") or "",
        duration_seconds=result["duration_seconds"],
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


async def _proposal(context: StepContext, environment: Environment) -> str:
    """The definition in force where people wrote one, else an agent's, else what was detected."""
    record = await context.orders.repositories.find(context.order.repository_url)
    if (given := definition_in_force(context.order, record)) is not None:
        return given
    detected = as_yaml(environment)
    if not context.order.model:
        return detected
    try:
        outcome = await context.agent.turn(
            ROLES["explore"], environment_prompt(detected), deliverable=DefinitionProposal
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
    return detected
