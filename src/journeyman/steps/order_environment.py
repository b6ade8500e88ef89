"""The environment of one order: what its commits need, installed before any agent works.

What is installed, and what its network may reach, is decided by the base commit and the server alone: an
agent cannot widen its own rights. A commit of the order that changes lock files or manifests gets a layer of
its own, made by the base's commands from the commit's files and shown to no other order. So do orders whose
base branch is one that agents wrote: they share a layer with each other alone.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

from journeyman.environments.egress.proxy import EgressProxy, EgressSession
from journeyman.environments.egress.rules import Denial, EgressRules
from journeyman.environments.plan import Environment
from journeyman.environments.plans import EnvironmentPlans, Planned
from journeyman.environments.setup import EnvironmentSetup, ReadyEnvironment
from journeyman.events.types import EnvironmentReady, EnvironmentSetupFailed, Event, NetworkDenied
from journeyman.git.mirror import Mirror
from journeyman.sandboxes.base import Sandbox
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.repository_record import definition_in_force
from journeyman.work_orders.store import OrderFilter, WorkOrders

_MOST_ANNOUNCED = 10_000


class StepNetwork:
    """The way out of a sandbox after the set-up, and the step that uses it now."""

    def __init__(self, session: EgressSession, step: str) -> None:
        self.session = session
        self.step = step

    def use(self, step: str, hosts: tuple[str, ...]) -> None:
        """Let another step use it, with what people allowed meanwhile."""
        if step != self.step:
            self.step = step
            self.session.report_anew()
        for host in hosts:
            self.session.allow(host)


@dataclass(frozen=True, kw_only=True)
class EnvironmentParts:
    """What a worker has to make environments with, for all its orders."""

    setup: EnvironmentSetup
    egress: EgressProxy
    plans: EnvironmentPlans = field(default_factory=EnvironmentPlans)
    announced: set[tuple[str, str]] = field(default_factory=set)
    """Orders and layers whose end of the set-up is an event already: every sandbox asks again."""
    equipped: WeakKeyDictionary[Sandbox, "StepNetwork | None"] = field(default_factory=WeakKeyDictionary)
    """Sandboxes that have their services, and their way out if anything may be reached."""
    written_by_agents: dict[OrderFilter, bool] = field(default_factory=dict)
    """Branches that orders began from, and whether they are another order's."""
    emitting: set[asyncio.Future[None]] = field(default_factory=set)
    """Events on their way; nothing else holds these tasks."""


@dataclass(frozen=True, kw_only=True)
class OrderEnvironment:
    orders: WorkOrders
    order: WorkOrder
    mirror: Mirror
    parts: EnvironmentParts

    @property
    def order_id(self) -> str:
        return self.order.agent_work_order_id

    @property
    def base(self) -> str:
        assert self.order.base_commit_sha is not None, "the order is prepared first"
        return self.order.base_commit_sha

    async def planned(self) -> Planned:
        """What the server, or the base commit, says that the order needs."""
        record = await self.orders.repositories.find(self.order.repository_url)
        return await self.parts.plans.at(self.mirror, self.base, definition_in_force(self.order, record))

    async def detected(self, commit_sha: str) -> Planned:
        """What a commit of the order looks like; definitions in it count for nothing."""
        return await self.parts.plans.detected(self.mirror, commit_sha)

    async def ready(self, commit_sha: str | None = None) -> ReadyEnvironment:
        """The environment of the base commit, or of one of the order's own, installed.

        Safe to repeat because what is installed is used.
        """
        planned, commit = await self.planned(), commit_sha or self.base
        environment, project = planned.environment, await self.parts.plans.project(self.mirror, commit)
        is_changed = any(
            project.blobs.get(path) != planned.project.blobs.get(path) for path in environment.key_files
        )
        return await self.parts.setup.prepare(
            self.mirror,
            commit if is_changed else self.base,
            environment,
            project if is_changed else planned.project,
            owner_id=self.order_id,
            repository_url=self.order.repository_url,
            private_to=self.order_id if is_changed else await self._agents_branch(),
            hosts=await self._granted(),
            emit=self._emit,
        )

    async def hosts(self, environment: Environment) -> tuple[str, ...]:
        """What agents and checks may reach: by the definition, and by what people allowed."""
        listed = () if environment.agent_network == "none" else environment.agent_network
        return tuple(sorted({*listed, *await self._granted()}))

    async def open_network(
        self, hosts: tuple[str, ...], *, step: str, phase: Literal["agent", "proof"]
    ) -> StepNetwork:
        """A way out for a sandbox after the set-up."""

        def on_denied(denial: Denial) -> None:
            denied = NetworkDenied(
                host=denial.host,
                port=denial.port,
                phase=phase,
                step=network.step,
                command=denial.command,
                reason=denial.reason,
                may_be_allowed=denial.may_be_allowed,
            )
            emitting = asyncio.ensure_future(self.orders.emit(self.order_id, denied))
            self.parts.emitting.add(emitting)
            emitting.add_done_callback(self.parts.emitting.discard)

        network = StepNetwork(await self.parts.egress.open(EgressRules(hosts=hosts), on_denied), step)
        return network

    async def _agents_branch(self) -> str | None:
        """The base branch where another order's agents wrote it: no order of any other branch shares its
        layer, because install commands run files of which the layer's key knows nothing."""
        branch, known = self.order.base_branch, self.parts.written_by_agents
        written = OrderFilter(repository_url=self.order.repository_url, git_branch_name=branch)
        if written not in known:  # no order can take a branch that was there before it
            if len(known) >= _MOST_ANNOUNCED:
                known.clear()
            found, _ = await self.orders.find(written, limit=1)
            known[written] = bool(found)
        return f"branch {branch}" if known[written] else None

    async def _granted(self) -> tuple[str, ...]:
        return tuple(grant.host for grant in await self.orders.grants.of_order(self.order))

    async def _emit(self, event: Event) -> None:
        if isinstance(event, EnvironmentReady | EnvironmentSetupFailed):
            ended = self.order_id, f"{event.type} {event.layer}"
            if ended in self.parts.announced:
                return
            if len(self.parts.announced) >= _MOST_ANNOUNCED:
                self.parts.announced.clear()
            self.parts.announced.add(ended)
        await self.orders.emit(self.order_id, event)
