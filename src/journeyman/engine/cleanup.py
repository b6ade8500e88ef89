"""Clear away what the retention policy lets go of, on this machine and in the stores.

Each thing of an order is looked at again just before it goes, while no order can be started: one that goes
on in the same moment keeps everything. What cannot be removed stays and is named; the next time comes soon.
"""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from journeyman import telemetry
from journeyman.access.store import AnsweredRequests
from journeyman.engine.carrier import forget_rows, forgettable_rows
from journeyman.engine.repositories import Repositories
from journeyman.engine.resources import WorkerResources
from journeyman.engine.transitions import suspend
from journeyman.errors import Conflict, JourneymanError
from journeyman.events import log
from journeyman.forges.pull_request_state import note_state
from journeyman.git import maintenance
from journeyman.git.refs import ORDERS, SNAPSHOTS
from journeyman.settings import Settings
from journeyman.work_orders.deadlines import Overdue, overdue
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.retention import Removal, Traces, may_go
from journeyman.work_orders.store import OrderFilter, WorkOrders
from journeyman.workflows.progress import Done

_PAGE = 200
_MOST_PULL_REQUESTS = 100
"""Asked about at once, so that no forge is flooded."""
_OPEN = ("draft", "open")
_LOOK_AFTER = timedelta(days=1)

Refs = dict[str, str]
"""The refs of a mirror, with when each was made."""


@dataclass(frozen=True)
class _Chore:
    what: str
    do: Callable[[], Awaitable[None]]


async def clean_up(resources: WorkerResources, *, deciding: asyncio.Lock, dry_run: bool = False) -> list[str]:
    """What went, or with `dry_run` would go, in words. While `deciding` is held no order is started.

    Safe to repeat because what is gone stays gone.
    """
    if dry_run:
        return [chore.what async for chore in _chores(resources, deciding)]
    await _look_at_pull_requests(resources.orders, resources.repositories)
    return [await _outcome(chore) async for chore in _chores(resources, deciding)]


async def _outcome(chore: _Chore) -> str:
    try:
        await chore.do()
    except (JourneymanError, OSError) as error:
        return f"kept {chore.what}: {error}"
    return chore.what


async def _chores(resources: WorkerResources, deciding: asyncio.Lock) -> AsyncIterator[_Chore]:
    now = datetime.now(UTC)
    for order in await resources.orders.unfinished():
        if (why := overdue(order, resources.settings, now)) is not None:
            what = f"{order.agent_work_order_id}: {why.reason}"
            yield _Chore(what, partial(_cancel, resources, deciding, order, why))
    mirrors: dict[Path, Refs] = {}
    async for orders in _pages(resources.orders):
        chatty = await log.with_chatter(
            resources.orders.database, [order.agent_work_order_id for order in orders]
        )
        for order in orders:
            refs = await _refs(resources.repositories, order, mirrors)
            traces = _traces(resources, order, refs, order.agent_work_order_id in chatty)
            for removal in may_go(order, traces, resources.settings, now):
                yield _Chore(str(removal), partial(_remove, resources, deciding, order, removal, refs))
    async for chore in _chores_of_stores(resources.orders, resources.settings, now):
        yield chore
    on_disk = resources.workspaces.on_disk
    for base in await asyncio.to_thread(on_disk.unused_bases):
        yield _Chore(f"shared checkout {base.name}", partial(asyncio.to_thread, on_disk.trash.put, base))
    for mirror in resources.repositories.mirrors.all():
        if await maintenance.needs_gc(mirror):
            yield _Chore(f"loose objects of {mirror.path.name}", partial(maintenance.run_gc, mirror))


async def _cancel(resources: WorkerResources, deciding: asyncio.Lock, order: WorkOrder, why: Overdue) -> None:
    """Cancel an order that has waited too long; one that goes on in the same moment is left alone."""
    because = Done(status="failed", error_message=why.reason, error_category="conflict", hint=why.hint)
    async with deciding:
        await suspend(
            resources.orders,
            resources.teardown,
            order.agent_work_order_id,
            "cancelled",
            because=because,
            if_still=order,
        )


