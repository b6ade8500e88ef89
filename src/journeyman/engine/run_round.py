"""★ The story of a round: from an accepted work order to a draft pull request.

Begin: the branch and its workspace are made. From here on the checks run on the base commit, too, beside the
work, so that its old failures are known in time. Then, until nothing may happen any more, ask
what may happen next and do all of it at once. A step that waits for a person is among it each time, so that
an open question stops nothing but what depends on it. Finish: say how it went, and why.

After a crash, or on another worker, the story is read again from the top. Every step that ended left its
outcome in its record and answers with it, and because `next_moves` depends only on these outcomes, the second
reading takes the same road as the first.
"""

import asyncio
from collections.abc import Mapping

from journeyman.engine.approvals import Siblings, apply_decisions
from journeyman.engine.attempt import Attempt
from journeyman.engine.baseline import baseline_beside
from journeyman.engine.end_round import end_round
from journeyman.engine.perform_step import begin_round, perform
from journeyman.engine.resources import WorkerResources
from journeyman.engine.store_retries import retry_until_stored
from journeyman.engine.transitions import Suspension, suspend, what_pauses
from journeyman.workflows.progress import Done, Move, next_moves, to_repeat
from journeyman.workflows.schema import Workflow


async def run_round(resources: WorkerResources, attempt: Attempt, workflow: Workflow) -> str:
    """Carry one attempt at a round to its end and return how that was."""
    beginning = await retry_until_stored(lambda: begin_round(resources, attempt))
    if beginning.status == "skipped":
        return "over already"
    if (because := what_pauses([beginning])) is not None:
        return await suspend_round(resources, attempt.order_id, "paused", because)
    if beginning.status != "completed":
        return await _end(resources, attempt.order_id, workflow, beginning, {})
    async with baseline_beside(resources, attempt, workflow):
        return await _perform_moves(resources, attempt, workflow, beginning)


async def _perform_moves(
    resources: WorkerResources, attempt: Attempt, workflow: Workflow, beginning: Done
) -> str:
    """Do what may happen next, until nothing may happen any more."""
    orders, order_id = resources.orders, attempt.order_id
    done: dict[str, Done] = {}
    waiting: set[str] = set()
    while moves := next_moves(workflow, done, beginning.output):
        names = [move.step.name for move in moves]
        if waiting.issuperset(names):
            return await _await_decisions(resources, order_id, waiting)
        siblings = Siblings(names)
        ends = await asyncio.gather(*(_perform(resources, order_id, move, done, siblings) for move in moves))
        if (because := what_pauses(ends)) is not None:
            return await suspend_round(resources, order_id, "paused", because)
        ended = dict(zip(names, ends, strict=True))
        waiting = {name for name, end in ended.items() if end.status == "awaiting_approval"}
        done |= {name: end for name, end in ended.items() if name not in waiting}
        if again := to_repeat(workflow, done):
            await retry_until_stored(lambda: orders.steps.reopen(order_id, attempt.round, again))
            done = {name: end for name, end in done.items() if name not in again}
    return await _end(resources, order_id, workflow, beginning, done)


async def suspend_round(
    resources: WorkerResources, order_id: str, how: Suspension, because: Done | None = None
) -> str:
    """End the attempt here; another goes on after it."""
    orders, teardown = resources.orders, resources.teardown
    suspended = await retry_until_stored(lambda: suspend(orders, teardown, order_id, how, because=because))
    return suspended.status


async def _perform(
    resources: WorkerResources, order_id: str, move: Move, done: Mapping[str, Done], siblings: Siblings
) -> Done:
    try:
        return await retry_until_stored(lambda: perform(resources, order_id, move, done, siblings))
    finally:
        siblings.rests(move.step.name)


async def _await_decisions(resources: WorkerResources, order_id: str, steps: set[str]) -> str:
    """Nothing can move before a person decides: the attempt ends, and the decision begins the next."""
    status = await suspend_round(resources, order_id, "awaiting_approval")
    anybody = resources.orders.held_by(None)  # no worker holds the order now
    await retry_until_stored(lambda: apply_decisions(anybody, order_id, steps))
    return status


async def _end(
    resources: WorkerResources, order_id: str, workflow: Workflow, beginning: Done, done: Mapping[str, Done]
) -> str:
    orders, teardown, repositories = resources.orders, resources.teardown, resources.repositories
    return await retry_until_stored(
        lambda: end_round(orders, teardown, repositories, order_id, workflow, beginning, done)
    )
