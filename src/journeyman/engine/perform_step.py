"""Retry, time limit, events and records around one step: the boundary at which errors become results.

Nothing a step raises gets past this file except the end of the process itself, so a round always
knows how each of its steps ended.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from journeyman import telemetry
from journeyman.engine.approvals import Siblings, approved
from journeyman.engine.attempt import Attempt
from journeyman.engine.prepare_environment import prepare_environment
from journeyman.engine.resources import WorkerResources
from journeyman.engine.retries import some_jitter, wait_before_retry
from journeyman.engine.step_contexts import StepContexts, order_context
from journeyman.engine.store_retries import NO_ROOM
from journeyman.engine.sync_remote import sync_remote
from journeyman.errors import (
    AgentFailed,
    Internal,
    InvalidWorkflow,
    JourneymanError,
    NotAllowed,
    StoreUnavailable,
    Transient,
)
from journeyman.events.types import (
    AgentWorkOrderStarted,
    Event,
    StepCompleted,
    StepFailed,
    StepRetrying,
    StepSkipped,
    StepStarted,
    WorkflowPhaseCompleted,
    WorkflowPhaseStarted,
)
from journeyman.steps import VERBS
from journeyman.steps.context import ChecksOutdated, StepBroken
from journeyman.work_orders.lifecycle import PHASE_OF_KIND, outdated
from journeyman.work_orders.order import PREPARE, StepRecord, StepStatus, WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.progress import Done, Fail, Move, Run, Skip
from journeyman.workflows.schema import StepSpec

_RECORDED: dict[str, StepStatus] = {
    "completed": "completed",
    "failed": "failed",
    "skipped": "skipped",
    "outdated": "waiting",
}


def _ended(record: StepRecord, end: Done) -> StepRecord:
    """The record of a step that has ended; `_outcome` reads it back."""
    is_failed = end.status == "failed"
    return replace(
        record,
        status=_RECORDED[end.status],
        completed_at=datetime.now(UTC),
        output=dict(end.output),
        error_message=end.error_message if is_failed else None,
        error_category=end.error_category if is_failed else None,
        error_hint=end.hint if is_failed else None,
        retry_after=end.retry_after,
    )


def _outcome(record: StepRecord | None) -> Done | None:
    """How a step ended, as its record remembers it; None when it has not."""
    if record is None or record.status == "running" or record.status == "waiting":
        return None
    end = Done(kind=record.kind, status=record.status, output=record.output or {})
    if record.status != "failed":
        return end
    return replace(
        end,
        error_message=record.error_message or "",
        error_category=record.error_category or "internal",
        hint=record.error_hint or "",
        retry_after=record.retry_after,
    )


async def begin_round(resources: WorkerResources, attempt: Attempt) -> Done:
    """Take the order up and prepare its branch and workspace.

    Safe to repeat because an order that is running already stays so, and so does what is prepared: its record
    counts for as long as the same worker holds the order. Another one has other disks, and prepares anew.
    """
    orders, order_id = resources.orders, attempt.order_id
    order = await orders.get(order_id)
    if order.is_idle or Attempt.current(order) != attempt:
        # A crash let this attempt outlive the pause that ended it; what came after it is not its business.
        return Done(kind="prepare", status="skipped")
    if order.status == "pending":
        order = await orders.change(
            order_id,
            AgentWorkOrderStarted(round=order.round, worker_id=resources.worker_id),
            status="running",
            execution_started_at=order.execution_started_at or datetime.now(UTC),
        )
    else:
        await orders.check_held(order_id)
    known = _outcome(await orders.steps.current(order_id, PREPARE))
    if known is not None and known.output["holder"] == orders.holder:
        return replace(known, output=known.output["order"])
    started_at = datetime.now(UTC)
    end = await _prepare_with_retries(resources, order)
    record = StepRecord(
        agent_work_order_id=order_id,
        round=attempt.round,
        step=PREPARE,
        kind="prepare",
        status="completed",
        attempts=1,
        started_at=started_at,
    )
    output = {"holder": orders.holder, "order": dict(end.output)}
    await orders.steps.save(_ended(record, replace(end, output=output)))
    return end


async def _prepare_with_retries(resources: WorkerResources, order: WorkOrder) -> Done:
    orders, order_id = resources.orders, order.agent_work_order_id
    tries = 1
    while (error := await _prepare(resources, order)) is not None:
        wait = wait_before_retry(
            error.category,
            tries,
            _retries(error),
            passes=error.retryable,
            retry_after=error.retry_after,
            jitter=some_jitter(),
        )
        if wait is None:
            return _failed("prepare", error)
        tries += 1
        await orders.emit(order_id, _retry_event("prepare", tries, wait, error))
        await asyncio.sleep(wait)
    # Preparing may have named it.
    named = await orders.get(order_id)
    return Done(kind="prepare", status="completed", output=order_context(named))


async def _prepare(resources: WorkerResources, order: WorkOrder) -> JourneymanError | None:
    try:
        mirror, workspace = await resources.checkout.prepare(order)
        await sync_remote(
            resources.orders,
            order.agent_work_order_id,
            mirror,
            workspace,
            repositories=resources.repositories,
            handover=resources.handover,
        )
        await prepare_environment(resources, order.agent_work_order_id, workspace.mirror)
    except Exception as error:
        return as_ours(error)
    return None


async def perform(
    resources: WorkerResources, order_id: str, move: Move, done: Mapping[str, Done], siblings: Siblings
) -> Done:
    """Make one move of a round, and write down how it went.

    Safe to repeat because the record is the memory: a step that completed, failed or was skipped answers with
    its outcome, until a new attempt lets it count as not done.
    """
    orders = resources.orders
    earlier = await orders.steps.current(order_id, move.step.name)
    if (known := _outcome(earlier)) is not None:
        return known
    match move:
        case Run(spec):
            cut_off = earlier if earlier is not None and earlier.completed_at is None else None
            saved = cut_off.output if cut_off else None
            step = _Attempts(orders, resources.step_contexts, order_id, spec, done, saved)
            return await _run_if_allowed(step, siblings)
        case Skip(spec, reason):
            skipped = StepSkipped(step=spec.name, kind=spec.kind, reason=reason)
            return await _note(orders, order_id, spec, Done(kind=spec.kind, status="skipped"), skipped)
        case Fail(spec, reason):
            wrong = InvalidWorkflow(reason, hint="Correct the step's condition in the workflow.")
            return await _note_failure(orders, order_id, spec, wrong)


async def _run_if_allowed(step: "_Attempts", siblings: Siblings) -> Done:
    """Begin a step when a person let it: what is decided while others are at work takes effect at once."""
    orders, order_id, spec = step.orders, step.order_id, step.spec
    if spec.requires_approval:
        try:
            while not await _is_approved(step):
                siblings.rests(spec.name)
                if not await siblings.wait():
                    return Done(kind=spec.kind, status="awaiting_approval")
        except NotAllowed as rejected:
            return await _note_failure(orders, order_id, spec, rejected)
        siblings.at_work(spec.name)
    return await _run(step)


async def _is_approved(step: "_Attempts") -> bool:
    order = await step.orders.get(step.order_id)
    workspace = await step.contexts.workspaces.open(order)
    return await approved(step.orders, workspace, order, step.spec)


async def _note_failure(orders: WorkOrders, order_id: str, spec: StepSpec, error: JourneymanError) -> Done:
    end = _failed(spec.kind, error)
    return await _note(orders, order_id, spec, end, _failure_event(spec, end, 0.0))


async def _note(orders: WorkOrders, order_id: str, spec: StepSpec, end: Done, event: Event) -> Done:
    """Write down the end of a step that was never begun."""
    order = await orders.get(order_id)
    record = StepRecord(
        agent_work_order_id=order_id,
        round=order.round,
        step=spec.name,
        kind=spec.kind,
        status="waiting",
        attempts=0,
        started_at=datetime.now(UTC),
    )
    await orders.steps.save(replace(_ended(record, end), output=None), event)
    return end


@dataclass(frozen=True)
class _Attempts:
    orders: WorkOrders
    contexts: StepContexts
    order_id: str
    spec: StepSpec
    done: Mapping[str, Done]
    saved_output: Mapping[str, Any] | None
    """What an attempt that was cut off had saved of its result."""


async def _run(step: _Attempts) -> Done:
    spec, orders = step.spec, step.orders
    started_at, began = datetime.now(UTC), time.monotonic()
    attempt = 1
    while True:
        record = await _start(step, attempt, started_at)
        end, error = await _attempt(step, record)
        if error is None:
            break
        wait = wait_before_retry(
            error.category,
            attempt,
            _retries(error, spec.retries),
            passes=error.retryable,
            retry_after=error.retry_after,
            jitter=some_jitter(),
        )
        if wait is None:
            break
        attempt += 1
        await orders.emit(step.order_id, _retry_event(spec.name, attempt, wait, error))
        await asyncio.sleep(wait)
        latest = await orders.steps.current(step.order_id, spec.name)
        step = replace(step, saved_output=latest.output if latest else None)
    duration = round(time.monotonic() - began, 3)
    await orders.steps.save(_ended(record, end), *_end_events(spec, end, duration))
    return end


def _retries(error: JourneymanError, allowed: int = 0) -> int:
    """A full disk or a lost database is no fault of the step, so it is waited out, however long it takes."""
    return sys.maxsize if isinstance(error, StoreUnavailable) else allowed


async def _start(step: _Attempts, attempt: int, started_at: datetime) -> StepRecord:
    spec, order = step.spec, await step.orders.get(step.order_id)
    record = StepRecord(
        agent_work_order_id=step.order_id,
        round=order.round,
        step=spec.name,
        kind=spec.kind,
        status="running",
        attempts=attempt,
        started_at=started_at,
        output=None if step.saved_output is None else dict(step.saved_output),
    )
    events: list[Event] = [StepStarted(step=spec.name, kind=spec.kind, attempt=attempt)]
    changes: dict[str, Any] = {}
    phase = PHASE_OF_KIND.get(spec.kind)
    if phase is not None and order.current_phase != phase:
        events.insert(0, WorkflowPhaseStarted(phase=phase))
        changes["current_phase"] = phase
    if spec.kind == "verify":
        changes["verification"] = outdated(order.verification)
    await step.orders.steps.save(record, *events, **changes)
    return record


async def _attempt(step: _Attempts, record: StepRecord) -> tuple[Done, JourneymanError | None]:
    spec = step.spec

    async def save_output(output: BaseModel) -> None:
        await step.orders.steps.save(replace(record, output=output.model_dump(mode="json")))

    try:
        async with asyncio.timeout(spec.timeout) as limit:
            order = await step.orders.get(step.order_id)
            context = await step.contexts.build(
                order,
                spec,
                step.done,
                limit,
                save_output,
                attempt=record.attempts,
                saved_output=step.saved_output,
            )
            output = await VERBS[spec.kind](context)
    except TimeoutError as error:
        ours = _timed_out(spec) if limit.expired() else as_ours(error)
        return _failed(spec.kind, ours), ours
    except ChecksOutdated:
        return Done(kind=spec.kind, status="outdated"), None
    except StepBroken as error:
        return replace(_failed(spec.kind, error), output=error.output.model_dump(mode="json")), error
    except Exception as error:
        ours = as_ours(error)
        return _failed(spec.kind, ours), ours
    return Done(kind=spec.kind, status="completed", output=output.model_dump(mode="json")), None


def as_ours(error: Exception) -> JourneymanError:
    """One of our errors for anything that was raised; what we did not foresee is logged in full."""
    if isinstance(error, JourneymanError):
        return error
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return StoreUnavailable(
            f"there is no room on the disk: {error}",
            hint="Free some space on the disk that holds JOURNEYMAN_HOME; it is tried again by itself.",
        )
    if isinstance(error, TimeoutError | ConnectionError):
        return Transient(f"{type(error).__name__}: {error}", hint="Try again.")
    telemetry.logger().error("unexpected_error", exc_info=error)
    return Internal(
        f"unexpected {type(error).__name__}: {error}",
        hint="This is a fault in Journeyman; its log says more.",
    )


def _timed_out(spec: StepSpec) -> AgentFailed:
    return AgentFailed(
        f"the step took longer than {spec.timeout:g} s", hint="Give the step a longer `timeout`."
    )


def _failed(kind: str, error: JourneymanError) -> Done:
    return Done(
        kind=kind,
        status="failed",
        output={},
        error_message=error.message,
        error_category=error.category,
        hint=error.hint,
        retry_after=error.retry_after,
    )


def _retry_event(step: str, attempt: int, wait: float, error: JourneymanError) -> StepRetrying:
    return StepRetrying(
        step=step,
        attempt=attempt,
        wait_seconds=round(wait, 1),
        error_message=error.message,
        error_category=error.category,
    )


def _end_events(spec: StepSpec, end: Done, duration: float) -> list[Event]:
    if end.status == "failed":
        return [_failure_event(spec, end, duration)]
    if end.status == "outdated":
        return []  # it begins again after the checks, and says so then
    completed: list[Event] = [
        StepCompleted(step=spec.name, kind=spec.kind, duration_seconds=duration, output=dict(end.output))
    ]
    if spec.kind in PHASE_OF_KIND:
        completed.append(WorkflowPhaseCompleted(phase=PHASE_OF_KIND[spec.kind], duration_seconds=duration))
    return completed


def _failure_event(spec: StepSpec, end: Done, duration: float) -> StepFailed:
    return StepFailed(
        step=spec.name,
        kind=spec.kind,
        duration_seconds=duration,
        error_message=end.error_message,
        error_category=end.error_category,
        hint=end.hint,
    )