async def _chores_of_stores(orders: WorkOrders, settings: Settings, now: datetime) -> AsyncIterator[_Chore]:
    requests = AnsweredRequests(orders.database)
    before = now - timedelta(days=settings.keep_answers_days)
    if count := await requests.count_before(before):
        yield _Chore(f"{count} answers under an Idempotency-Key", partial(requests.forget_before, before))
    before = now - timedelta(days=settings.keep_baselines_days)
    if count := await orders.baselines.count_before(before):
        yield _Chore(f"{count} results on base commits", partial(orders.baselines.forget_before, before))
    before = now - timedelta(days=settings.keep_engine_rows_days)
    if ids := await forgettable_rows(before, await orders.unfinished()):
        yield _Chore(f"engine rows of {len(ids)} rounds", partial(forget_rows, ids))


async def _pages(orders: WorkOrders) -> AsyncIterator[list[WorkOrder]]:
    """Every idle order, a page at a time: each is short work for the event loop."""
    offset, total = 0, 1
    while offset < total:
        found, total = await orders.find(OrderFilter(), limit=_PAGE, offset=offset, sort="created_at")
        yield [order for order in found if order.is_idle]
        offset += _PAGE


async def _refs(repositories: Repositories, order: WorkOrder, mirrors: dict[Path, Refs]) -> Refs:
    mirror = repositories.mirror(order)
    if mirror.path not in mirrors:
        is_there = mirror.path.exists()
        wanted = ("refs/heads/", "refs/journeyman/")
        mirrors[mirror.path] = await mirror.refs(*wanted, field="%(creatordate:unix)") if is_there else {}
    return mirrors[mirror.path]


def _traces(resources: WorkerResources, order: WorkOrder, refs: Refs, has_chatter: bool) -> Traces:
    order_id = order.agent_work_order_id
    below = f"{SNAPSHOTS}{order_id}/"
    return Traces(
        has_workspace=resources.workspaces.on_disk.exists(order_id),
        has_branch={f"refs/heads/{order.git_branch_name}", f"{ORDERS}{order_id}"} <= refs.keys(),
        snapshots={
            int(ref.removeprefix(below)): datetime.fromtimestamp(int(made), UTC)
            for ref, made in refs.items()
            if ref.startswith(below)
        },
        has_home=resources.agents.homes.exists(order_id),
        has_log=_log_file(resources.settings, order_id).exists(),
        has_chatter=has_chatter,
    )


async def _remove(
    resources: WorkerResources, deciding: asyncio.Lock, seen: WorkOrder, removal: Removal, refs: Refs
) -> None:
    order_id = removal.order_id
    if removal.kind == "workspace":  # may take long, and keeps no other order waiting
        if not await resources.teardown.clear_away(seen):
            raise Conflict("what was not committed could not be kept")
        return
    async with deciding:
        order = await resources.orders.get(order_id)
        if not order.is_idle or order.round != seen.round:
            raise Conflict("the order has gone on meanwhile")
        mirror = resources.repositories.mirror(order)
        match removal.kind:
            case "snapshot":
                await maintenance.delete_refs(mirror, [f"{SNAPSHOTS}{order_id}/{removal.snapshot}"])
            case "branch":
                own = [ref for ref in refs if re.fullmatch(rf"refs/journeyman/[^/]+/{order_id}(/.+)?", ref)]
                await maintenance.delete_refs(mirror, [f"refs/heads/{order.git_branch_name}", *own])
                await resources.claims.forget_bundle(order_id)
            case "agent home":
                resources.agents.homes.remove(order_id)
            case "log":
                _log_file(resources.settings, order_id).unlink(missing_ok=True)
            case "chatter":
                await log.forget_chatter(resources.orders.database, order_id)


def _log_file(settings: Settings, order_id: str) -> Path:
    return settings.home / "logs" / f"{order_id}.jsonl"


async def _look_at_pull_requests(orders: WorkOrders, repositories: Repositories) -> None:
    """Whether people merged or closed what was open: a merged branch is needed here no longer."""
    open_ones: list[WorkOrder] = []
    since = datetime.now(UTC) - _LOOK_AFTER
    async for page in _pages(orders):
        open_ones += [
            order
            for order in page
            if order.is_finished
            and order.pull_request_state in ("draft", "open")
            and order.updated_at < since
        ]
    for order in random.sample(open_ones, min(len(open_ones), _MOST_PULL_REQUESTS)):
        try:
            found = await repositories.forge(order).read_pull_request(
                repositories.of(order), order.github_pull_request_number or 0
            )
        except JourneymanError as error:
            telemetry.logger().warning("pull_requests_not_looked_at", error=error.message, hint=error.hint)
            return
        await note_state(orders, order, found)
