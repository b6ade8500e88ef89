"""Work orders in the database: every change is written together with the events that tell it."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    CursorResult,
    Executable,
    Float,
    Table,
    Update,
    bindparam,
    case,
    cast,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from journeyman import telemetry
from journeyman.access.redaction import Redactor
from journeyman.database import Database, Transaction, carry_out, upserting
from journeyman.errors import Conflict, NotFound, Superseded
from journeyman.events import log
from journeyman.events.feed import Feed
from journeyman.events.tables import event_counters
from journeyman.events.types import (
    CHATTER,
    EVENT,
    Event,
    PromptAccepted,
    PromptCancelled,
    PromptStarted,
    StoredEvent,
)
from journeyman.work_orders.approvals import Approval
from journeyman.work_orders.lifecycle import advance
from journeyman.work_orders.order import FINISHED, PREPARE, Evidence, StepRecord, Usage, WorkOrder
from journeyman.work_orders.prompts import Mode, Prompt
from journeyman.work_orders.tables import approvals, evidence, prompts, steps, work_orders

Sort = Literal[
    "created_at", "-created_at", "updated_at", "-updated_at", "title", "-title", "status", "-status"
]
_ORDER_FIELDS = [field.name for field in fields(WorkOrder)]
_STEP_KEY = ("agent_work_order_id", "round", "step")
_EVIDENCE_KEY = (*_STEP_KEY, "attempt")
_APPROVAL_KEY = (*_STEP_KEY, "commit_sha")
_MOVES_THE_LINE = frozenset(
    {
        "agent_work_order_created",
        "agent_work_order_resumed",
        "agent_work_order_retried",
        "agent_work_order_requeued",
        "agent_work_order_completed",
        "agent_work_order_failed",
        "agent_work_order_cancelled",
        "agent_work_order_paused",
        "agent_work_order_awaiting_approval",
        "prompt_accepted",
        "prompt_started",
    }
)
"""The events after which an order waits that did not before, or a place is free."""
_USAGE = ("cost_usd", "tokens_in", "tokens_out", "tokens_cache_read")


@dataclass(frozen=True, kw_only=True)
class OrderFilter:
    statuses: Collection[str] = ()
    """Any of them; none means whichever."""
    repository_url: str | None = None
    workflow_type: str | None = None
    git_branch_name: str | None = None
    text: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        column = work_orders.c
        exact = {
            "repository_url": self.repository_url,
            "workflow_type": self.workflow_type,
            "git_branch_name": self.git_branch_name,
        }
        found = [column[name] == value for name, value in exact.items() if value is not None]
        if self.statuses:
            found.append(column.status.in_(self.statuses))
        if self.text:
            pattern = "%" + self.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            found.append(
                or_(
                    *(
                        column[name].ilike(pattern, escape="\\")
                        for name in ("title", "initial_prompt", "repository_url", "agent_work_order_id")
                    )
                )
            )
        if self.created_after:
            found.append(column.created_at >= self.created_after)
        if self.created_before:
            found.append(column.created_at < self.created_before)
        return found


def _adding_usage(table: Table, *conditions: ColumnElement[bool]) -> Update:
    column = table.c
    cost = cast(bindparam("more_cost"), Float)
    return (
        update(table)
        .where(*conditions)
        .values(
            tokens_in=column.tokens_in + bindparam("more_in"),
            tokens_out=column.tokens_out + bindparam("more_out"),
            tokens_cache_read=column.tokens_cache_read + bindparam("more_cache_read"),
            cost_usd=case(
                (cost.is_(None), column.cost_usd), else_=func.coalesce(column.cost_usd, 0.0) + cost
            ),
        )
    )


# Built once: these are run for every call of a model and for every step.
_ADD_USAGE = (
    _adding_usage(work_orders, work_orders.c.agent_work_order_id == bindparam("of_order")),
    _adding_usage(
        steps,
        steps.c.agent_work_order_id == bindparam("of_order"),
        steps.c.round == bindparam("of_round"),
        steps.c.step == bindparam("of_step"),
    ),
)
_NEW = insert(work_orders)
_WITH_PROMPTS = (
    select(prompts.c.agent_work_order_id)
    .join(work_orders, work_orders.c.agent_work_order_id == prompts.c.agent_work_order_id)
    .where(prompts.c.status == "queued", work_orders.c.status.in_([*map(literal, FINISHED)]))
    .distinct()
)
_DUE = select(work_orders.c.agent_work_order_id).where(
    work_orders.c.status == "paused", work_orders.c.resume_at <= bindparam("now")
)
_COUNT_WAITING = select(func.count().label("waiting")).where(
    work_orders.c.status == "pending", work_orders.c.worker_id.is_(None)
)
_ONE = select(work_orders).where(work_orders.c.agent_work_order_id == bindparam("of_order"))
_ONE_TO_CHANGE = _ONE.with_for_update()
_CHANGE = (
    update(work_orders)
    .where(work_orders.c.agent_work_order_id == bindparam("of_order"))
    .returning(*work_orders.c)
)
"""What changes is said by the names of the values that it is run with."""


@cache
def _putting(dialect: str, table: Table, key: tuple[str, ...], kept: tuple[str, ...]) -> Any:
    """Writes a row, or all but its key and what is kept over the one that is there."""
    put = upserting(dialect)(table)
    new = {column.name: put.excluded[column.name] for column in table.c if column.name not in (*key, *kept)}
    return put.on_conflict_do_update(index_elements=list(key), set_=new)


Decision = tuple[Sequence[Event], Mapping[str, Any]]
"""What happened to an order, and what changes about it."""


@dataclass(frozen=True)
class Writing:
    """One transaction, and the events that tell it: all of it is written, or nothing.

    Orders are written before they are told: were it the other way round in one place, two writers of the
    same order could wait for each other for ever.
    """

    connection: Transaction
    redactor: Redactor
    holder: str | None
    stored: list[StoredEvent] = field(default_factory=list)

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[Any]:
        return await self.connection.execute(statement, parameters)

    async def tell(self, order_id: str, *happened: Event) -> None:
        """Write what happened to an order; whoever held it and has lost it is refused here."""
        clean = [_without_secrets(event, self.redactor) for event in happened]
        self.stored.extend(await log.append(self.connection, order_id, clean, holder=self.holder))

    async def release(self, order_id: str) -> None:
        """Nobody holds the order any more."""
        await self.connection.execute(
            update(event_counters).where(event_counters.c.agent_work_order_id == order_id).values(holder=None)
        )


class WorkOrders:
    def __init__(
        self, database: Database, feed: Feed, redactor: Redactor, *, holder: str | None = None
    ) -> None:
        self.database = database
        self._feed = feed
        self._redactor = redactor
        self.holder = holder
        """As whom it writes; None is anybody, who holds nothing."""

    def held_by(self, holder: str | None) -> "WorkOrders":
        """The same orders for a worker: what it writes counts only while it holds the order."""
        return WorkOrders(self.database, self._feed, self._redactor, holder=holder)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Writing]:
        """A transaction whose events are told when it is committed."""
        async with self.database.writing() as connection:
            writing = Writing(connection, self._redactor, self.holder)
            yield writing
            if any(one.event.type in _MOVES_THE_LINE for one in writing.stored):
                await self.database.notify(connection)
        self._tell(writing.stored)

    async def check_held(self, order_id: str) -> None:
        """Raise Superseded when somebody else has the order: before the world outside is touched."""
        async with self.writing() as writing:
            await writing.tell(order_id)

    async def create(
        self,
        order: WorkOrder,
        *happened: Event,
        steps_done: Sequence[StepRecord] = (),
    ) -> None:
        """Store a new order; a Conflict when there is one with its id."""
        try:
            async with self.writing() as writing:
                await writing.execute(_NEW, asdict(order))
                if steps_done:
                    await writing.execute(insert(steps), [asdict(one) for one in steps_done])
                await writing.tell(order.agent_work_order_id, *happened)
        except IntegrityError as error:
            raise Conflict(
                f"there is an order {order.agent_work_order_id} already", hint="Ask again."
            ) from error

    async def get(self, order_id: str) -> WorkOrder:
        async with self.database.reading() as connection:
            return await _fetch(connection, order_id)

    async def find(
        self, wanted: OrderFilter, *, limit: int = 50, offset: int = 0, sort: Sort = "-created_at"
    ) -> tuple[list[WorkOrder], int]:
        """A page of the orders that match, and how many match in all."""
        column = work_orders.c[sort.removeprefix("-")]
        ordering = column.desc() if sort.startswith("-") else column.asc()
        conditions = wanted.conditions()
        async with self.database.reading() as connection:
            total = (
                await connection.execute(select(func.count()).select_from(work_orders).where(*conditions))
            ).scalar_one()
            query = (
                select(work_orders)
                .where(*conditions)
                .order_by(ordering, work_orders.c.agent_work_order_id)
                .limit(limit)
                .offset(offset)
            )
            rows = (await connection.execute(query)).mappings().all()
        return [order_of(row) for row in rows], total

    async def change(self, order_id: str, *happened: Event, **changes: Any) -> WorkOrder:
        """Change an order and tell it, in one transaction. A status that may not follow is a Conflict.

        An order that comes to rest, or waits, is nobody's any more.
        """
        return await self.change_as_it_is(order_id, lambda _: (happened, changes))

    async def change_if_free(self, seen: WorkOrder, *happened: Event, **changes: Any) -> WorkOrder:
        """As `change`, and Superseded when a worker has taken the order up, or it has moved on since."""

        def decide(now: WorkOrder) -> Decision:
            check_unmoved(now, seen)
            return happened, changes

        return await self.change_as_it_is(seen.agent_work_order_id, decide)

    async def change_as_it_is(self, order_id: str, decide: Callable[[WorkOrder], Decision]) -> WorkOrder:
        """As `change`, by what the order is in the moment of the change. What `decide` raises undoes it."""
        async with self.writing() as writing:
            current = await _fetch(writing.connection, order_id, for_update=True)
            happened, decided = decide(current)
            changes = dict(decided)
            await writing.tell(order_id, *happened)
            now = datetime.now(UTC)
            if "status" in changes:
                advance(current.status, changes["status"])
                changes |= time_worked(current, is_active=changes["status"] == "running", now=now)
                if changes["status"] != "running":
                    changes |= {"worker_id": None, "stop_requested": None}
                    await writing.release(order_id)
            values = {"of_order": order_id, "updated_at": now, **changes}
            return order_of((await carry_out(writing.connection, _CHANGE, values))[0])

    async def said_bytes(self, order_id: str) -> int:
        """About how much of what agents and tools of an order said is stored."""
        return await log.chatter_bytes(self.database, order_id)

    async def emit(self, order_id: str, *happened: Event) -> None:
        """Tell something that changes nothing but the story."""
        async with self.writing() as writing:
            await writing.tell(order_id, *happened)

    async def save_step(self, record: StepRecord, *happened: Event, **order_changes: Any) -> None:
        """Write how far a step has come, what its order learned from it, and the events. Usage stays."""
        await self._record(steps, _STEP_KEY, asdict(record), happened, order_changes, kept=_USAGE)

    async def add_usage(self, order_id: str, round: int, step: str, usage: Usage, *happened: Event) -> None:
        """Add what model calls used to the step and the order. A cost that is not known adds nothing."""
        values = {
            "of_order": order_id,
            "of_round": round,
            "of_step": step,
            "more_in": usage.tokens_in,
            "more_out": usage.tokens_out,
            "more_cache_read": usage.tokens_cache_read,
            "more_cost": usage.cost_usd,
        }
        async with self.writing() as writing:
            for statement in _ADD_USAGE:
                await carry_out(writing.connection, statement, values)
            await writing.tell(order_id, *happened)

    async def steps(self, order_id: str) -> list[StepRecord]:
        """The records of the workflows' steps."""
        async with self.database.reading() as connection:
            query = (
                select(steps)
                .where(steps.c.agent_work_order_id == order_id, steps.c.step != PREPARE)
                .order_by(steps.c.round, steps.c.started_at, steps.c.step)
            )
            rows = (await connection.execute(query)).mappings().all()
        return [StepRecord(**row) for row in rows]

    async def add_prompt(self, order_id: str, text: str, mode: Mode) -> Prompt:
        """Take a prompt in, behind those that wait already."""
        async with self.writing() as writing:
            await _fetch(writing.connection, order_id, for_update=True)
            highest = select(func.coalesce(func.max(prompts.c.number), 0)).where(
                prompts.c.agent_work_order_id == order_id
            )
            prompt = Prompt(
                agent_work_order_id=order_id,
                number=(await writing.execute(highest)).scalar_one() + 1,
                text=text,
                mode=mode,
                created_at=datetime.now(UTC),
            )
            await writing.execute(insert(prompts).values(asdict(prompt)))
            await writing.tell(order_id, PromptAccepted(number=prompt.number, mode=mode, text=text))
        return prompt

    async def cancel_prompt(self, order_id: str, number: int) -> None:
        """Take a prompt back that has not become a round; a Conflict when it has."""
        async with self.writing() as writing:
            await _fetch(writing.connection, order_id, for_update=True)
            key = (prompts.c.agent_work_order_id == order_id, prompts.c.number == number)
            status = (await writing.execute(select(prompts.c.status).where(*key))).scalar()
            if status is None:
                raise NotFound(f"{order_id} has no prompt {number}", hint="List its prompts first.")
            if status == "started":
                raise Conflict(
                    f"prompt {number} has been started",
                    hint="Pause or cancel the order to stop what it began.",
                )
            if status == "queued":
                await writing.execute(update(prompts).where(*key).values(status="cancelled"))
                await writing.tell(order_id, PromptCancelled(number=number))

    async def prompts(self, order_id: str) -> list[Prompt]:
        async with self.database.reading() as connection:
            query = (
                select(prompts).where(prompts.c.agent_work_order_id == order_id).order_by(prompts.c.number)
            )
            rows = (await connection.execute(query)).mappings().all()
        return [Prompt(**row) for row in rows]

    async def orders_with_prompts(self) -> list[str]:
        """The orders at their end that a prompt waits for."""
        async with self.database.reading() as connection:
            found = await carry_out(connection, _WITH_PROMPTS, {})
        return [row["agent_work_order_id"] for row in found]

    async def start_prompt(
        self, order_id: str, next_round: Callable[[WorkOrder, Prompt, int], dict[str, Any]]
    ) -> None:
        """Let the prompt that has waited longest become the next round of an order that is at its end."""
        async with self.writing() as writing:
            order = await _fetch(writing.connection, order_id, for_update=True)
            waiting = (
                select(prompts)
                .where(prompts.c.agent_work_order_id == order_id, prompts.c.status == "queued")
                .order_by(prompts.c.number)
                .limit(1)
            )
            row = (await writing.execute(waiting)).mappings().first()
            if row is None or not order.is_finished:
                return
            prompt = Prompt(**row)
            begun = select(func.max(prompts.c.round)).where(prompts.c.agent_work_order_id == order_id)
            newest = (await writing.execute(begun)).scalar() or 1
            changes = next_round(order, prompt, max(order.round, newest) + 1)
            await writing.execute(
                update(prompts)
                .where(prompts.c.agent_work_order_id == order_id, prompts.c.number == prompt.number)
                .values(status="started", round=changes["round"])
            )
            values = {"of_order": order_id, "updated_at": datetime.now(UTC), **changes}
            await writing.execute(_CHANGE, values)
            await writing.tell(order_id, PromptStarted(number=prompt.number, round=changes["round"]))

    async def save_approval(self, approval: Approval, *happened: Event) -> None:
        await self._record(approvals, _APPROVAL_KEY, asdict(approval), happened, {})

    async def approvals(self, order_id: str) -> list[Approval]:
        async with self.database.reading() as connection:
            query = (
                select(approvals)
                .where(approvals.c.agent_work_order_id == order_id)
                .order_by(approvals.c.requested_at, approvals.c.step)
            )
            rows = (await connection.execute(query)).mappings().all()
        return [Approval(**row) for row in rows]

    async def reopen_steps(self, order_id: str, round: int, names: Iterable[str]) -> None:
        """Let steps that ended count as not done."""
        async with self.writing() as writing:
            await writing.execute(
                update(steps)
                .where(
                    steps.c.agent_work_order_id == order_id,
                    steps.c.round == round,
                    steps.c.step.in_(sorted(names)),
                )
                .values(status="waiting")
            )
            await writing.tell(order_id)

    async def current_step(self, order_id: str, step: str) -> StepRecord | None:
        """The record of a step in the order's current round, if it was begun."""
        async with self.database.reading() as connection:
            query = (
                select(steps)
                .join(
                    work_orders,
                    (work_orders.c.agent_work_order_id == steps.c.agent_work_order_id)
                    & (work_orders.c.round == steps.c.round),
                )
                .where(steps.c.agent_work_order_id == order_id, steps.c.step == step)
            )
            row = (await connection.execute(query)).mappings().first()
        return StepRecord(**row) if row else None

    async def save_evidence(self, record: Evidence, *happened: Event, **order_changes: Any) -> None:
        await self._record(evidence, _EVIDENCE_KEY, asdict(record), happened, order_changes)

    async def evidence(self, order_id: str) -> list[Evidence]:
        async with self.database.reading() as connection:
            query = (
                select(evidence)
                .where(evidence.c.agent_work_order_id == order_id)
                .order_by(evidence.c.round, evidence.c.created_at, evidence.c.attempt)
            )
            rows = (await connection.execute(query)).mappings().all()
        return [Evidence(**row) for row in rows]

    async def due_to_resume(self) -> list[str]:
        """The paused orders whose time to go on by themselves has come."""
        async with self.database.reading() as connection:
            found = await carry_out(connection, _DUE, {"now": datetime.now(UTC)})
        return [row["agent_work_order_id"] for row in found]

    async def count_waiting(self) -> int:
        """How many orders wait in line for a worker."""
        async with self.database.reading() as connection:
            [found] = await carry_out(connection, _COUNT_WAITING, {})
        count: int = found["waiting"]
        return count

    async def unfinished(self) -> list[WorkOrder]:
        """Every order that is not at its end, oldest first."""
        return await self._oldest_first(work_orders.c.status.not_in(FINISHED))

    async def _oldest_first(self, condition: ColumnElement[bool]) -> list[WorkOrder]:
        async with self.database.reading() as connection:
            query = select(work_orders).where(condition).order_by(work_orders.c.created_at)
            rows = (await connection.execute(query)).mappings().all()
        return [order_of(row) for row in rows]

    async def _record(
        self,
        table: Table,
        key: tuple[str, ...],
        values: dict[str, Any],
        happened: Sequence[Event],
        order_changes: dict[str, Any],
        *,
        kept: tuple[str, ...] = (),
    ) -> None:
        """Write a row, new or in the place of the one with its key, with what its order learned from it."""
        order_id = values["agent_work_order_id"]
        async with self.writing() as writing:
            put = _putting(self.database.dialect, table, key, kept)
            await carry_out(writing.connection, put, values)
            if order_changes:
                changes = {"of_order": order_id, "updated_at": datetime.now(UTC), **order_changes}
                await carry_out(writing.connection, _CHANGE, changes)
            await writing.tell(order_id, *happened)

    def _tell(self, stored: Sequence[StoredEvent]) -> None:
        for one in stored:
            if one.event.type not in CHATTER:
                telemetry.log_for_order(
                    one.agent_work_order_id,
                    one.event.type,
                    sequence=one.sequence,
                    **one.event.model_dump(mode="json", exclude={"type"}),
                )
        if stored:
            self._feed.notify(stored[0].agent_work_order_id)


