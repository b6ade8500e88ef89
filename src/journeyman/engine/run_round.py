"""★ The story of a round: from an accepted work order to a draft pull request.

Begin: the branch and its workspace are made. Then, until nothing may happen any more, ask
what may happen next and do all of it at once. A step that waits for a person is among it each time, so that
an open question stops nothing but what depends on it. Finish: say how it went, and why.

Every line that touches the world is a durable step: after a crash the story is read again from the top,
steps that ended are not done again, and because `next_moves` depends only on how they ended, the second
reading takes the same road as the first.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from dbos import DBOS, DBOSConfiguredInstance

from journeyman.engine.approvals import Siblings, apply_decisions
from journeyman.engine.end_round import end_round
from journeyman.engine.perform_step import begin_round, perform
from journeyman.engine.resources import WorkerResources
from journeyman.engine.store_retries import retry_until_stored
from journeyman.engine.transitions import Stop, Suspension, suspend, what_pauses
from journeyman.errors import Superseded
from journeyman.workflows.progress import Done, Move, next_moves, to_repeat
from journeyman.workflows.schema import Workflow


@DBOS.dbos_class()
class Rounds(DBOSConfiguredInstance):
    def __init__(self, resources: WorkerResources, *, on_end: Callable[[], None]) -> None:
        super().__init__("rounds")
        self._resources = resources
        self._on_end = on_end
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._stops: dict[str, Stop] = {}
        self._lost: set[str] = set()

    @property
    def running(self) -> set[str]:
        """The orders whose rounds run in this process."""
        return set(self._tasks)

    @DBOS.workflow(name="run_round", max_recovery_attempts=10_000)
    async def run_round(self, order_id: str, round: int, attempt: int, definition: dict[str, Any]) -> str:
        """Carry one attempt at a round to its end and return how that was."""
        resources = self._resources.for_attempt(round, attempt)
        with self._interruptible(order_id):
            try:
                return await self._tell_story(resources, order_id, round, attempt, definition)
            except Superseded:
                return await self._detach(order_id)
            except asyncio.CancelledError:
                if order_id not in self._stops and order_id not in self._lost:
                    raise
                # It was asked for and ends here: what follows must not count as cancelled.
                self._tasks[order_id].uncancel()
                if order_id in self._lost:
                    return await self._detach(order_id)
                return await _suspend(resources, order_id, self._stops[order_id])

    async def _tell_story(
        self, resources: WorkerResources, order_id: str, round: int, attempt: int, definition: dict[str, Any]
    ) -> str:
        workflow = Workflow.model_validate(definition)
        beginning = await self._begin(resources, order_id, round, attempt)
        if beginning.status == "skipped":
            return "over already"
        if (because := what_pauses([beginning])) is not None:
            return await _suspend(resources, order_id, "paused", because)
        done: dict[str, Done] = {}
        if beginning.status == "completed":
            waiting: set[str] = set()
            while moves := next_moves(workflow, done, beginning.output):
                names = [move.step.name for move in moves]
                if waiting.issuperset(names):
                    return await self._await_decisions(resources, order_id, waiting)
                siblings = Siblings(names)
                ends = await asyncio.gather(
                    *(self._perform(resources, order_id, move, done, siblings) for move in moves)
                )
                if (because := what_pauses(ends)) is not None:
                    return await _suspend(resources, order_id, "paused", because)
                ended = dict(zip(names, ends, strict=True))
                waiting = {name for name, end in ended.items() if end.status == "awaiting_approval"}
                done |= {name: end for name, end in ended.items() if name not in waiting}
                if again := to_repeat(workflow, done):
                    await self._reopen(resources, order_id, round, again)
                    done = {name: end for name, end in done.items() if name not in again}
        return await _end(resources, order_id, workflow, beginning, done)

    async def _begin(self, resources: WorkerResources, order_id: str, round: int, attempt: int) -> Done:
        return Done(
            **await DBOS.run_step_async({"name": "begin"}, _begin_once, resources, order_id, round, attempt)
        )

    async def _perform(
        self,
        resources: WorkerResources,
        order_id: str,
        move: Move,
        done: Mapping[str, Done],
        siblings: Siblings,
    ) -> Done:
        try:
            return Done(
                **await DBOS.run_step_async(
                    {"name": f"step {move.step.name}"},
                    _perform_once,
                    resources,
                    order_id,
                    move,
                    dict(done),
                    siblings,
                )
            )
        finally:
            siblings.rests(move.step.name)

    async def _await_decisions(self, resources: WorkerResources, order_id: str, steps: set[str]) -> str:
        """Nothing can move before a person decides: the attempt ends, and the decision begins the next."""
        status = await _suspend(resources, order_id, "awaiting_approval")
        await retry_until_stored(lambda: apply_decisions(self._resources.orders, order_id, steps))
        return status

    async def _reopen(
        self, resources: WorkerResources, order_id: str, round: int, steps: frozenset[str]
    ) -> None:
        await DBOS.run_step_async(
            {"name": "reopen"}, resources.orders.reopen_steps, order_id, round, sorted(steps)
        )

    async def _detach(self, order_id: str) -> str:
        """Somebody else has the order: end what runs here, and touch nothing of it."""
        await self._resources.teardown.detach(order_id)
        return "superseded"

    async def stop(self, order_id: str, stop: Stop) -> None:
        """Stop a round that runs here, in the middle of a step too; returns when all of it has ended."""
        if order_id not in self._tasks:
            await suspend(self._resources.orders, self._resources.teardown, order_id, stop)
        # It may have begun in the meantime.
        if (task := self._tasks.get(order_id)) is not None:
            self._stops[order_id] = stop
            task.cancel()
            try:
                await asyncio.wait({task})
            finally:
                del self._stops[order_id]

    async def revoke(self, order_id: str) -> None:
        """End a round of an order that is not ours any more; returns when all of it has ended."""
        if (task := self._tasks.get(order_id)) is not None:
            self._lost.add(order_id)
            task.cancel()
            try:
                await asyncio.wait({task})
            finally:
                self._lost.discard(order_id)

    async def interrupt(self) -> None:
        """Cut off what runs in this process. It counts as a crash: the next start goes on with it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def _interruptible(self, order_id: str) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None
        self._tasks[order_id] = task
        try:
            yield
        finally:
            del self._tasks[order_id]
            self._on_end()


# What a durable step returns is stored as JSON, so values cross this line as plain dictionaries.


async def _begin_once(resources: WorkerResources, order_id: str, round: int, attempt: int) -> dict[str, Any]:
    return asdict(await retry_until_stored(lambda: begin_round(resources, order_id, round, attempt)))


async def _perform_once(
    resources: WorkerResources, order_id: str, move: Move, done: Mapping[str, Done], siblings: Siblings
) -> dict[str, Any]:
    return asdict(await retry_until_stored(lambda: perform(resources, order_id, move, done, siblings)))


# The last thing of a round is no durable step: it may be repeated, and the round's end is stored after it.


async def _suspend(
    resources: WorkerResources, order_id: str, how: Suspension, because: Done | None = None
) -> str:
    orders, teardown = resources.orders, resources.teardown
    return (
        await retry_until_stored(lambda: suspend(orders, teardown, order_id, how, because=because))
    ).status


async def _end(
    resources: WorkerResources, order_id: str, workflow: Workflow, beginning: Done, done: Mapping[str, Done]
) -> str:
    orders, teardown, repositories = resources.orders, resources.teardown, resources.repositories
    return await retry_until_stored(
        lambda: end_round(orders, teardown, repositories, order_id, workflow, beginning, done)
    )
