"""The choices for an order: agents, models, workflows and sandboxes, and what each still needs."""

import asyncio
from pathlib import Path
from typing import Literal

import yaml
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from journeyman.api.sandbox_types import NAMED, NamedSandboxType, missing, opened
from journeyman.api.services import Given
from journeyman.errors import InvalidWorkflow
from journeyman.gateway.gateway import ModelInfo
from journeyman.git.sample import SAMPLE_MODEL, SAMPLE_TASK, is_sample_only, prepare
from journeyman.work_orders.repository_record import ENVIRONMENT_CHECK, ENVIRONMENT_FILE
from journeyman.workflows.schema import Workflow

router = APIRouter(prefix="/api", tags=["look-ups"])

_STARTED_ELSEWHERE = frozenset({ENVIRONMENT_CHECK, ENVIRONMENT_FILE})
"""Workflows that are about a repository's environment, and are started from there."""


class _Choice(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)

    ready: bool
    needs: str
    """What to do when it is not ready; empty when it is."""


class AgentChoice(_Choice):
    name: str
    version: str
    """Empty for the built-in agent, which is as new as Journeyman."""
    providers: tuple[str, ...]
    """Whose models it can use."""


class AgentChoices(BaseModel):
    agents: list[AgentChoice]


class ModelChoice(_Choice):
    name: str
    provider: str
    context_window: int | None
    input_usd_per_million: float | None
    """Null when unknown."""
    output_usd_per_million: float | None
    sample_only: bool = False
    """Whether it knows nothing but the sample repository; orders on others are refused."""


class ModelChoices(BaseModel):
    models: list[ModelChoice]
    troubles: list[str]
    """Providers that could not be asked for their models just now; a first choice stands for them."""
    default_model: str | None


class WorkflowStep(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    name: str
    kind: str
    depends_on: tuple[str, ...]
    requires_approval: bool


class WorkflowChoice(_Choice):
    name: str
    alias_of: str | None = None
    """The workflow that this is another name of."""
    version: int | None = None
    """Null, as the fields below are empty, when the file of the workflow cannot be used."""
    description: str = ""
    steps: list[WorkflowStep] = []
    yaml: str = ""
    """The definition, as it would stand in a file."""


class WorkflowChoices(BaseModel):
    workflows: list[WorkflowChoice]
    troubles: list[str]
    """Files that are not used, because built-in workflows have their names."""


class SandboxGives(BaseModel):
    isolation: str
    """What holds the agent apart from this machine; `none` means nothing."""
    start_seconds: float | None
    """Null while it was not measured."""
    persistence: str
    network: Literal["none", "open"]
    cost: str


class SandboxChoice(_Choice):
    sandbox_type: NamedSandboxType
    isolation: str
    """Empty for a type that this version cannot open."""
    gives: SandboxGives | None
    """Null for such a type."""


class SandboxChoices(BaseModel):
    sandboxes: list[SandboxChoice]


@router.get("/agents")
async def agents(services: Given) -> AgentChoices:
    answers = {name: await agent.readiness() for name, agent in services.agents.items()}
    return AgentChoices(
        agents=[
            AgentChoice(
                name=name,
                ready=answer.ready,
                needs=answer.needs,
                version=services.agents[name].about.version,
                providers=services.agents[name].about.providers,
            )
            for name, answer in answers.items()
        ]
    )


@router.get("/models")
async def models(services: Given) -> ModelChoices:
    known, troubles = await services.models.gateway.listed_models()
    return ModelChoices(
        troubles=troubles,
        models=[_model_choice(model, services.settings.scripts) for model in known],
        default_model=services.settings.model or None,
    )


def _model_choice(model: ModelInfo, scripts: Path | None) -> ModelChoice:
    choice = ModelChoice.model_validate(model)
    return choice.model_copy(update={"sample_only": is_sample_only(model.name, scripts)})


@router.get("/workflows")
async def workflows(services: Given) -> WorkflowChoices:
    return WorkflowChoices(
        workflows=[
            _workflow_choice(name, workflow)
            for name, workflow in (await asyncio.to_thread(services.workflows.all)).items()
            if name not in _STARTED_ELSEWHERE
        ],
        troubles=await asyncio.to_thread(services.workflows.ignored),
    )


def _workflow_choice(name: str, workflow: Workflow | InvalidWorkflow) -> WorkflowChoice:
    if isinstance(workflow, InvalidWorkflow):
        return WorkflowChoice(name=name, ready=False, needs=f"{workflow.message} {workflow.hint}".strip())
    return WorkflowChoice(
        name=name,
        alias_of=workflow.name if workflow.name != name else None,
        version=workflow.version,
        description=workflow.description,
        steps=[WorkflowStep.model_validate(step) for step in workflow.steps],
        yaml=_as_yaml(workflow),
        ready=True,
        needs="",
    )


def _as_yaml(workflow: Workflow) -> str:
    definition = workflow.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(definition, sort_keys=False, allow_unicode=True, width=100)


class Sample(BaseModel):
    repository_url: str
    initial_prompt: str
    model: str


@router.post("/sample", status_code=201)
async def sample(services: Given) -> Sample:
    """A small repository with a mistake in it, made when it is not there yet, and a task that fits."""
    path = await asyncio.to_thread(prepare, services.settings.home)
    return Sample(repository_url=path.as_uri(), initial_prompt=SAMPLE_TASK, model=SAMPLE_MODEL)


@router.get("/sandboxes")
async def sandboxes(services: Given) -> SandboxChoices:
    """Every type there is a name for; those that can be opened here first."""
    answer = await services.host.sandboxes.readiness()
    gives = SandboxGives(
        isolation=services.host.sandboxes.isolation,
        start_seconds=None,
        persistence="The workspace stays until the order is cleaned up.",
        network=services.settings.sandbox_network,
        cost="Nothing: it runs on this machine.",
    )
    return SandboxChoices(
        sandboxes=[
            SandboxChoice(
                sandbox_type=kind,
                isolation=gives.isolation if opened(kind) else "",
                gives=gives if opened(kind) else None,
                ready=answer.ready and opened(kind) is not None,
                needs=answer.needs if opened(kind) else missing(kind),
            )
            for kind in NAMED
        ]
    )
