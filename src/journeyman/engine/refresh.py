"""Stale-while-revalidate for idle orders: reading one makes the server look at its branch.

The read itself is answered from what is known; what people have pushed meanwhile is written, with an event,
for the next. Nothing is taken in here: the order's own branch and `pushed_commit_sha` stay as they are, so
that the next round finds people's commits as if no one had looked.
"""

import asyncio
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from journeyman import telemetry
from journeyman.engine.handover import MirrorOf
from journeyman.engine.repositories import Repositories
from journeyman.errors import JourneymanError, Superseded
from journeyman.events import log
from journeyman.events.types import GitBranchMoved
from journeyman.git.remote_branch import compare_remote_branch
from journeyman.work_orders.lifecycle import outdated
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import DecidedChange, OrderChanges, WorkOrders

_FRESH_SECONDS = 5.0
"""How long the remote is not asked again. A round that has just ended has looked itself."""
_AFTER_ERROR_SECONDS = 60.0
_LOOK_SECONDS = 60.0
_MOST_AT_ONCE = 4
"""More are not queued: the next read of the order asks again."""
_MOST_REMEMBERED = 1000


class BranchRefresh:
    """Looks at branches in the background; for one event loop."""

    def __init__(self, orders: WorkOrders, repositories: Repositories, mirror_of: MirrorOf) -> None:
        self._orders = orders
        self._repositories = repositories
        self._mirror_of = mirror_of
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        """When an order's branch may be looked at again, on the monotonic clock."""

    def request(self, order: WorkOrder) -> None:
        """Begin to look at the branch of an order, unless there is no need to; returns at once."""
        order_id = order.agent_work_order_id
        is_busy = order_id in self._under_way or len(self._under_way) >= _MOST_AT_ONCE
        if is_busy or not may_have_moved(order, datetime.now(UTC)):
            return
        if time.monotonic() < self._not_before.get(order_id, 0.0):
            return
        task = asyncio.create_task(self._look(order_id))
        self._under_way[order_id] = task
        task.add_done_callback(lambda _: self._under_way.pop(order_id, None))

    async def close(self) -> None:
        """Break off what is under way; the next look does it again."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _look(self, order_id: str) -> None:
        pause = _AFTER_ERROR_SECONDS
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await refresh_branch(self._orders, self._repositories, self._mirror_of, order_id)
            pause = _FRESH_SECONDS
        except Superseded:
            pause = _FRESH_SECONDS  # it was changed meanwhile; another look begins with what it is now
        except (JourneymanError, OSError) as error:
            telemetry.logger().warning(
                "git_branch_not_refreshed",
                agent_work_order_id=order_id,
                error_message=str(error) or f"it took longer than {_LOOK_SECONDS:.0f} s",
            )
        finally:
            self._rest(order_id, pause)

    def _rest(self, order_id: str, seconds: float) -> None:
        now = time.monotonic()
        if len(self._not_before) >= _MOST_REMEMBERED:
            self._not_before = {one: until for one, until in self._not_before.items() if until > now}
        self._not_before[order_id] = now + seconds


def may_have_moved(order: WorkOrder, now: datetime) -> bool:
    """Whether people can have pushed to the branch of an idle order."""
    is_fresh = now - order.updated_at < timedelta(seconds=_FRESH_SECONDS)
    return order.is_idle and order.pushed_commit_sha is not None and not is_fresh


async def refresh_branch(
    orders: WorkOrders, repositories: Repositories, mirror_of: MirrorOf, order_id: str
) -> None:
    """Look at the branch of an idle order on its remote, and write what people have done to it.

    Safe to repeat because what is written already is not written again. Raises Superseded when the order
    changes meanwhile.
    """
    order = await orders.get(order_id)
    pushed, base = order.pushed_commit_sha, order.base_commit_sha
    is_here = repositories.mirror(order).path.exists()
    if not order.is_idle or pushed is None or base is None or not is_here:
        return
    mirror, branch = await mirror_of(order), order.git_branch_name
    remote = await repositories.remote(order)
    there = await mirror.remote_head(remote, branch)
    last = await log.last_of(orders.database, order_id, "git_branch_moved")
    known = last.event.commit_sha if last and isinstance(last.event, GitBranchMoved) else None
    if there is None or (there == pushed and known is None):
        return
    found = await compare_remote_branch(
        mirror, remote, order_id, branch, there=there, base=base, pushed=pushed
    )
    if found is None or (found.is_own and known is None):
        return  # a push of our own, whose answer was lost
    changes: OrderChanges = {}
    changes.update(found.progress.counts)
    if not found.is_own:
        changes["verification"] = outdated(order.verification)
    is_known = found.is_own or found.head == known
    if is_known and all(getattr(order, name) == value for name, value in changes.items()):
        return
    moved = GitBranchMoved(
        git_branch_name=branch,
        commit_sha=found.head,
        count=found.count,
        commits=[asdict(one) for one in found.commits],
    )

    def decide(now: WorkOrder) -> DecidedChange:
        if now.updated_at != order.updated_at:
            raise Superseded(f"{order_id} has changed while its branch was looked at")
        return [moved], changes

    await orders.change_with(order_id, decide)
