"""The API as it is served: real HTTP, real stores and a real local forge; the engine is the test itself."""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from journeyman.access.redaction import Redactor
from journeyman.agents.base import About, Agent, Assignment, EmitEvents, Outcome
from journeyman.api.application import create_app
from journeyman.api.services import Branches, Forges, Host, Models, Services
from journeyman.database import Database
from journeyman.engine.transitions import Standstill, Stop
from journeyman.errors import Conflict
from journeyman.events.feed import Feed
from journeyman.events.types import (
    AgentText,
    AgentWorkOrderCompleted,
    AgentWorkOrderFailed,
    AgentWorkOrderStarted,
    Event,
    GithubPullRequestCreated,
)
from journeyman.forges.github import GitHubForge
from journeyman.forges.local import LocalForge
from journeyman.gateway.gateway import Gateway
from journeyman.git.mirror import Mirror
from journeyman.git.mirrors import Mirrors
from journeyman.sandboxes.base import Readiness, Sandbox, SandboxLimits, SandboxProvider, SandboxSpec
from journeyman.settings import Settings
from journeyman.work_orders.approvals import ApprovalDecision
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.repositories import Repository, parse_repository
from journeyman.work_orders.store import OrderFilter, WorkOrders
from journeyman.workflows.catalog import WorkflowCatalog

ORDERS = "/api/agent-work-orders"
READY = Readiness(True)


ANY_MODEL = About(("scripted", "openai", "anthropic", "google"))


@dataclass(frozen=True)
class IdleAgent:
    """An agent that can be chosen and never works: orders are carried out by the tests themselves."""

    name: str = "builtin"
    ready: Readiness = READY
    about: About = ANY_MODEL

    async def readiness(self) -> Readiness:
        return self.ready

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        raise AssertionError("no agent works in these tests")


@dataclass(frozen=True)
class EmptyYard:
    """Where no sandbox is ever opened; it only says how it would hold one apart."""

    isolation: str = "bubblewrap"
    ready: Readiness = READY

    async def readiness(self) -> Readiness:
        return self.ready

    async def setup(self, spec: SandboxSpec) -> Sandbox:
        raise AssertionError("no sandbox is opened in these tests")

    async def is_over_quota(self, order_id: str, tree: Path, limits: SandboxLimits) -> bool:
        return False

    async def cleanup(self, order_id: str, *, only_writable: bool = False) -> None:
        return

    async def sweep(self, live_orders: set[str]) -> list[str]:
        return []

    async def close(self) -> None:
        return


class Absent:
    """Nobody who could stop an order: there is no worker in these tests."""

    def wake(self) -> None:
        return

    async def stop_order(self, order_id: str, stop: Stop) -> WorkOrder:
        raise Conflict("there is no worker")

    async def positions(self) -> dict[str, int]:
        return {}

    async def requeue(self, order_id: str, *, after: Standstill) -> WorkOrder:
        raise Conflict("there is no worker")

    async def retry_from(self, order_id: str, step: str) -> WorkOrder:
        raise Conflict("there is no worker")

    async def fork(self, order_id: str, step: str, *, prompt: str | None, **changes: Any) -> WorkOrder:
        raise Conflict("there is no worker")

    async def decide(
        self, order_id: str, step: str | None, decision: ApprovalDecision, comment: str
    ) -> WorkOrder:
        raise Conflict("there is no worker")

    async def clean_up(self, *, dry_run: bool = False) -> list[str]:
        return [f"log of wo-1a2b3c4d{' (would go)' if dry_run else ''}"]


@dataclass
class Api:
    url: str
    client: httpx2.AsyncClient
    services: Services

    async def accepted(self) -> list[WorkOrder]:
        """Every order that was stored, oldest first."""
        found, _ = await self.services.orders.find(OrderFilter(), limit=200, sort="created_at")
        return found

    async def submit(self, repository: Path, **fields: Any) -> str:
        body = {
            "repository_url": str(repository),
            "initial_prompt": "Fix the pager",
            "model": "scripted/demo",
            **fields,
        }
        answer = await self.client.post(ORDERS, json=body)
        assert answer.status_code == 201, answer.text
        order_id: str = answer.json()["agent_work_order"]["agent_work_order_id"]
        return order_id

    async def stored(self) -> int:
        return int((await self.client.get(ORDERS)).json()["total_count"])

    async def begin(self, order_id: str, *events: Event) -> None:
        await self.services.orders.change(order_id, AgentWorkOrderStarted(round=1), *events, status="running")

    async def say(self, order_id: str, *texts: str) -> None:
        await self.services.orders.emit(order_id, *(AgentText(step="build", text=text) for text in texts))

    async def complete(self, order_id: str) -> None:
        await self.services.orders.change(
            order_id,
            AgentWorkOrderCompleted(verification="passed"),
            status="completed",
            verification="passed",
        )

    async def fail(self, order_id: str, message: str = "the checks did not pass") -> None:
        await self.services.orders.change(
            order_id,
            AgentWorkOrderFailed(error_message=message, error_category="verification"),
            status="failed",
            error_message=message,
            error_category="verification",
        )

    async def open_pull_request(self, order_id: str) -> int:
        """A draft of the order's branch, in the local forge and on the order."""
        order = await self.services.orders.get(order_id)
        repository = local_repository(order.repository_url)
        made = await self.services.forges["local"].open_pull_request(
            repository, branch=order.git_branch_name, base="main", title=order.title, body="Done."
        )
        await self.services.orders.change(
            order_id,
            GithubPullRequestCreated(github_pull_request_url=made.url, number=made.number, draft=True),
            github_pull_request_url=made.url,
            github_pull_request_number=made.number,
        )
        return made.number


def local_repository(url: str) -> Repository:
    return parse_repository(url, github_url="https://github.com", allow_local=True)


@asynccontextmanager
async def served(
    settings: Settings,
    database: Database,
    *,
    sandboxes: SandboxProvider | None = None,
    agents: dict[str, Agent] | None = None,
    checks: dict[str, bool] | None = None,
) -> AsyncIterator[Api]:
    feed = Feed(database)
    github = GitHubForge(settings)
    local = LocalForge(database, settings.server_url)

    async def mirror_of(order: WorkOrder) -> Mirror:
        return Mirrors(settings.home / "mirrors").at(local_repository(order.repository_url))

    async def is_ready() -> dict[str, bool]:
        return {"database": True} if checks is None else checks

    services = Services(
        settings=settings,
        orders=WorkOrders(database, feed, Redactor(settings.secrets())),
        feed=feed,
        forges=Forges({"github": github, "local": local}, local),
        branches=Branches(mirror_of, lambda _: None),
        host=Host(sandboxes or EmptyYard(settings.local_isolation), is_ready),
        agents=agents or {"builtin": IdleAgent()},
        models=Models(Gateway(settings)),
        workflows=WorkflowCatalog(settings.home / "workflows"),
        control=Absent(),
    )
    async with listening(services) as url, httpx2.AsyncClient(base_url=url, timeout=30) as client:
        yield Api(url, client, services)
    await github.aclose()


@asynccontextmanager
async def listening(services: Services, port: int = 0) -> AsyncIterator[str]:
    """The app on a port of this machine, until the block ends."""
    server = _Server(uvicorn.Config(create_app(services), port=port, log_config=None, lifespan="off"))
    task = asyncio.create_task(server.serve())
    await server.is_up.wait()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        services.feed.close()
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals belong to the test run."""
        yield


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-C", str(repository), *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def problem_of(answer: httpx2.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert {"type", "title", "detail", "hint", "category"} <= problem.keys()
    assert problem["detail"]
    return problem
