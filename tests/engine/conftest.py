"""A worker's parts, without a worker."""

import pytest

from journeyman.access.redaction import Redactor
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.catalog import AgentCatalog
from journeyman.app import environments_of
from journeyman.database import Database
from journeyman.engine.handover import Handover
from journeyman.engine.repositories import Repositories
from journeyman.engine.resources import WorkerResources
from journeyman.engine.store import Claims
from journeyman.engine.workspaces import OpenWorkspaces
from journeyman.events.feed import Feed
from journeyman.forges.local import LocalForge
from journeyman.gateway.gateway import Gateway
from journeyman.git.mirrors import Mirrors
from journeyman.git.workspaces import Workspaces
from journeyman.sandboxes.homes import Homes
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.work_orders.store import WorkOrders


@pytest.fixture
def resources(settings: Settings, database: Database) -> WorkerResources:
    orders = WorkOrders(database, Feed(database), Redactor([]))
    sandboxes = LocalSandboxes(settings)
    repositories = Repositories(
        settings=settings,
        mirrors=Mirrors(settings.home / "mirrors"),
        forges={"local": LocalForge(database, settings.server_url)},
    )
    agents = {"builtin": BuiltinAgent(Gateway(settings), settings)}
    return WorkerResources(
        settings=settings,
        orders=orders,
        workspaces=OpenWorkspaces(Workspaces(settings.home / "workspaces"), repositories, sandboxes),
        sandboxes=sandboxes,
        agents=AgentCatalog(agents, Homes(settings.home / "sessions")),
        handover=Handover(Claims(database, orders), "worker-1"),
        environments=environments_of(settings, sandboxes),
    )
