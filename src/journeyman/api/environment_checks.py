"""Begin the check of a repository's environment as an order, and turn one that broke off into a report.

A check needs no model and changes nothing, so it is accepted with less than other orders: whether the
repository can be reached at all is what it is to find out.
"""

from datetime import UTC, datetime

from journeyman.agents.base import Agent
from journeyman.api.services import Services
from journeyman.api.submission import check_room, check_sandbox, created_event, ready_agent, usable_model
from journeyman.environments.definition import parse_definition
from journeyman.environments.doctor import failed_check
from journeyman.errors import Conflict, InvalidInput, NotFound
from journeyman.work_orders.order import WorkOrder, branch_name_of, new_order_id
from journeyman.work_orders.repositories import Repository, parse_repository
from journeyman.work_orders.repository_record import ENVIRONMENT_CHECK, RepositoryRecord


async def begin_check(
    services: Services,
    record: RepositoryRecord,
    definition: str | None,
    *,
    ask_agent: bool,
    reserved_id: str | None,
) -> tuple[RepositoryRecord, WorkOrder]:
    """The order that checks it: the one that runs already where the same is asked, else a new one."""
    if definition is not None:
        parse_definition(definition, source="definition")
    order = await _order(services, record, definition or "", ask_agent, reserved_id or new_order_id())
    if (running := await _running(services, record)) is not None:
        if _asks_the_same(running, order):
            return record, running
        raise Conflict(
            "the repository is being checked already",
            hint="Wait until the check has ended, then ask again.",
        )
    await check_room(services)
    await check_sandbox(services)
    try:
        await services.orders.create(order, created_event(order))
    except Conflict:
        if reserved_id is None:
            raise
        order = await services.orders.get(reserved_id)  # the same request, sent again
    record = await services.orders.repositories.begin_check(record.repository_id, order.agent_work_order_id)
    services.control.wake()
    return await settled(services, record), order


async def settled(services: Services, record: RepositoryRecord) -> RepositoryRecord:
    """The record as it is, with a report in place of one that its check did not live to write."""
    if record.environment_state != "checking" or record.check_order_id is None:
        return record
    try:
        order = await services.orders.get(record.check_order_id)
    except NotFound:
        return record
    if not order.is_idle or order.resume_at is not None:
        return record
    ended = "was cancelled" if order.status == "cancelled" else "ended without a report"
    report = failed_check(
        agent_work_order_id=order.agent_work_order_id,
        repository_url=record.repository_url,
        checked_at=order.updated_at,
        reason=order.error_message or f"The check {ended}.",
        remedy=order.error_hint or "",
    )
    await services.orders.repositories.finish_check(
        record.repository_url,
        order.agent_work_order_id,
        state=report.state,
        report=report.model_dump(mode="json"),
    )
    return await services.orders.repositories.get(record.repository_id)


async def _order(
    services: Services, record: RepositoryRecord, definition: str, ask_agent: bool, order_id: str
) -> WorkOrder:
    settings = services.settings
    repository = parse_repository(
        record.repository_url, github_url=settings.github_url, allow_local=settings.allow_local_repositories
    )
    workflow = services.workflows.get(ENVIRONMENT_CHECK)
    agent = await ready_agent(services, None)
    title = f"Check the environment of {_name(repository)}"
    now = datetime.now(UTC)
    return WorkOrder(
        agent_work_order_id=order_id,
        repository_url=repository.url,
        sandbox_type="git_worktree",
        workflow_type=ENVIRONMENT_CHECK,
        workflow=workflow.model_dump(mode="json"),
        title=title,
        initial_prompt=definition,
        agent=agent.name,
        model=_model(services, agent) if ask_agent else "",
        git_branch_name=branch_name_of(title, order_id),
        base_branch=None,
        created_at=now,
        updated_at=now,
    )


def _model(services: Services, agent: Agent) -> str:
    if not services.settings.model:
        raise InvalidInput(
            "an agent needs a model, and the server has no default model",
            hint="Use what was detected, or ask an administrator of the server for a model. "
            "JOURNEYMAN_MODEL names it.",
        )
    return usable_model(services, None, agent)


async def _running(services: Services, record: RepositoryRecord) -> WorkOrder | None:
    if record.environment_state != "checking" or record.check_order_id is None:
        return None
    try:
        return await services.orders.get(record.check_order_id)
    except NotFound:
        return None


def _asks_the_same(one: WorkOrder, other: WorkOrder) -> bool:
    return (one.initial_prompt, one.model) == (other.initial_prompt, other.model)


def _name(repository: Repository) -> str:
    is_local = repository.forge == "local"
    return repository.name if is_local else f"{repository.owner}/{repository.name}"
