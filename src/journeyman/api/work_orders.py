"""Work orders over HTTP: create, list and change them, and read what one has done so far."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from journeyman.api.fields import OrderId
from journeyman.api.forge_limits import in_time
from journeyman.api.idempotency import ReservedId
from journeyman.api.models import (
    AgentWorkOrder,
    DiffAnswer,
    DiffQuery,
    GitFacts,
    GitProgress,
    ListQuery,
    LogPage,
    NewWorkOrder,
    OneWorkOrder,
    PageQuery,
    PullRequestAnswer,
    Step,
    Steps,
    WorkOrderChange,
    WorkOrderPage,
    event_message,
)
from journeyman.api.services import Given
from journeyman.api.submission import check_choices, submit
from journeyman.errors import Conflict, InvalidRepository, NotFound
from journeyman.events import log
from journeyman.events.types import AgentWorkOrderChanged, GithubPullRequestUpdated, StoredEvent
from journeyman.forges.pull_request_state import note_state
from journeyman.git.progress import phase_marks
from journeyman.git.remote_branch import newest_head
from journeyman.settings import Settings
from journeyman.work_orders.lifecycle import allowed_actions
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.repositories import Repository, parse_repository
from journeyman.work_orders.repository_record import ENVIRONMENT_CHECK
from journeyman.work_orders.store import DecidedChange, OrderChanges, OrderFilter

router = APIRouter(prefix="/api/agent-work-orders", tags=["agent work orders"])

_ORDER_ID = re.compile(r"wo-[0-9a-z]{8}")
_WARNINGS = frozenset({"step_retrying", "agent_notice"})


async def find_order(agent_work_order_id: OrderId, services: Given) -> WorkOrder:
    # A text that cannot be an id never reaches the database, which may refuse its characters.
    if not _ORDER_ID.fullmatch(agent_work_order_id):
        raise NotFound("there is no such work order", hint="The list of orders shows those that exist.")
    return await services.orders.get(agent_work_order_id)


Order = Annotated[WorkOrder, Depends(find_order)]


@router.post("", status_code=201)
async def create(request: NewWorkOrder, services: Given, reserved_id: ReservedId) -> OneWorkOrder:
    return OneWorkOrder.of(await submit(services, request, reserved_id))


@router.get("")
async def list_orders(query: Annotated[ListQuery, Query()], services: Given) -> WorkOrderPage:
    wanted = OrderFilter(
        statuses=query.status,
        repository_url=canonical_address(query.repository_url, services.settings),
        workflow_type=query.workflow_type,
        without_workflow_type=ENVIRONMENT_CHECK if query.workflow_type is None else None,
        text=query.q,
        created_after=query.created_after,
        created_before=query.created_before,
    )
    found, total = await services.orders.find(wanted, limit=query.limit, offset=query.offset, sort=query.sort)
    places = await services.control.positions() if any(order.is_waiting for order in found) else {}
    return WorkOrderPage(
        agent_work_orders=[
            AgentWorkOrder.of(order, places.get(order.agent_work_order_id)) for order in found
        ],
        total_count=total,
        has_more=query.offset + len(found) < total,
    )


@router.get("/{agent_work_order_id}")
async def show(order: Order, services: Given) -> OneWorkOrder:
    services.branches.refresh(order)
    places = await services.control.positions() if order.is_waiting else {}
    return OneWorkOrder.of(order, places.get(order.agent_work_order_id))


@router.patch("/{agent_work_order_id}")
async def change(order: Order, request: WorkOrderChange, services: Given) -> OneWorkOrder:
    """Give the order another name, model or budget."""
    changes: OrderChanges = {}
    if request.title is not None:
        changes["title"] = request.title.strip()
    if request.model is not None:
        changes["model"] = request.model
    if "budget_usd" in request.model_fields_set:
        changes["budget_usd"] = request.budget_usd
    event = AgentWorkOrderChanged(
        title=changes.get("title"),
        model=request.model,
        budget_usd=request.budget_usd,
        budget_removed="budget_usd" in changes and request.budget_usd is None,
    )

    def decide(now: WorkOrder) -> DecidedChange:
        if request.model is not None and "change_model" not in allowed_actions(now):
            raise Conflict(
                "the order is running, and its model cannot change while it generates",
                hint="Pause it first, or wait until it rests.",
            )
        return [event], changes

    if changes:
        await check_choices(services, order, model=request.model)
        order = await services.orders.change_with(order.agent_work_order_id, decide)
    return OneWorkOrder.of(order)


@router.get("/{agent_work_order_id}/git-progress")
async def git_progress(order: Order, services: Given) -> GitProgress:
    services.branches.refresh(order)
    facts = GitFacts()
    if order.base_commit_sha is not None:
        mirror = await services.branches.mirror_of(order)
        in_notes = services.settings.records == "notes"
        steps = await services.orders.steps.of_order(order.agent_work_order_id) if in_notes else []
        facts = GitFacts.model_validate(
            await mirror.progress(
                order.agent_work_order_id,
                order.git_branch_name,
                order.base_commit_sha,
                phase_marks(steps),
                head=await newest_head(mirror, order.agent_work_order_id, order.git_branch_name),
            )
        )
    return GitProgress(
        agent_work_order_id=order.agent_work_order_id,
        current_phase=order.current_phase,
        snapshot_timestamp=datetime.now(UTC),
        **dict(facts),
    )


@router.get("/{agent_work_order_id}/logs")
async def logs(order: Order, query: Annotated[PageQuery, Query()], services: Given) -> LogPage:
    found, total = await log.page(
        services.database, order.agent_work_order_id, limit=query.limit, offset=query.offset
    )
    return LogPage(
        agent_work_order_id=order.agent_work_order_id,
        log_entries=[_log_entry(stored) for stored in found],
        total_count=total,
        has_more=query.offset + len(found) < total,
    )


@router.get("/{agent_work_order_id}/steps")
async def steps(order: Order, services: Given) -> Steps:
    found = await services.orders.steps.of_order(order.agent_work_order_id)
    return Steps(
        agent_work_order_id=order.agent_work_order_id, steps=[Step.model_validate(one) for one in found]
    )


@router.get(
    "/{agent_work_order_id}/diff",
    response_class=Response,
    responses={200: {"model": DiffAnswer, "content": {"text/x-diff": {"schema": {"type": "string"}}}}},
)
async def diff(
    order: Order, query: Annotated[DiffQuery, Query()], request: Request, services: Given
) -> Response:
    """Unified diff against the base; as `{agent_work_order_id, diff}` where JSON is asked for."""
    text = ""
    if order.base_commit_sha is not None:
        mirror = await services.branches.mirror_of(order)
        head = await newest_head(mirror, order.agent_work_order_id, order.git_branch_name)
        if head is not None:
            text = await mirror.diff(
                order.base_commit_sha, head, context_lines=query.context_lines, paths=query.path
            )
    if "application/json" in request.headers.get("accept", ""):
        answer = DiffAnswer(agent_work_order_id=order.agent_work_order_id, diff=text)
        return JSONResponse(answer.model_dump())
    return Response(text, media_type="text/x-diff; charset=utf-8")


@router.get("/{agent_work_order_id}/pull-request")
async def pull_request(order: Order, services: Given) -> PullRequestAnswer:
    """The order's pull request as its forge has it now."""
    repository = repository_of(order, services.settings)
    forge = services.forges[repository.forge]
    found = await in_time(forge.read_pull_request(repository, _pull_request_number(order)), repository)
    return PullRequestAnswer.model_validate(found)


