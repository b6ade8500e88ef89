"""The worker: takes orders up, has their rounds carried out, and looks after what has stalled.

Orders wait in our own table: the place in the line can be seen by all readers of orders. A worker with a free
place claims the next in SQL and hands its round to the durable engine. Any number of workers may share a
PostgreSQL database. Each gives heartbeats; what a dead one held waits again, and whoever claims it next has
the engine resume its workflow there.
"""

import asyncio
import secrets
import socket
import time
from collections import Counter
from pathlib import Path

from journeyman import telemetry
from journeyman.engine.carrier import Carrier
from journeyman.engine.cleanup import clean_up
from journeyman.engine.give_up import give_up
from journeyman.engine.prompts import next_round
from journeyman.engine.resources import WorkerResources
from journeyman.engine.running import RunningRounds
from journeyman.engine.store import Held
from journeyman.engine.transitions import Stop, requeue
from journeyman.engine.watchdog import StallLimits, StallTimer, remedy
from journeyman.errors import StoreUnavailable
from journeyman.failpoints import failpoint

_LOOK_ANYWAY_SECONDS = 5.0
"""Orders that a prompt or a time makes ready are found without a wake-up."""
_PULSE_SECONDS = 1.0
_CLEANUP_EVERY_SECONDS = 3600.0


def worker_id_of(home: Path) -> str:
    """The name of the worker that lives in this home: the same after every restart, different elsewhere."""
    file = home / "worker-id"
    if not file.exists():
        fresh = file.with_suffix(".fresh")
        fresh.write_text(f"worker-{secrets.token_hex(6)}\n")
        fresh.replace(file)
    return file.read_text().strip()


