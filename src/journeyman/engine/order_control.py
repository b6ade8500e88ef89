"""What a person can do to an order from any process: the order's worker may be this one, another, or none.

A stop that is answered has happened. A worker elsewhere is asked through the database and has a few
seconds; one that does not answer leaves the request standing, and whoever takes the order from it
fulfils it.
"""

import asyncio
import time
from typing import Any

from journeyman.engine.approvals import record_decision
from journeyman.engine.handover import MirrorOf
from journeyman.engine.redo import fork, retry_from
from journeyman.engine.store import Claims
from journeyman.engine.teardown import Teardown
from journeyman.engine.transitions import Standstill, Stop, check_suspend, requeue, stay_paused, suspend
from journeyman.engine.worker_handle import WorkerHandle
from journeyman.errors import Conflict, Superseded, Transient
from journeyman.work_orders.approvals import ApprovalDecision
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders

_ANSWER_SECONDS = 10.0
_LOOK_SECONDS = 0.1


class OrderControl:
    def __init__(
        self,
        orders: WorkOrders,
        claims: Claims,
        teardown: Teardown,
        mirror_of: MirrorOf,
        worker: WorkerHandle | None,
    ) -> None:
        self._orders = orders
        self._claims = claims
        self._teardown = teardown
        self._mirror_of = mirror_of
        self._worker = worker

    def wake(self) -> None:
        """There is something to start; a worker elsewhere looks by itself."""
        if self._worker is not None:
            self._worker.wake()

    async def stop_order(self, order_id: str, stop: Stop) -> WorkOrder:
        """Pause or cancel an order. When this returns nothing of it runs and nothing more will happen.

        To pause one that waits for a quota is to let it wait for a person instead.
        """
        deadline = time.monotonic() + _ANSWER_SECONDS
        orders = self._orders
        while check_suspend(order := await orders.get(order_id), stop) or (
            stop == "paused" and order.resume_at is not None
        ):
            if order.worker_id is None:
                try:
                    if order.status == stop:
                        return await stay_paused(orders, order)
                    return await suspend(orders, self._teardown, order_id, stop, if_still=order)
                except Superseded:
                    continue  # a worker has just claimed it, or a person resumed it
            if self._worker is not None and order.worker_id == self._worker.worker_id:
                await self._worker.stop_here(order_id, stop)
                continue
            if time.monotonic() > deadline:
                raise Transient(
                    f"{order.worker_id}, which works on the order, has not answered yet",
                    hint="The request stands: the order stops when its worker answers or is given up.",
                    retry_after=_ANSWER_SECONDS,
                )
            if order.stop_requested != stop:
                await orders.change(order_id, stop_requested=stop)
            await asyncio.sleep(_LOOK_SECONDS)
        return order

    async def clean_up(self, *, dry_run: bool = False) -> list[str]:
        """Clear away what the retention policy lets go of on this machine; says what went, or would go."""
        if self._worker is None:
            raise Conflict(
                "this server has no worker, and workers clear away what they left on their own machines",
                hint="Ask a server that was started without --no-worker; each worker does it every hour.",
            )
        return await self._worker.clean_up(dry_run=dry_run)

    async def positions(self) -> dict[str, int]:
        """The place in the line of every order that waits to be started."""
        return await self._claims.positions()

    async def requeue(self, order_id: str, *, after: Standstill) -> WorkOrder:
        """Let a paused, failed or cancelled order go on from the step it was stopped at."""
        order = await requeue(self._orders, order_id, after=after)
        self.wake()
        return order

    async def retry_from(self, order_id: str, step: str) -> WorkOrder:
        """Do a step of a finished order and everything after it again."""
        order = await retry_from(self._orders, self._mirror_of, order_id, step)
        self.wake()
        return order

    async def fork(self, order_id: str, step: str, *, prompt: str | None, **changes: Any) -> WorkOrder:
        """Another order that goes its own way from a step of this one."""
        order = await fork(self._orders, self._mirror_of, order_id, step, prompt=prompt, **changes)
        self.wake()
        return order

    async def decide(
        self, order_id: str, step: str | None, decision: ApprovalDecision, comment: str
    ) -> WorkOrder:
        """Take a person's decision on a step that waits for it."""
        order = await record_decision(self._orders, order_id, step, decision, comment)
        self.wake()
        return order
