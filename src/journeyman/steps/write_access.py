"""One step at a time writes the order's files; each begins from a known state of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from journeyman.events.types import AgentNotice, GitSnapshotCreated
from journeyman.git.workspace import Workspace
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.schema import StepSpec


@dataclass(frozen=True, kw_only=True)
class WriteAccess:
    orders: WorkOrders
    order: WorkOrder
    spec: StepSpec
    workspace: Workspace
    lock: asyncio.Lock
    """Held by the step that writes."""
    time_limit: asyncio.Timeout
    """The step's own `timeout`."""
    keep: Callable[[], Awaitable[None]]
    """Saves what is committed or snapshotted by now where another machine finds it."""

    @property
    def order_id(self) -> str:
        return self.order.agent_work_order_id

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Until it is left no other step writes, and what other steps left uncommitted is out of the way.

        Waiting for the lock does not count towards the step's time limit.
        """
        self.time_limit.reschedule(None)
        async with self.lock:
            if self.spec.timeout is not None:
                self.time_limit.reschedule(asyncio.get_running_loop().time() + self.spec.timeout)
            await self._begin()
            yield

    async def _begin(self) -> None:
        """An agent goes on with what it wrote before it was cut off; others begin from the head."""
        me, order = f"{self.order.round}/{self.spec.name}", await self.orders.get(self.order_id)
        goes_on = order.last_writer == me and self.spec.kind in ("build", "verify")
        if order.last_writer is not None and not goes_on:
            await self._set_leftovers_aside()
        if order.last_writer != me:
            await self.orders.change(self.order_id, last_writer=me)

    async def _set_leftovers_aside(self) -> None:
        kept = await self.workspace.stash()
        if kept is not None:
            await self.keep()
            text = f"files that an earlier step left uncommitted were set aside in {kept.ref}"
            taken = GitSnapshotCreated(ref=kept.ref, commit_sha=kept.commit_sha)
            notice = AgentNotice(step=self.spec.name, text=text)
            await self.orders.change(self.order_id, taken, notice, snapshot_ref=kept.ref)
