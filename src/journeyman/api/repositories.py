"""Repositories over HTTP: what the server knows of them, their environment, and its check.

A check is an order, so its answer comes at once and its report later; a check that ended without a report is
turned into one that says why, at the next request.
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from journeyman.api.environment_checks import begin_check, settled
from journeyman.api.fields import Address, InDigits, OneLineText, Position
from journeyman.api.forge_limits import in_time
from journeyman.api.idempotency import ReservedId
from journeyman.api.models import Body, Parameters
from journeyman.api.services import Given
from journeyman.api.work_orders import canonical_address
from journeyman.environments.definition import MAX_BYTES, parse_definition
from journeyman.environments.doctor import (
    CheckFact,
    EnvironmentReport,
    LayerFact,
    ServiceFact,
    ToolFact,
)
from journeyman.errors import NotFound
from journeyman.work_orders.repositories import parse_repository
from journeyman.work_orders.repository_record import EnvironmentState, RepositoryRecord, is_repository_id

router = APIRouter(prefix="/api/repositories", tags=["repositories"])

RepositoryId = Annotated[str, Field(json_schema_extra={"pattern": "^rp-[0-9a-z]{8}$"})]
DefinitionText = Annotated[str, Field(json_schema_extra={"maxLength": MAX_BYTES})]
"""Checked by `parse_definition`, which says more than a pattern can."""


class _Read(BaseModel):
    model_config = ConfigDict(from_attributes=True, frozen=True)


class RepositoriesQuery(Parameters):
    limit: Annotated[int, Field(ge=1, le=200), InDigits] = 50
    offset: Position = 0
    repository_url: OneLineText | None = None
    """Only this one, in any way of writing its address."""


class NewRepository(Body):
    repository_url: Address


class DefinitionRequest(Body):
    definition: DefinitionText


class CheckRequest(Body):
    definition: DefinitionText | None = None
    """Try this one without storing it; left out, the one in force is checked."""
    ask_agent: bool = False
    """Let an agent propose a definition, where a model is set."""


class RepositoryRights(_Read):
    push: bool
    pull_request: bool
    workflows: bool | None = None
    """Whether files of the forge's own workflows may be changed; null when the forge does not say."""


class KnownRepository(_Read):
    repository_id: str
    repository_url: str
    default_branch: str | None
    """Null until the first check."""
    rights: RepositoryRights | None
    environment_state: EnvironmentState
    has_definition: bool
    """Whether the server keeps a definition of its environment."""
    score: int | None
    """Of the last check, 0 to 100."""
    attention: str | None
    """The first finding of the last check that needs attention, in words."""
    checked_at: AwareDatetime | None
    check_order_id: str | None
    """The work order of the last check; its events show how far it is."""
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, record: RepositoryRecord) -> "KnownRepository":
        report = _report(record)
        blocking = [one.what for one in report.findings if one.blocks] if report else []
        needs_attention = record.environment_state == "needs_attention"
        known = {
            **vars(record),
            "has_definition": record.definition is not None,
            "score": report and report.score,
            "attention": blocking[0] if blocking and needs_attention else None,
            "checked_at": report and report.checked_at,
        }
        return cls.model_validate(known)


class OneRepository(_Read):
    repository: KnownRepository


class RepositoryPage(_Read):
    repositories: list[KnownRepository]
    total_count: int
    has_more: bool


class EnvironmentView(_Read):
    """What the last check found the environment to be."""

    ecosystems: tuple[str, ...]
    tools: tuple[ToolFact, ...]
    install: tuple[str, ...]
    services: tuple[ServiceFact, ...]
    notes: tuple[str, ...]


class RepositoryEnvironment(_Read):
    repository: KnownRepository
    definition: str | None
    """The one that is stored on the server."""
    environment: EnvironmentView | None
    """Null until it was checked; `source`, `layer`, `checks` and `report` come with it."""
    source: str | None
    layer: LayerFact | None
    checks: tuple[CheckFact, ...]
    report: EnvironmentReport | None

    @classmethod
    def of(cls, record: RepositoryRecord) -> "RepositoryEnvironment":
        report = _report(record)
        return cls(
            repository=KnownRepository.of(record),
            definition=record.definition,
            environment=EnvironmentView.model_validate(report) if report and report.source else None,
            source=(report and report.source) or None,
            layer=report and report.layer,
            checks=report.checks if report else (),
            report=report,
        )


