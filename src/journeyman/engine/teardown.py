"""End what an order has on this machine: its sandboxes and its workspace.

What was not committed is snapshotted first; branch and snapshots stay in the mirror. So everything here can
be made again from the order and its mirror.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from journeyman import telemetry
from journeyman.engine.handover import Handover
from journeyman.engine.store_retries import NO_ROOM
from journeyman.engine.workspaces import OpenWorkspaces
from journeyman.errors import Conflict, JourneymanError, NotFound, StoreUnavailable, Superseded
from journeyman.events.types import FileLeftOut, GitFilesLeftOut, GitSnapshotCreated, SandboxCleanupFailed
from journeyman.failpoints import failpoint
from journeyman.git.trees import LeftOut
from journeyman.sandboxes.base import SandboxProvider
from journeyman.settings import Settings
from journeyman.steps.order_sandboxes import limits_of
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import OrderChanges, WorkOrders

_END_LEFTOVERS_SECONDS = 5.0
_MOST_NAMED = 10
_KEPT_BYTES = 32 * 1024 * 1024
"""What is kept of the uncommitted files of an order that is over its quota, the smallest first."""
_MOST_LEFT_OUT = 50


@dataclass(frozen=True)
class Teardown:
    settings: Settings
    orders: WorkOrders
    workspaces: OpenWorkspaces
    sandboxes: SandboxProvider
    handover: Handover

    async def tear_down(
        self,
        order: WorkOrder,
        *,
        keep_workspace: bool = False,
        is_held: bool = True,
        within: float | None = None,
    ) -> bool:
        """End the order's sandboxes and remove its workspace; branch and snapshots stay in the mirror.

        Safe to repeat because what is gone stays gone. What was not committed is snapshotted first; where
        that cannot be done, or not in so many seconds, the workspace stays, the order says so, and the answer
        is False. Of files that are over the order's quota as much is kept as fits, and the workspace goes.
        """
        order_id = order.agent_work_order_id
        failpoint("teardown_started")
        over_quota = await self._is_over_quota(order_id)
        await self.sandboxes.cleanup(order_id)
        share = is_held or await self.handover.has_newest(order_id)
        salvaged = await self._salvage(order, share=share, within=within, over_quota=over_quota)
        if salvaged and (over_quota or not keep_workspace):
            await self.workspaces.remove(order_id)
        self.workspaces.close(order_id)
        failpoint("teardown_ended")
        return salvaged

    async def clear_away(self, seen: WorkOrder) -> bool:
        """As `tear_down`, for an order that no worker holds: its files here may be older than others' work.

        Raises Conflict when the order has gone on since it was seen; one that goes on now waits for the end
        of this before it opens its workspace again.
        """
        order_id = seen.agent_work_order_id
        async with self.workspaces.opening(order_id):
            order = await self.orders.get(order_id)
            if not order.is_idle or order.round != seen.round:
                raise Conflict("the order has gone on meanwhile")
            over_quota = await self._is_over_quota(order_id)
            await self.sandboxes.cleanup(order_id)
            if not await self._salvage(order, share=False, over_quota=over_quota):
                return False
            await self.workspaces.remove(order_id)
        return True

    async def detach(self, order_id: str) -> None:
        """End what runs here of an order that another worker holds; its files are left as they are."""
        await self.sandboxes.cleanup(order_id)
        self.workspaces.close(order_id)

    async def end_leftovers(self) -> None:
        """End processes and control groups that a killed server left of orders that have ended.

        What cannot be ended is logged, and does not keep the worker from starting.
        """
        live = {order.agent_work_order_id for order in await self.orders.unfinished()}
        try:
            async with asyncio.timeout(_END_LEFTOVERS_SECONDS):
                await self.sandboxes.sweep(live)
        except (JourneymanError, OSError, TimeoutError) as error:
            telemetry.logger().warning("sandboxes_not_swept", error=str(error) or "it took too long")

    async def sweep(self) -> None:
        """Remove the workspaces that orders which have ended left on this machine.

        Done beside the work: each may hold anything an agent could think of, and take as long.
        """
        on_disk = self.workspaces.on_disk
        on_disk.discard_leftovers()
        strays: list[str] = []
        for order_id in on_disk.found():
            await asyncio.sleep(0)  # a statement on SQLite lets no other task run
            try:
                order = await self.orders.get(order_id)
                if order.is_finished:
                    await self.clear_away(order)
            except NotFound:
                strays.append(order_id)
            except (JourneymanError, OSError) as error:
                telemetry.logger().warning("workspace_kept", agent_work_order_id=order_id, error=str(error))
        if strays:
            # Of another database, perhaps: this one cannot say whether their work is needed.
            telemetry.logger().warning(
                "workspaces_of_nobody_kept", count=len(strays), agent_work_order_ids=strays[:_MOST_NAMED]
            )

    async def _is_over_quota(self, order_id: str) -> bool:
        tree = self.workspaces.on_disk.tree_of(order_id)
        return await self.sandboxes.is_over_quota(order_id, tree, limits_of(self.settings))

    async def _salvage(
        self, order: WorkOrder, *, share: bool, within: float | None = None, over_quota: bool = False
    ) -> bool:
        """Snapshot what was not committed; says whether the workspace is needed no longer."""
        order_id = order.agent_work_order_id
        if order.base_commit_sha is None or not self.workspaces.on_disk.exists(order_id):
            return True
        try:
            workspace = await self.workspaces.open_locked(order)
            if over_quota:
                left_out: list[LeftOut] = []
                snapshot = await workspace.snapshot(
                    within=within, room=_KEPT_BYTES, on_left_out=left_out.extend
                )
                await self._emit_left_out(order_id, left_out)
            else:
                snapshot = await workspace.snapshot(within=within)
            if snapshot is not None:
                if share:
                    await self.handover.save(self.orders, order_id, workspace)
                taken = GitSnapshotCreated(ref=snapshot.ref, commit_sha=snapshot.commit_sha)
                is_newest = share or await self.handover.has_newest(order_id)
                newest: OrderChanges = {"snapshot_ref": snapshot.ref} if is_newest else {}
                await self.orders.change(order_id, taken, **newest)
        except (Superseded, StoreUnavailable):
            raise
        except (JourneymanError, OSError) as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise  # the caller retries until there is room
            kept = SandboxCleanupFailed(
                error_message=f"what was not committed could not be kept, so the workspace stays: {error}",
                hint="The server's log may tell more; the workspace is removed as soon as that works.",
            )
            await self.orders.emit(order_id, kept)
            return False
        return True

    async def _emit_left_out(self, order_id: str, left_out: Sequence[LeftOut]) -> None:
        largest = sorted(left_out, key=lambda one: one.size, reverse=True)[:_MOST_LEFT_OUT]
        files = [FileLeftOut(path=one.shown_path, size=one.size, reason=one.reason) for one in largest]
        if files:
            event = GitFilesLeftOut(step="snapshot", count=len(left_out), files=files)
            await self.orders.emit(order_id, event)
