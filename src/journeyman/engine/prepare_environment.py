"""Install what an order's repository needs before any of its agents works."""

from journeyman.engine.resources import WorkerResources
from journeyman.environments.setup_problems import SetupProblem
from journeyman.errors import EnvironmentIncomplete
from journeyman.events import log
from journeyman.git.mirror import Mirror
from journeyman.work_orders.lifecycle import was_asked
from journeyman.work_orders.repository_record import ENVIRONMENT_CHECK, ENVIRONMENT_FILE


async def prepare_environment(resources: WorkerResources, order_id: str, mirror: Mirror) -> None:
    """Set the environment up, or find that it is.

    Raises EnvironmentIncomplete where a person is to be asked about what is missing; asked once for the same
    problem, because a person who resumes it without changing anything wants it to go on. An order that checks
    the environment sets it up in its step, which reports what is wrong with it; one that writes the file
    needs none, and has to work where the file is wrong.
    """
    orders = resources.orders
    order = await orders.get(order_id)
    if order.workflow_type in (ENVIRONMENT_CHECK, ENVIRONMENT_FILE):
        return
    ready = await resources.environment_of(order, mirror).ready()
    if ready.problem is None or resources.settings.environment_problems != "ask":
        return
    message = _question(ready.problem)
    stored = await log.read_all(orders.database, order_id)
    if was_asked(message, (one.event for one in stored)):
        return
    raise EnvironmentIncomplete(
        message,
        hint=f"{ready.problem.remedy} Then resume the order; resumed as it is, it goes on without it.",
    )


def _question(problem: SetupProblem) -> str:
    return f"the environment could not be set up: {problem.reason}"
