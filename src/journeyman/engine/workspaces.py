"""The workspaces of the orders whose rounds run here, opened once and kept until they are torn down."""

import asyncio
import weakref
from dataclasses import dataclass, field

from journeyman.engine.repositories import Repositories
from journeyman.failpoints import failpoint
from journeyman.git.workspace import Workspace
from journeyman.git.workspaces import Workspaces
from journeyman.sandboxes.base import SandboxProvider
from journeyman.work_orders.order import WorkOrder


@dataclass(frozen=True)
class OpenWorkspaces:
    on_disk: Workspaces
    repositories: Repositories
    sandboxes: SandboxProvider
    _open: dict[str, Workspace] = field(default_factory=dict)
    _write_locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    _opening: weakref.WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=weakref.WeakValueDictionary
    )

    async def open(self, order: WorkOrder) -> Workspace:
        """The order's workspace, made from its branch where there is none."""
        async with self.opening(order.agent_work_order_id):
            return await self.open_locked(order)

    def opening(self, order_id: str) -> asyncio.Lock:
        """Held while the order's workspace is opened or removed."""
        return self._opening.setdefault(order_id, asyncio.Lock())

    async def open_locked(self, order: WorkOrder) -> Workspace:
        """As `open`, for a caller that holds `opening` already, or is alone with the order."""
        assert order.base_commit_sha is not None, "the order is prepared first"
        order_id = order.agent_work_order_id
        known = self._open.get(order_id)
        if known is None or not known.ready.exists():
            if known is not None:  # what runs in it would go on in files that are thrown away
                await self.sandboxes.cleanup(order_id)
            failpoint("workspace_started")
            known = await self.on_disk.open(
                self.repositories.mirror(order),
                order_id=order_id,
                kind=order.sandbox_type,
                branch=order.git_branch_name,
                base_commit_sha=order.base_commit_sha,
            )
            failpoint("workspace_made")
            self._open[order_id] = known
        return known

    def write_lock(self, order_id: str) -> asyncio.Lock:
        """Held by the step that writes the order's files."""
        return self._write_locks.setdefault(order_id, asyncio.Lock())

    async def remove(self, order_id: str) -> None:
        """Remove the order's files; its branch and its snapshots stay in the mirror."""
        self._open.pop(order_id, None)
        await self.on_disk.remove(order_id)

    def close(self, order_id: str) -> None:
        """Forget that the workspace is open; its files are left as they are."""
        self._open.pop(order_id, None)
        self._write_locks.pop(order_id, None)
