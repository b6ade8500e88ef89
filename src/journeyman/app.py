"""Composition root: the only file that names implementations.

`build_api` and `build_worker` make from the settings what each of them needs; `serve` runs both in one
process until it is stopped. They have parts, an event loop and a thread each: a busy worker delays no answer.
They share the database, the feed that wakes the API's readers and the handle to the worker, nothing else.
"""

import asyncio
import fcntl
import gc
import ipaddress
import os
import shlex
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from pydantic import SecretStr

import journeyman.access.tables
import journeyman.engine.tables
import journeyman.events.tables
import journeyman.forges.tables
import journeyman.gateway.tables
import journeyman.work_orders.tables  # noqa: F401  (every table is known to the metadata)
from journeyman import database, failpoints, telemetry
from journeyman.access.redaction import Redactor
from journeyman.access.signing import evidence_key, stored_key
from journeyman.agents.base import Agent
from journeyman.agents.builtin.agent import BuiltinAgent
from journeyman.agents.catalog import AgentCatalog
from journeyman.agents.claude_code import ClaudeCode
from journeyman.agents.codex import Codex
from journeyman.agents.gemini import Gemini
from journeyman.agents.npm_packages import NpmPackages
from journeyman.agents.opencode import OpenCode
from journeyman.agents.small_model import SmallModel
from journeyman.api.application import create_app
from journeyman.api.services import Branches, Forges, Host, Models, Services
from journeyman.database import Database
from journeyman.engine.handover import Handover, MirrorOf, current_mirror
from journeyman.engine.order_control import OrderControl
from journeyman.engine.refresh import BranchRefresh
from journeyman.engine.repositories import Repositories
from journeyman.engine.resources import WorkerResources
from journeyman.engine.store import Claims
from journeyman.engine.teardown import Teardown
from journeyman.engine.worker_handle import WorkerHandle
from journeyman.engine.workers import Worker, worker_id_of
from journeyman.engine.workspaces import OpenWorkspaces
from journeyman.environments.egress.proxy import EgressProxy
from journeyman.environments.egress.registries import Registries
from journeyman.environments.egress.registry_egress import RegistryEgress
from journeyman.environments.layers import Layers
from journeyman.environments.setup import EnvironmentSetup
from journeyman.environments.tools import Tools
from journeyman.errors import Conflict, InvalidSetting
from journeyman.events.feed import Feed
from journeyman.files.databases import check_database
from journeyman.files.home import DATABASES, prepare_home
from journeyman.files.removal import remove_tree
from journeyman.files.trash import TRASH, Trash
from journeyman.forges.github import GitHubForge
from journeyman.forges.local import LocalForge
from journeyman.gateway.door.door import Door
from journeyman.gateway.gateway import Gateway
from journeyman.gateway.ledger import Ledger
from journeyman.gateway.prices import Prices
from journeyman.gateway.store import ModelCalls
from journeyman.git.bases import Bases
from journeyman.git.checkouts import Checkouts
from journeyman.git.mirrors import Mirrors
from journeyman.git.workspaces import Workspaces
from journeyman.migrations import upgrade
from journeyman.sandboxes.base import SandboxProvider
from journeyman.sandboxes.homes import Homes
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.steps.order_environment import EnvironmentParts
from journeyman.steps.order_sandboxes import limits_of
from journeyman.verification.replay import Replays
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.catalog import WorkflowCatalog

_CHECK_SECONDS = 5.0
"""What a start allows for reading through each SQLite file."""
_GRACEFUL_SECONDS = 2
_KEEP_ALIVE_SECONDS = 75
"""Longer than clients keep a connection for the next request: one that the server closes just when it is used
again answers nothing, and it is unknown whether the request took effect."""


