"""Measure the base commit beside the agent's work, so that verification need not wait for it.

Whatever goes wrong here is met again, and reported, by the verification that needs the result.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from journeyman import telemetry
from journeyman.engine.attempt import Attempt
from journeyman.engine.resources import WorkerResources
from journeyman.steps.baseline import measure_base
from journeyman.workflows.schema import Workflow

_STEP = "baseline"


@contextlib.asynccontextmanager
async def baseline_beside(
    resources: WorkerResources, attempt: Attempt, workflow: Workflow
) -> AsyncIterator[None]:
    """Run the base's checks while this is open, where the workflow verifies and they are not known."""
    if not any(step.kind == "verify" for step in workflow.steps):
        yield
        return
    measuring = asyncio.create_task(_measure(resources, attempt))
    try:
        yield
    finally:
        measuring.cancel()
        [ended] = await asyncio.gather(measuring, return_exceptions=True)
        if isinstance(ended, Exception):
            telemetry.logger().info(
                "baseline_not_measured", agent_work_order_id=attempt.order_id, error=str(ended)
            )


async def _measure(resources: WorkerResources, attempt: Attempt) -> None:
    order = await resources.orders.get(attempt.order_id)
    workspace = await resources.workspaces.open(order)
    sandboxes = resources.step_contexts.sandboxes_of(order, workspace, _STEP)
    planned = await sandboxes.environment.planned()
    # Of several packages only those count that the change will touch.
    await measure_base(sandboxes, [check for check in planned.environment.checks if not check.covers])