class Worker:
    def __init__(self, resources: WorkerResources, *, database_url: str, home: Path) -> None:
        self._resources = resources
        self._claims = resources.claims
        self.worker_id = resources.worker_id
        self._news = asyncio.Event()
        self._rounds = RunningRounds(resources, on_end=self._news.set)
        self._carrier = Carrier(
            self._rounds,
            worker_id=self.worker_id,
            database_url=database_url,
            home=home,
            lease_seconds=resources.settings.worker_lease_seconds,
        )
        self._deciding = asyncio.Lock()
        """Held while an order is started or stopped, so that none slips from one into the other."""
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping: dict[str, asyncio.Task[None]] = {}
        self._stall_limits = StallLimits(stalled_seconds=resources.settings.stall_seconds)
        self._orders_still: StallTimer[tuple[str, int]] = StallTimer()
        self._workers_still: StallTimer[str] = StallTimer()
        self._rescues: Counter[str] = Counter()
        self._cleaning_up = asyncio.Lock()

    async def start(self) -> None:
        """Launch on the running loop: rounds that were cut off go on, and waiting orders are taken up."""
        await self._resources.teardown.end_leftovers()
        await self._claims.heartbeat(self.worker_id, socket.gethostname())
        await self._carrier.launch()
        for order in await self._claims.orders_held_by(self.worker_id):
            await self._carrier.carry(order)
        loops = (
            self._dispatch(),
            self._pulse(),
            self._listen(),
            self._clean_up_periodically(),
            self._sweep(),
            self._resources.workspaces.on_disk.trash.keep_empty(),
            self._resources.agents.homes.trash.keep_empty(),
        )
        self._tasks = [asyncio.create_task(loop) for loop in loops]

    def wake(self) -> None:
        """There is a new order."""
        self._news.set()

    async def stop_here(self, order_id: str, stop: Stop) -> None:
        """Pause or cancel an order of this worker. When this returns nothing of it runs any more."""
        async with self._deciding:
            await self._rounds.stop(order_id, stop)

    async def clean_up(self, *, dry_run: bool = False) -> list[str]:
        """Clear away what the retention policy lets go of; says what went, or would go."""
        async with self._cleaning_up:
            return await clean_up(self._resources, deciding=self._deciding, dry_run=dry_run)

    async def stop(self) -> None:
        """Stop taking work. What is running is cut off here and goes on elsewhere, or at the next start."""
        for task in (*self._tasks, *self._stopping.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._stopping.values(), return_exceptions=True)
        await self._rounds.interrupt()
        if self._resources.handover.is_shared:
            await self._hand_over(self.worker_id, "its worker was stopped")
            await self._claims.deregister(self.worker_id)
            await self._carrier.forget_worker(self.worker_id)
        await self._carrier.close()

    async def _clean_up_periodically(self) -> None:
        while True:
            try:
                for what in await self.clean_up():
                    telemetry.logger().info("tidied", what=what)
            except Exception as error:
                # Whatever it is, it may pass, and the disk would fill if this loop ended.
                telemetry.logger().error("not_tidied", exc_info=error)
            await asyncio.sleep(_CLEANUP_EVERY_SECONDS)

    async def _sweep(self) -> None:
        try:
            await self._resources.teardown.sweep()
        except Exception as error:
            # Whatever a leftover does to those who clear it away, the worker goes on.
            telemetry.logger().error("not_swept", exc_info=error)

    async def _dispatch(self) -> None:
        while True:
            self._news.clear()
            try:
                await self._start_what_may()
            except Exception as error:
                # Whatever it is, it may pass, and only this loop would ever start an order again.
                telemetry.logger().error("orders_not_started", exc_info=error)
            try:
                await asyncio.wait_for(self._news.wait(), _LOOK_ANYWAY_SECONDS)
            except TimeoutError:
                continue

    async def _listen(self) -> None:
        """Hear of orders that other processes accept, and of places that they leave."""
        while True:
            try:
                async for _ in self._resources.orders.database.listen():
                    self._news.set()
            except StoreUnavailable as error:
                telemetry.logger().warning("not_listening", error_message=error.message)
            await asyncio.sleep(_PULSE_SECONDS)

    async def _start_what_may(self) -> None:
        orders, settings = self._resources.orders, self._resources.settings
        for order_id in await orders.prompts.due_orders():
            await orders.prompts.start(order_id, next_round)
        for order_id in await orders.due_to_resume():
            await requeue(self._resources.orders, order_id, after="pause")
        async with self._deciding:
            taken = await self._claims.claim(
                self.worker_id,
                places=settings.max_concurrent_orders,
                per_repository=settings.max_concurrent_orders_per_repository,
            )
            for order in taken:
                await self._carrier.carry(order)
                failpoint("enqueued")

    async def _pulse(self) -> None:
        """Give heartbeats, and look after what has stalled: others' orders and this worker's own."""
        shared, beaten = self._resources.handover.is_shared, time.monotonic()
        while True:
            try:
                await self._look_after_own()
                if shared:
                    if not await self._claims.heartbeat(self.worker_id, socket.gethostname()):
                        await self._carrier.register()
                    beaten = time.monotonic()
                    await self._look_after_others()
            except Exception as error:
                # As above: a worker that stops to look would leave orders alone for ever.
                telemetry.logger().error("worker_could_not_look", exc_info=error)
            if shared and time.monotonic() - beaten > self._resources.settings.worker_lease_seconds:
                await self._revoke(self._rounds.orders)  # by now another worker may have them
            await asyncio.sleep(_PULSE_SECONDS)

    async def _look_after_own(self) -> None:
        held = {one.order_id: one for one in await self._claims.held_by(self.worker_id)}
        await self._revoke(self._rounds.orders - held.keys())
        for one in held.values():
            if one.stop_requested is not None and one.order_id not in self._stopping:
                self._stopping[one.order_id] = asyncio.create_task(self._stop_as_asked(one))
        still = self._orders_still.watch(
            {(one.order_id, one.attempt): one.last_sequence for one in held.values()}, time.monotonic()
        )
        for one in held.values():
            await self._rescue(one, still[one.order_id, one.attempt])

    async def _stop_as_asked(self, held: Held) -> None:
        assert held.stop_requested is not None
        try:
            await self.stop_here(held.order_id, held.stop_requested)
        finally:
            del self._stopping[held.order_id]

    async def _rescue(self, held: Held, still_seconds: float) -> None:
        found = remedy(
            is_attended=held.order_id in self._rounds.orders,
            still_seconds=still_seconds,
            rescues=self._rescues[held.order_id],
            limits=self._stall_limits,
        )
        if found is None:
            return
        what, why = found
        telemetry.logger().warning(
            "order_without_progress", agent_work_order_id=held.order_id, remedy=what, reason=why
        )
        self._rescues[held.order_id] += 1
        await self._rounds.revoke(held.order_id)
        if what == "give up":
            await give_up(self._resources.orders, held, why)
        else:
            await self._claims.reclaim(held, why, new_attempt=True)
        self.wake()

    async def _look_after_others(self) -> None:
        lease = self._resources.settings.worker_lease_seconds
        beats = await self._claims.heartbeats()
        still = self._workers_still.watch(beats, time.monotonic())
        for worker_id, count in beats.items():
            is_dead = worker_id != self.worker_id and still[worker_id] > lease
            if is_dead and await self._claims.expire(worker_id, count):
                await self._carrier.forget_worker(worker_id)
        for worker_id in await self._claims.dead_holders():
            await self._hand_over(worker_id, "its worker gave no sign of life")

    async def _hand_over(self, worker_id: str, reason: str) -> None:
        for held in await self._claims.held_by(worker_id):
            if await self._claims.reclaim(held, reason):
                telemetry.logger().warning(
                    "order_requeued", agent_work_order_id=held.order_id, worker_id=worker_id, reason=reason
                )

    async def _revoke(self, order_ids: set[str]) -> None:
        for order_id in order_ids:
            telemetry.logger().warning("order_lost", agent_work_order_id=order_id)
            await self._rounds.revoke(order_id)