@router.post("/{agent_work_order_id}/pull-request/ready")
async def mark_pull_request_ready(order: Order, services: Given) -> OneWorkOrder:
    """Take the pull request out of draft; one that is out already stays as it is."""
    repository = repository_of(order, services.settings)
    forge = services.forges[repository.forge]
    changed = await in_time(forge.mark_ready(repository, _pull_request_number(order)), repository)
    event = GithubPullRequestUpdated(
        github_pull_request_url=changed.url, number=changed.number, draft=changed.draft
    )
    return OneWorkOrder.of(await note_state(services.orders, order, changed, event))


def _pull_request_number(order: WorkOrder) -> int:
    if order.github_pull_request_number is None:
        raise Conflict(
            f"{order.agent_work_order_id} has no pull request yet",
            hint="It appears after the first commit; watch the order, then ask again.",
        )
    return order.github_pull_request_number


def repository_of(order: WorkOrder, settings: Settings) -> Repository:
    # An order that was accepted stays readable, whatever the settings say about new ones.
    return parse_repository(
        order.repository_url, github_url=settings.github_url, allow_local=True, must_exist=False
    )


def canonical_address(text: str | None, settings: Settings) -> str | None:
    """The address as orders keep it; one that names no repository matches no order."""
    if text is None:
        return None
    try:
        return parse_repository(text, github_url=settings.github_url, allow_local=True, must_exist=False).url
    except InvalidRepository:
        return text


def _log_entry(stored: StoredEvent) -> dict[str, Any]:
    message = dict(event_message(stored))
    event = message.pop("type")
    level = "error" if event.endswith("_failed") else "warning" if event in _WARNINGS else "info"
    return {"timestamp": message.pop("timestamp"), "level": level, "event": event, **message}
