"""★ The story of a round: from an accepted work order to a draft pull request.

Begin: the branch and its workspace are made. Then, until nothing may happen any more, ask
what may happen next and do all of it at once. Finish: say how it went, and why.

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

from journeyman.engine.control import Stop, rest
from journeyman.engine.end_round import end_round
from journeyman.engine.outlast import outlast
from journeyman.engine.perform_step import begin_round, perform
from journeyman.engine.workshop import Workshop
from journeyman.workflows.progress import Done, Move, next_moves
from journeyman.workflows.schema import Workflow


@DBOS.dbos_class()
class Rounds(DBOSConfiguredInstance):
    def __init__(self, workshop: Workshop, *, on_end: Callable[[], None]) -> None:
        super().__init__("rounds")
        self._workshop = workshop
        self._on_end = on_end
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._stops: dict[str, Stop] = {}

    @property
    def running(self) -> set[str]:
        """The orders whose rounds run in this process."""
        return set(self._tasks)

    @DBOS.workflow(name="run_round", max_recovery_attempts=10_000)
    async def run_round(self, order_id: str, round: int, attempt: int, definition: dict[str, Any]) -> str:
        """Carry one attempt at a round to its end and return how that was."""
        with self._interruptible(order_id):
            try:
                return await self._tell_story(order_id, round, attempt, definition)
            except asyncio.CancelledError:
                if order_id not in self._stops:
                    raise
                # It was asked for and ends here: what follows must not count as cancelled.
                self._tasks[order_id].uncancel()
                stop = self._stops[order_id]
                return (await outlast(lambda: rest(self._workshop, order_id, stop))).status

    async def _tell_story(self, order_id: str, round: int, attempt: int, definition: dict[str, Any]) -> str:
        workflow = Workflow.model_validate(definition)
        beginning = await self._begin(order_id, round, attempt)
        if beginning.status == "skipped":
            return "over already"
        done: dict[str, Done] = {}
        if beginning.status == "completed":
            while moves := next_moves(workflow, done, beginning.output):
                ends = await asyncio.gather(*(self._perform(order_id, move, done) for move in moves))
                if any(end.status == "awaiting_approval" for end in ends):
                    return await self._wait_for_a_person(order_id)
                done |= {move.step.name: end for move, end in zip(moves, ends, strict=True)}
        return await self._end(order_id, workflow, beginning, done)

    async def _begin(self, order_id: str, round: int, attempt: int) -> Done:
        return Done(
            **await DBOS.run_step_async({"name": "begin"}, self._begin_once, order_id, round, attempt)
        )

    async def _perform(self, order_id: str, move: Move, done: Mapping[str, Done]) -> Done:
        return Done(
            **await DBOS.run_step_async(
                {"name": f"step {move.step.name}"}, self._perform_once, order_id, move, dict(done)
            )
        )

    async def _wait_for_a_person(self, order_id: str) -> str:
        return await DBOS.run_step_async({"name": "wait"}, self._rest_once, order_id)

    async def _end(self, order_id: str, workflow: Workflow, beginning: Done, done: Mapping[str, Done]) -> str:
        return await DBOS.run_step_async({"name": "end"}, self._end_once, order_id, workflow, beginning, done)

    async def stop(self, order_id: str, stop: Stop) -> None:
        """Stop a round that runs here, in the middle of a step too; returns when all of it has ended."""
        if order_id not in self._tasks:
            await rest(self._workshop, order_id, stop)
        # It may have begun in the meantime.
        if (task := self._tasks.get(order_id)) is not None:
            self._stops[order_id] = stop
            task.cancel()
            try:
                await asyncio.wait({task})
            finally:
                del self._stops[order_id]

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

    async def _rest_once(self, order_id: str) -> str:
        return (await outlast(lambda: rest(self._workshop, order_id, "awaiting_approval"))).status

    async def _begin_once(self, order_id: str, round: int, attempt: int) -> dict[str, Any]:
        return asdict(await outlast(lambda: begin_round(self._workshop, order_id, round, attempt)))

    async def _perform_once(self, order_id: str, move: Move, done: Mapping[str, Done]) -> dict[str, Any]:
        return asdict(await outlast(lambda: perform(self._workshop, order_id, move, done)))

    async def _end_once(
        self, order_id: str, workflow: Workflow, beginning: Done, done: Mapping[str, Done]
    ) -> str:
        return await outlast(lambda: end_round(self._workshop, order_id, workflow, beginning, done))
