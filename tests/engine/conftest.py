"""A worker's parts, without a worker."""

import pytest

from journeyman.access.redaction import Redactor
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.database import Database
from journeyman.engine.store import Claims
from journeyman.engine.workshop import Workshop
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
def workshop(settings: Settings, database: Database) -> Workshop:
    orders = WorkOrders(database, Feed(database), Redactor([]))
    return Workshop(
        settings=settings,
        orders=orders,
        mirrors=Mirrors(settings.home / "mirrors"),
        workspaces=Workspaces(settings.home / "workspaces"),
        sandboxes=LocalSandboxes(settings),
        forges={"local": LocalForge(database, settings.server_url)},
        agents={"builtin": BuiltinAgent(Gateway(settings), settings)},
        homes=Homes(settings.home / "sessions"),
        claims=Claims(database, orders),
        worker_id="worker-1",
    )
