"""Hand an order's work over between workers that share a database: commits and snapshots, in bundles.

A worker saves a bundle after every commit and snapshot, because its machine may never come back. Whoever
takes the order up next unpacks it into a mirror of its own. With SQLite there is one worker and no bundle.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from journeyman.engine.repositories import Repositories
from journeyman.engine.store import Bundle, Claims
from journeyman.git.bundles import apply_bundle, create_bundle
from journeyman.git.mirror import Mirror
from journeyman.git.workspace import Workspace
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders

MirrorOf = Callable[[WorkOrder], Awaitable[Mirror]]
"""The mirror of an order's repository, with what the order holds by now."""


@dataclass(frozen=True)
class Handover:
    claims: Claims
    worker_id: str
    """The worker on whose machine this is; names its home among all that share the database."""
    is_shared: bool = False
    """Whether workers on other machines may go on with what was begun here."""

    async def save(self, orders: WorkOrders, order_id: str, workspace: Workspace) -> None:
        """Save the order's work where another machine finds it; only for the worker that holds the order."""
        if self.is_shared and (packed := await create_bundle(workspace)) is not None:
            await self.claims.save_bundle(orders, order_id, Bundle(self.worker_id, *packed))

    async def newer_bundle(self, order_id: str) -> Bundle | None:
        """What another worker saved of the order after this one had it, if any did."""
        if not self.is_shared or await self.has_newest(order_id):
            return None
        return await self.claims.bundle(order_id)

    async def has_newest(self, order_id: str) -> bool:
        """Whether no other worker has worked on the order since its files here were written."""
        return not await self.claims.has_bundle_of_another(order_id, self.worker_id)

    async def unpack_from(self, order_id: str, mirror: Mirror) -> None:
        """Bring into the mirror what any worker saved of an order."""
        if self.is_shared and (bundle := await self.claims.bundle(order_id)) is not None:
            await apply_bundle(mirror, bundle.refs, bundle.content)


async def current_mirror(repositories: Repositories, handover: Handover, order: WorkOrder) -> Mirror:
    """The mirror with what the order holds by now, wherever its worker is."""
    mirror = repositories.mirror(order)
    bundle = await handover.newer_bundle(order.agent_work_order_id)
    if bundle is not None:
        if not mirror.path.exists():
            mirror = await repositories.refresh(order)
        await apply_bundle(mirror, bundle.refs, bundle.content)
    return mirror