@dataclass(frozen=True, kw_only=True)
class SharedParts:
    """What the API and a worker both need. Each has its own: a part is used on one event loop only."""

    settings: Settings
    store: Database
    orders: WorkOrders
    ledger: Ledger
    gateway: Gateway
    github: GitHubForge
    local: LocalForge
    repositories: Repositories
    sandboxes: LocalSandboxes
    handover: Handover

    @property
    def small_model(self) -> SmallModel | None:
        return SmallModel(self.gateway, self.settings.small_model) if self.settings.small_model else None

    def open_workspaces(self) -> OpenWorkspaces:
        is_overlaid = self.settings.workspaces == "overlay"
        bases = Bases(self.settings.home / "bases") if is_overlaid else None
        on_disk = Workspaces(self.settings.home / "workspaces", bases=bases)
        return OpenWorkspaces(on_disk, self.repositories, self.sandboxes)

    @asynccontextmanager
    async def in_use(self, *background: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
        """Runs the background tasks until it is left, then closes everything."""
        tasks = [asyncio.create_task(one) for one in background]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.gateway.close()
            await self.sandboxes.close()
            await self.github.aclose()
            await self.store.close()


def _database(settings: Settings) -> Database:
    return Database(
        database.database_url(settings.database_url, settings.home),
        lease_seconds=settings.worker_lease_seconds,
    )


def _shared_parts(settings: Settings, store: Database, feed: Feed) -> SharedParts:
    orders = WorkOrders(store, feed, Redactor(settings.secrets()))
    ledger = Ledger(ModelCalls(store), settings, Prices(settings.model_prices))
    github, local = GitHubForge(settings), LocalForge(store, settings.server_url)
    return SharedParts(
        settings=settings,
        store=store,
        orders=orders,
        ledger=ledger,
        gateway=Gateway(settings, ledger),
        github=github,
        local=local,
        repositories=Repositories(
            settings=settings,
            mirrors=Mirrors(settings.home / "mirrors"),
            forges={"github": github, "local": local},
        ),
        sandboxes=LocalSandboxes(settings),
        handover=Handover(Claims(store, orders), worker_id_of(settings.home), is_shared=not store.is_sqlite),
    )


@dataclass(frozen=True)
class ApiParts:
    """What answers requests. It performs no step; a worker in this process is reached by its handle only."""

    shared: SharedParts
    feed: Feed
    teardown: Teardown
    mirror_of: MirrorOf
    refresh: BranchRefresh

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[None]:
        async with self.shared.in_use(self.shared.store.keep_tidy()):
            try:
                yield
            finally:
                await self.refresh.close()

    def services(self, worker: WorkerHandle | None) -> Services:
        """What the handlers are given; `worker` is the one of this process, if it has one."""
        shared, settings = self.shared, self.shared.settings
        control = OrderControl(shared.orders, shared.handover.claims, self.teardown, self.mirror_of, worker)
        return Services(
            settings=settings,
            orders=shared.orders,
            feed=self.feed,
            forges=Forges(shared.repositories.forges, shared.local),
            branches=Branches(self.mirror_of, self.refresh.request),
            host=Host(shared.sandboxes, self._readiness),
            agents=_agents(settings, shared.gateway, Door(settings, shared.ledger)),
            models=Models(shared.gateway, shared.small_model),
            workflows=WorkflowCatalog(settings.home / "workflows"),
            control=control,
        )

    async def _readiness(self) -> Mapping[str, bool]:
        return {"database": await self.shared.store.answers(), "disk": self.shared.sandboxes.has_room}


def build_api(settings: Settings) -> ApiParts:
    store = _database(settings)
    feed = Feed(store)
    shared = _shared_parts(settings, store, feed)
    mirror_of = partial(current_mirror, shared.repositories, shared.handover)
    return ApiParts(
        shared,
        feed,
        Teardown(settings, shared.orders, shared.open_workspaces(), shared.sandboxes, shared.handover),
        mirror_of,
        BranchRefresh(shared.orders, shared.repositories, mirror_of),
    )


@dataclass(frozen=True)
class WorkerParts:
    """What carries out orders."""

    shared: SharedParts
    door: Door
    resources: WorkerResources


def build_worker(settings: Settings, feed: Feed | None = None) -> WorkerParts:
    """The parts of a worker; `feed` is that of the API in this process, whose readers it notifies."""
    store = _database(settings)
    shared = _shared_parts(settings, store, feed or Feed(store))
    door = Door(settings, shared.ledger)
    agents = _agents(settings, shared.gateway, door)
    resources = WorkerResources(
        settings=settings,
        orders=shared.orders,
        workspaces=shared.open_workspaces(),
        sandboxes=shared.sandboxes,
        agents=AgentCatalog(agents, Homes(settings.home / "sessions"), shared.small_model),
        handover=shared.handover,
        environments=environments_of(settings, shared.sandboxes),
    )
    return WorkerParts(shared, door, resources)


def environments_of(settings: Settings, sandboxes: SandboxProvider) -> EnvironmentParts:
    egress = EgressProxy(settings)
    setup = EnvironmentSetup(
        settings,
        sandboxes,
        Layers(settings.home / "layers", max_mb=settings.layers_max_mb),
        RegistryEgress(egress, Registries()),
        limits_of(settings),
        Tools(settings.search_path, Path.home()),
    )
    return EnvironmentParts(setup=setup, egress=egress)


@asynccontextmanager
async def working(parts: WorkerParts) -> AsyncIterator[WorkerHandle]:
    """A worker on the running loop, and the handle by which other loops reach it."""
    shared, settings = parts.shared, parts.shared.settings
    url = database.database_url(settings.database_url, settings.home)
    worker = Worker(parts.resources, database_url=url, home=settings.home)
    models = filter(None, (settings.model, settings.small_model))
    async with (
        shared.in_use(
            shared.sandboxes.monitor_disk(),
            parts.resources.environments.setup.delete_discarded(),
            *(shared.gateway.prepare(model) for model in models),
        ),
        shared.store.only_worker(parts.resources.worker_id),
        parts.resources.environments.egress,
    ):
        await parts.door.open()
        try:
            await worker.start()
            try:
                yield WorkerHandle(worker)
            finally:
                await worker.stop()
        finally:
            await parts.door.close()


def _agents(settings: Settings, gateway: Gateway, door: Door) -> dict[str, Agent]:
    packages = NpmPackages(settings)
    known: list[Agent] = [
        BuiltinAgent(gateway, settings),
        ClaudeCode(door, packages),
        OpenCode(door, packages),
        Codex(door, packages),
        Gemini(door, packages),
    ]
    agents = {agent.name: agent for agent in known}
    for name, command in settings.acp_agents.items():
        # A third of the server's start, for the few who name such an agent.
        from journeyman.agents.acp import AcpAgent

        if name in agents or not shlex.split(command):
            raise InvalidSetting(
                f"JOURNEYMAN_ACP_AGENTS cannot name an agent {name!r} with the command {command!r}",
                hint=f"Give a command, and a name other than {', '.join(agents)}.",
            )
        agents[name] = AcpAgent(name, shlex.split(command), door, settings)
    return agents


def sandboxes_of(settings: Settings) -> SandboxProvider:
    """As a worker would use them."""
    return LocalSandboxes(settings)


@asynccontextmanager
async def replaying(settings: Settings) -> AsyncIterator[tuple[Replays, Mirrors]]:
    """What carries out checks again, in a home of its own: a server of this one never gets in its way."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="replay-", dir=settings.home))
    own = settings.model_copy(update={"home": home})
    _configure(own)
    sandboxes = LocalSandboxes(own)
    environments = environments_of(own, sandboxes)
    replays = Replays(
        sandboxes=sandboxes,
        setup=environments.setup,
        checkouts=Checkouts(home / "checkouts", discard=Trash(home / TRASH).put),
        limits=limits_of(own),
        timeout=own.verification_timeout_seconds,
    )
    try:
        async with environments.egress:
            yield replays, Mirrors(home / "mirrors")
    finally:
        await sandboxes.close()
        await asyncio.to_thread(remove_tree, home)


def agents_of(settings: Settings) -> Mapping[str, Agent]:
    """To be asked what they need; nothing is opened for that."""
    ledger = Ledger(ModelCalls(_database(settings)), settings, Prices(settings.model_prices))
    return _agents(settings, Gateway(settings, ledger), Door(settings, ledger))


def migrate(settings: Settings) -> None:
    """Make the home ready and bring the database up to date.

    Raises what keeps a server from starting: a home that is not ours, a database that is damaged, too new or
    away.
    """
    prepare_home(settings.home, has_databases=settings.is_sqlite)
    _configure(settings)
    if settings.is_sqlite:
        for name in DATABASES:
            _check_database(settings.home / name)
    upgrade.upgrade_tables(database.database_url(settings.database_url, settings.home))


def _check_database(path: Path) -> None:
    was_used = path.name == DATABASES[0] and path.with_name("worker-id").exists()
    if not check_database(path, seconds=_CHECK_SECONDS, was_used=was_used):
        telemetry.logger().warning(
            "database_not_checked_to_its_end", path=str(path), hint="`jm doctor` does so, in its own time."
        )


def serve(settings: Settings, *, worker: bool = True, on_ready: Callable[[str], None] | None = None) -> None:
    """Run API and worker in this process until it gets a signal to stop."""
    _check_host(settings.host)
    prepare_home(settings.home, has_databases=settings.is_sqlite)
    with _only_server(settings.home), _listening(settings) as listener:
        port = listener.getsockname()[1]
        settings = settings.model_copy(update={"port": port, "url": f"http://{settings.host}:{port}"})
        settings = _with_evidence_key(settings)
        migrate(settings)
        asyncio.run(_serve(settings, listener, worker, on_ready))


def work(settings: Settings, *, on_ready: Callable[[str], None] | None = None) -> None:
    """Carry out orders of a shared database in this process until it gets a signal to stop."""
    if settings.is_sqlite:
        raise InvalidSetting(
            "a worker of its own needs a database that it can share",
            hint="Set DATABASE_URL to a PostgreSQL database; with SQLite `jm serve` does the work itself.",
        )
    prepare_home(settings.home, has_databases=settings.is_sqlite)
    with _only_server(settings.home):
        settings = _with_evidence_key(settings)
        migrate(settings)
        asyncio.run(_work(settings, on_ready))


async def _work(settings: Settings, on_ready: Callable[[str], None] | None) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with working(build_worker(settings)) as worker:
        _spare_the_collector()
        if on_ready:
            on_ready(worker.worker_id)
        await stopped.wait()


async def _serve(
    settings: Settings, listener: socket.socket, worker: bool, on_ready: Callable[[str], None] | None
) -> None:
    api = build_api(settings)
    async with AsyncExitStack() as stack:
        worker_handle = None
        if worker:
            worker_handle = await stack.enter_async_context(working(build_worker(settings, api.feed)))
        config = uvicorn.Config(
            create_app(api.services(worker_handle)),
            loop="asyncio",  # spawning a process from uvloop costs five times as much
            http="httptools",
            log_config=None,
            access_log=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACEFUL_SECONDS,
        )
        server = _Server(config, api, lambda: on_ready and on_ready(settings.server_url))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, server.handle_exit, number, None)
        await asyncio.to_thread(asyncio.run, server.serve(sockets=[listener]))


def _with_evidence_key(settings: Settings) -> Settings:
    """The settings with the home's key, so that it is redacted like every other secret."""
    if settings.evidence_key is not None:
        evidence_key(settings)  # refused now rather than by the first order
        return settings
    return settings.model_copy(update={"evidence_key": SecretStr(stored_key(settings.home))})


def _configure(settings: Settings) -> None:
    redact = Redactor(settings.secrets()).redact
    telemetry.configure_logging(home=settings.home, log_format=settings.log_format, redact=redact)
    failpoints.arm(settings.failpoints)


def _spare_the_collector() -> None:
    """What is loaded by now stays: looking through it for garbage would stop everything for 0.1 s."""
    gc.freeze()
    gc.set_threshold(2_000, 20, 200)


class _Server(uvicorn.Server):
    """Says when it answers, and ends the event streams first: else stopping would wait for every reader."""

    def __init__(self, config: uvicorn.Config, api: ApiParts, on_started: Callable[[], object]) -> None:
        super().__init__(config)
        self._api = api
        self._on_started = on_started

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        async with self._api.in_use():
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _spare_the_collector()
        self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._api.feed.close()
        super().handle_exit(sig, frame)


def _check_host(host: str) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise InvalidSetting(
            f"{host} is not a loopback address, and there is no sign-in yet to keep strangers out",
            hint="Listen on 127.0.0.1; reach it from elsewhere by SSH or a proxy that asks who is there.",
        )


@contextmanager
def _only_server(home: Path) -> Iterator[None]:
    with (home / "server.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Conflict(
                f"a server or worker (process {lock.read().strip() or 'unknown'}) already runs on {home}",
                hint="Use that one, stop it first, or choose another JOURNEYMAN_HOME.",
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        try:
            yield
        finally:
            Workspaces(home / "workspaces").unmount()


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        # The protocol is named because asyncio turns delays off only for sockets that say they are TCP.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise Conflict(
                f"cannot listen on {settings.host}:{settings.port}: {error.strerror}",
                hint="Stop what uses the port, or choose another with --port or JOURNEYMAN_PORT.",
            ) from None
        yield listener