def _without_secrets(event: Event, redactor: Redactor) -> Event:
    text = event.model_dump_json()
    clean = redactor.redact(text)
    return event if clean == text else EVENT.validate_json(clean)


async def _fetch(connection: Transaction, order_id: str, *, for_update: bool = False) -> WorkOrder:
    query = _ONE_TO_CHANGE if for_update else _ONE
    found = await carry_out(connection, query, {"of_order": order_id})
    if not found:
        raise NotFound(f"there is no work order {order_id}", hint="`jm list` shows those that exist.")
    return order_of(found[0])


def time_worked(order: WorkOrder, *, is_active: bool, now: datetime) -> dict[str, Any]:
    """What changes about the time that an order was worked on, when it is taken up or comes to rest."""
    if is_active:
        return {"active_since": order.active_since or now}
    if order.active_since is None:
        return {}
    passed = max(0.0, (now - order.active_since).total_seconds())
    return {"active_seconds": order.active_seconds + passed, "active_since": None}


def check_unmoved(now: WorkOrder, seen: WorkOrder) -> None:
    """Raise Superseded when an order that nobody held was taken up, or has moved on, since it was seen."""
    places = [(order.status, order.round, order.attempt) for order in (now, seen)]
    if now.worker_id is not None or places[0] != places[1]:
        raise Superseded(f"{now.agent_work_order_id} has been taken up, or has moved on")


def order_of(row: Any) -> WorkOrder:
    return WorkOrder(**{name: row[name] for name in _ORDER_FIELDS})
