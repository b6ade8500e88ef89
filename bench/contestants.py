"""The agents of `agent_loop.py` that have to be put together; each runs as a process of its own.

    python bench/contestants.py NAME MODEL_URL DIRECTORY

pydantic-ai's runs as its documentation shows, without a jail. Ours takes the road that a step takes: prepared
with a worker's parts, in its jail, with every event in the store.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TASK = "Run the commands."


def pydantic_ai(url: str, directory: Path) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    provider = OpenAIProvider(base_url=url, api_key="none")
    agent = Agent(OpenAIChatModel("gpt-5.5", provider=provider))

    @agent.tool_plain
    async def shell(command: str) -> str:
        """Run a command with bash and get its output and exit code."""
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=directory, stdout=-1, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await process.communicate()
        return f"{output.decode()}\n[exit code {process.returncode}]"

    asyncio.run(agent.run(_TASK, usage_limits=UsageLimits(request_limit=None)))


def journeyman(url: str, directory: Path) -> None:
    """The directory holds a repository, and a home whose database is up to date."""
    from journeyman.settings import load_settings

    environment = {
        "JOURNEYMAN_HOME": str(directory / "home"),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": url,
    }
    asyncio.run(_one_turn(load_settings(environment), directory / "repository"))


async def _one_turn(settings: Any, repository: Path) -> None:
    from datetime import UTC, datetime

    from journeyman import database, telemetry
    from journeyman.access.redaction import Redactor
    from journeyman.agents.builtin.agent import BuiltinAgent
    from journeyman.agents.catalog import AgentCatalog
    from journeyman.agents.roles import ROLES
    from journeyman.app import environments_of
    from journeyman.engine.handover import Handover
    from journeyman.engine.repositories import Repositories
    from journeyman.engine.resources import WorkerResources
    from journeyman.engine.store import Claims
    from journeyman.engine.workspaces import OpenWorkspaces
    from journeyman.events.feed import Feed
    from journeyman.forges.local import LocalForge
    from journeyman.gateway.gateway import Gateway
    from journeyman.gateway.ledger import Ledger
    from journeyman.gateway.prices import Prices
    from journeyman.gateway.store import ModelCalls
    from journeyman.git.mirrors import Mirrors
    from journeyman.git.workspaces import Workspaces
    from journeyman.sandboxes.homes import Homes
    from journeyman.sandboxes.local import LocalSandboxes
    from journeyman.work_orders.order import WorkOrder, new_order_id
    from journeyman.work_orders.store import WorkOrders
    from journeyman.workflows.schema import StepSpec

    redactor = Redactor(settings.secrets())
    telemetry.configure_logging(home=settings.home, log_format=settings.log_format, redact=redactor.redact)
    store = database.Database(database.database_url("", settings.home))
    orders = WorkOrders(store, Feed(store), redactor)
    sandboxes = LocalSandboxes(settings)
    ledger = Ledger(ModelCalls(store), settings, Prices(settings.model_prices))
    repositories = Repositories(
        settings=settings,
        mirrors=Mirrors(settings.home / "mirrors"),
        forges={"local": LocalForge(store, settings.server_url)},
    )
    agents = {"builtin": BuiltinAgent(Gateway(settings, ledger), settings)}
    resources = WorkerResources(
        settings=settings,
        orders=orders,
        workspaces=OpenWorkspaces(Workspaces(settings.home / "workspaces"), repositories, sandboxes),
        sandboxes=sandboxes,
        agents=AgentCatalog(agents, Homes(settings.home / "sessions")),
        handover=Handover(Claims(store, orders), "bench"),
        environments=environments_of(settings, sandboxes),
    )
    order_id, now = new_order_id(), datetime.now(UTC)
    order = WorkOrder(
        agent_work_order_id=order_id,
        repository_url=repository.as_uri(),
        sandbox_type="git_worktree",
        workflow_type="agent_workflow_build",
        workflow={"steps": []},
        title=_TASK,
        initial_prompt=_TASK,
        agent="builtin",
        model="openai/gpt-5.5",
        git_branch_name=f"work-{order_id}",
        base_branch="main",
        created_at=now,
        updated_at=now,
    )
    await orders.create(order)
    await resources.checkout.prepare(order)
    order, step = await orders.get(order_id), StepSpec(name="build", kind="build")
    async with asyncio.timeout(None) as limit:
        context = await resources.step_contexts.build(order, step, {}, limit, _keep_nothing)
        outcome = await context.agent.turn(ROLES["build"], _TASK)
    assert outcome.stop_reason == "finished", outcome
    await resources.teardown.tear_down(order)
    await sandboxes.close()
    await store.close()


async def _keep_nothing(output: object) -> None:
    """No step follows that could read it."""


CONTESTANTS: dict[str, Callable[[str, Path], None]] = {
    "journeyman": journeyman,
    "pydantic-ai": pydantic_ai,
}

if __name__ == "__main__":
    CONTESTANTS[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