class BegunCheck(OneRepository):
    agent_work_order_id: str
    """The order that checks it: its events are streamed as those of any other."""


async def find_repository(repository_id: RepositoryId, services: Given) -> RepositoryRecord:
    # A text that cannot be an id never reaches the database, which may refuse its characters.
    if not is_repository_id(repository_id):
        raise NotFound("there is no such repository", hint="The list of repositories shows those that exist.")
    return await settled(services, await services.orders.repositories.get(repository_id))


Known = Annotated[RepositoryRecord, Depends(find_repository)]


@router.get("")
async def list_repositories(query: Annotated[RepositoriesQuery, Query()], services: Given) -> RepositoryPage:
    """Those that were changed last first."""
    found, total = await services.orders.repositories.page(
        limit=query.limit,
        offset=query.offset,
        repository_url=canonical_address(query.repository_url, services.settings),
    )
    records = [await settled(services, record) for record in found]
    return RepositoryPage(
        repositories=[KnownRepository.of(record) for record in records],
        total_count=total,
        has_more=query.offset + len(found) < total,
    )


@router.post("", status_code=201)
async def add_repository(request: NewRepository, services: Given) -> OneRepository:
    """Make a repository known, and look what our credential may do there now."""
    settings = services.settings
    repository = parse_repository(
        request.repository_url, github_url=settings.github_url, allow_local=settings.allow_local_repositories
    )
    facts = await in_time(services.forges[repository.forge].verify(repository), repository)
    record, _ = await services.orders.repositories.ensure(
        repository.url,
        default_branch=facts.default_branch,
        rights={"push": facts.can_push, "pull_request": facts.can_push, "workflows": None},
    )
    return OneRepository(repository=KnownRepository.of(await settled(services, record)))


@router.get("/{repository_id}/environment")
async def environment(repository: Known) -> RepositoryEnvironment:
    return RepositoryEnvironment.of(repository)


@router.put("/{repository_id}/environment")
async def store_definition(
    repository: Known, request: DefinitionRequest, services: Given
) -> RepositoryEnvironment:
    """Keep a definition on the server; it outranks what the repository says. A wrong one names its lines.

    The text of the last trial has been checked: its outcome holds.
    """
    parse_definition(request.definition, source="server")
    tried = _report(repository)
    was_tried = tried and tried.is_trial and tried.proposed_definition == request.definition
    stored = await services.orders.repositories.store_definition(
        repository.repository_id,
        request.definition,
        state=tried.state if tried and was_tried else "unknown",
    )
    return RepositoryEnvironment.of(stored)


@router.delete("/{repository_id}/environment")
async def remove_definition(repository: Known, services: Given) -> RepositoryEnvironment:
    """Let the repository's own files, or detection, decide again."""
    if repository.definition is not None:
        repository = await services.orders.repositories.store_definition(repository.repository_id, None)
    return RepositoryEnvironment.of(repository)


@router.post("/{repository_id}/environment/check", status_code=202)
async def check_environment(
    repository: Known, services: Given, reserved_id: ReservedId, request: CheckRequest | None = None
) -> BegunCheck:
    """Clone, install and check the untouched base in an order of its own; the report appears when it ends."""
    asked = request or CheckRequest()
    record, order = await begin_check(
        services, repository, asked.definition, ask_agent=asked.ask_agent, reserved_id=reserved_id
    )
    return BegunCheck(repository=KnownRepository.of(record), agent_work_order_id=order.agent_work_order_id)


def _report(record: RepositoryRecord) -> EnvironmentReport | None:
    stored: dict[str, Any] | None = record.report
    return None if stored is None else EnvironmentReport.model_validate(stored)
