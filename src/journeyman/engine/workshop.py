"""What a worker has: the places and tools from which a bench is laid for each step.

Everything here can be rebuilt from the order, the mirror and its snapshots; losing the process loses
nothing but time.
"""

import asyncio
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from journeyman import telemetry
from journeyman.agents.base import About, Agent
from journeyman.agents.roles import clashing_task, follow_up_task, rework_task
from journeyman.agents.small_model import SmallModel
from journeyman.engine.commands import Calls, expansion, tell_commands
from journeyman.engine.naming import ask_for_names, naming
from journeyman.engine.store import Bundle, Claims
from journeyman.engine.store_retries import NO_ROOM
from journeyman.errors import Conflict, JourneymanError, NotFound, StoreUnavailable, Superseded
from journeyman.events.types import (
    FileLeftOut,
    GitBranchCreated,
    GitCommitCreated,
    GitFilesLeftOut,
    GitSnapshotCreated,
    SandboxCleanupFailed,
    SandboxCreated,
)
from journeyman.failpoints import failpoint
from journeyman.forges.base import Forge, Person
from journeyman.git.begin import begin_branch, set_back
from journeyman.git.bundles import pack, unpack
from journeyman.git.commits import JOURNEYMAN, Message
from journeyman.git.mirrors import FreshMirror, Mirror, Mirrors
from journeyman.git.run import host_author
from journeyman.git.trees import LeftOut
from journeyman.git.workspace import Workspace
from journeyman.git.workspaces import Workspaces
from journeyman.knowledge.command_cache import CommandCache
from journeyman.sandboxes.base import Limits, Sandbox, SandboxProvider, SandboxSpec
from journeyman.sandboxes.homes import Homes
from journeyman.settings import Settings
from journeyman.steps.context import StepContext
from journeyman.work_orders.lifecycle import outdated
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.repositories import Repository, parse_repository
from journeyman.work_orders.store import Decision, WorkOrders
from journeyman.workflows.progress import Done, context_of
from journeyman.workflows.schema import StepSpec

_SET_ASIDE_BYTES = 60_000
_END_LEFTOVERS_SECONDS = 5.0
_MOST_NAMED = 10
_KEPT_BYTES = 32 * 1024 * 1024
"""What is kept of the uncommitted files of an order that is over its quota, the smallest first."""
_MOST_LEFT_OUT = 50


@dataclass(frozen=True, kw_only=True, repr=False)  # the engine's log would hold all of it
class Workshop:
    settings: Settings
    orders: WorkOrders
    mirrors: Mirrors
    workspaces: Workspaces
    sandboxes: SandboxProvider
    forges: Mapping[str, Forge]
    agents: Mapping[str, Agent]
    homes: Homes
    claims: Claims
    worker_id: str
    """Who works here; names this home among all that share the database."""
    small_model: SmallModel | None = None
    """Names orders; without one their names are made from their tasks."""
    is_shared: bool = False
    """Whether workers on other machines may go on with what was begun here."""
    commands: CommandCache = field(default_factory=CommandCache)
    _open: dict[str, Workspace] = field(default_factory=dict)
    """The workspaces of orders whose rounds run here."""
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    _openings: weakref.WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=weakref.WeakValueDictionary
    )
    _authors: dict[str, Person] = field(default_factory=dict)
    """Who commits are made for, by forge: asked once."""

    def repository(self, order: WorkOrder) -> Repository:
        return parse_repository(
            order.repository_url,
            github_url=self.settings.github_url,
            allow_local=True,
            must_exist=False,
        )

    def for_attempt(self, round: int, attempt: int) -> "Workshop":
        """The workshop of one attempt at a round: nothing that it writes counts once another has begun."""
        return replace(self, orders=self.orders.held_by(f"{self.worker_id}/{round}/{attempt}"))

    async def prepare(self, order: WorkOrder) -> tuple[FreshMirror, Workspace]:
        """Bring the mirror up to date, make the branch and its workspace.

        Safe to repeat because each of them is taken as it is found.
        """
        repository = self.repository(order)
        forge = self.forges[repository.forge]
        mirror = await self.mirrors.refresh(repository, await forge.remote(repository))
        if order.base_commit_sha is None:
            base_branch = order.base_branch or mirror.default_branch()
            base = mirror.resolve(base_branch)
            await mirror.check_checkout(
                base,
                max_files=self.settings.repository_max_files,
                max_bytes=self.settings.repository_max_bytes,
            )
            order = await self._begin_at(order, mirror, base_branch, base)
        if self.is_shared and (work := await self._work_of_another(order)) is not None:
            self._open.pop(order.agent_work_order_id, None)
            await self.workspaces.remove(order.agent_work_order_id)
            await unpack(mirror, work.refs, work.content)
        await tell_commands(self.commands, self.orders, order, mirror)
        if order.start_commit_sha is not None:
            await self._start_from(order, mirror, await self._author(forge))
        return mirror, await self._open_workspace(order, repository)

    async def _begin_at(self, order: WorkOrder, mirror: Mirror, base_branch: str, base: str) -> WorkOrder:
        """Write down where the branch begins and what it is called, in one go."""
        task, _ = await expansion(self.commands, mirror, base, order.initial_prompt)
        names = await ask_for_names(self.small_model, self.orders, order, task)

        def begin(now: WorkOrder) -> Decision:
            named, changes = naming(order, names, now)
            branch = changes.get("git_branch_name", now.git_branch_name)
            created = GitBranchCreated(git_branch_name=branch, base_branch=base_branch, base_commit_sha=base)
            return [*named, created], {**changes, "base_branch": base_branch, "base_commit_sha": base}

        return await self.orders.change_as_it_is(order.agent_work_order_id, begin)

    async def _start_from(self, order: WorkOrder, mirror: Mirror, author: Person) -> None:
        """Let the branch begin, or go on, with what it held at an earlier commit.

        Safe to repeat because a branch that has begun or was set back already is left as it is.
        """
        assert order.start_commit_sha is not None
        assert order.base_commit_sha is not None
        order_id, branch, start = order.agent_work_order_id, order.git_branch_name, order.start_commit_sha
        head = await mirror.branch_head(branch)
        if head is None and order.forked_from is not None:
            if self.is_shared and (work := await self.claims.bundle(order.forked_from)) is not None:
                await unpack(mirror, work.refs, work.content)
            await begin_branch(mirror, order_id, branch, base=order.base_commit_sha, start=start)
        elif head is not None and head == order.redo_after_sha != start:
            self._open.pop(order_id, None)
            await self.workspaces.remove(order_id)
            message = Message(
                subject=f"Set back to {start[:10]}",
                body="What came after it is done again.",
                order_id=order_id,
                phase="implementing",
                step="prepare",
                round=order.round,
            )
            commit_sha = await set_back(mirror, branch, head, start, message, author)
            counts = (await mirror.progress(order_id, branch, order.base_commit_sha)).counts
            told = GitCommitCreated(
                commit_sha=commit_sha, message=message.subject, phase="implementing", step="prepare", **counts
            )
            await self.orders.change(order_id, told, **counts, verification=outdated(order.verification))

    async def mirror_of(self, order: WorkOrder) -> Mirror:
        """The mirror with what the order holds by now, wherever its worker is."""
        repository = self.repository(order)
        mirror = self.mirrors.at(repository)
        if self.is_shared and (work := await self._work_of_another(order)) is not None:
            if not mirror.path.exists():
                mirror = await self.mirrors.refresh(
                    repository, await self.forges[repository.forge].remote(repository)
                )
            await unpack(mirror, work.refs, work.content)
        return mirror

    async def keep(self, order_id: str, workspace: Workspace) -> None:
        """Put the order's work where another machine finds it, in case this one never comes back."""
        if self.is_shared and (packed := await pack(workspace)) is not None:
            await self.claims.save_bundle(self.orders, order_id, Bundle(self.worker_id, *packed))

    async def _work_of_another(self, order: WorkOrder) -> Bundle | None:
        order_id = order.agent_work_order_id
        if not await self.claims.has_bundle_of_another(order_id, self.worker_id):
            return None
        return await self.claims.bundle(order_id)

    async def head(self, order: WorkOrder) -> str:
        """The commit that the order's branch is at."""
        return await (await self._open_workspace(order, self.repository(order))).head()

    async def step_context(
        self,
        order: WorkOrder,
        spec: StepSpec,
        done: Mapping[str, Done],
        time_limit: asyncio.Timeout,
        save_output: Callable[[BaseModel], Awaitable[None]],
    ) -> StepContext:
        repository = self.repository(order)
        forge = self.forges[repository.forge]
        workspace = await self._open_workspace(order, repository)

        async def open_sandbox(writable: bool) -> Sandbox:
            return await self._open_sandbox(workspace, order, writable=writable)

        def clean_sandbox(commit_sha: str) -> AbstractAsyncContextManager[Sandbox]:
            return self._clean_sandbox(workspace, commit_sha)

        calls = Calls(self.commands, self.orders, order, spec, workspace.mirror)
        order = await calls.expanded_order()
        context = context_of(done, order_context(order))
        task = await calls.expanded_prompt(context) if spec.prompt else _task_of(order)
        if order.attempt > 1 and spec.kind in ("plan", "build"):
            decided = await self.orders.approvals(order.agent_work_order_id)
            asked = [one.comment for one in decided if (one.round, one.decision) == (order.round, "rework")]
            task = rework_task(task, asked) if asked else task
        task = await self._with_set_aside(task, order, workspace)
        return StepContext(
            order=order,
            round=order.round,
            spec=spec,
            task=task,
            variables=context,
            done=done,
            settings=self.settings,
            orders=self.orders,
            repository=repository,
            workspace=workspace,
            forge=forge,
            agent=self._agent(spec.agent or order.agent),
            author=await self._author(forge),
            open_sandbox=open_sandbox,
            clean_sandbox=clean_sandbox,
            workspace_lock=self._locks.setdefault(order.agent_work_order_id, asyncio.Lock()),
            time_limit=time_limit,
            save_output=save_output,
            keep=lambda: self.keep(order.agent_work_order_id, workspace),
        )

    async def tear_down(
        self,
        order: WorkOrder,
        *,
        keep_workspace: bool = False,
        is_held: bool = True,
        within: float | None = None,
    ) -> bool:
        """End the order's sandboxes and remove its workspace; branch and snapshots stay in the mirror.

        Safe to repeat because what is gone stays gone. What was not committed is snapshotted first; where
        that cannot be done, or not in so many seconds, the workspace stays, the order says so, and the answer
        is False. The workspace of an order that is over its quota always goes, with as much kept as fits.
        """
        failpoint("teardown_started")
        over_quota = await self._is_over_quota(order)
        await self.sandboxes.cleanup(order.agent_work_order_id)
        share = is_held or await self._has_newest(order)
        salvaged = await self._salvage(order, share=share, within=within, over_quota=over_quota)
        if salvaged and (over_quota or not keep_workspace):
            await self.workspaces.remove(order.agent_work_order_id)
        self._open.pop(order.agent_work_order_id, None)
        self._locks.pop(order.agent_work_order_id, None)
        failpoint("teardown_ended")
        return salvaged

    async def clear_away(self, seen: WorkOrder) -> bool:
        """As `set_down`, for an order that nobody holds: what lies here may be older than others' work.

        Raises Conflict when the order has gone on since it was seen; one that goes on now waits for the end
        of this before it opens its workspace again.
        """
        async with self._opening(seen.agent_work_order_id):
            order = await self.orders.get(seen.agent_work_order_id)
            if not order.is_at_rest or order.round != seen.round:
                raise Conflict("the order has gone on meanwhile")
            over_quota = await self._is_over_quota(order)
            await self.sandboxes.cleanup(order.agent_work_order_id)
            if not await self._salvage(order, share=False, over_quota=over_quota):
                return False
            await self.workspaces.remove(order.agent_work_order_id)
            self._open.pop(order.agent_work_order_id, None)
        return True

    async def _has_newest(self, order: WorkOrder) -> bool:
        """Whether no other worker has worked on the order since its files here were written."""
        return not await self.claims.has_bundle_of_another(order.agent_work_order_id, self.worker_id)

    async def _is_over_quota(self, order: WorkOrder) -> bool:
        order_id = order.agent_work_order_id
        return await self.sandboxes.is_over_quota(order_id, self.workspaces.tree_of(order_id), self._limits)

    async def _salvage(
        self, order: WorkOrder, *, share: bool, within: float | None = None, over_quota: bool = False
    ) -> bool:
        if order.base_commit_sha is None or not self.workspaces.exists(order.agent_work_order_id):
            return True
        try:
            workspace = await self._opened_workspace(order, self.repository(order))
            if over_quota:
                left_out: list[LeftOut] = []
                snapshot = await workspace.snapshot(room=_KEPT_BYTES, on_left_out=left_out.extend)
                await self._tell_left_out(order, left_out)
            else:
                snapshot = await workspace.snapshot(within=within)
            if snapshot is not None:
                if share:
                    await self.keep(order.agent_work_order_id, workspace)
                taken = GitSnapshotCreated(ref=snapshot.ref, commit_sha=snapshot.commit_sha)
                newest = {"snapshot_ref": snapshot.ref} if share or await self._has_newest(order) else {}
                await self.orders.change(order.agent_work_order_id, taken, **newest)
        except (Superseded, StoreUnavailable):
            raise
        except (JourneymanError, OSError) as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise  # it is waited out
            kept = SandboxCleanupFailed(
                error_message=f"what was not committed could not be kept, so the workspace stays: {error}",
                hint="The server's log may tell more; the workspace is removed as soon as that works.",
            )
            await self.orders.emit(order.agent_work_order_id, kept)
            return False
        return True

    async def _tell_left_out(self, order: WorkOrder, left_out: Sequence[LeftOut]) -> None:
        largest = sorted(left_out, key=lambda one: one.size, reverse=True)[:_MOST_LEFT_OUT]
        files = [FileLeftOut(path=one.shown_path, size=one.size, reason=one.reason) for one in largest]
        if files:
            told = GitFilesLeftOut(step="snapshot", count=len(left_out), files=files)
            await self.orders.emit(order.agent_work_order_id, told)

    async def detach(self, order_id: str) -> None:
        """End what runs here of an order that somebody else has; its files are left as they are."""
        await self.sandboxes.cleanup(order_id)
        self._open.pop(order_id, None)
        self._locks.pop(order_id, None)

    async def end_leftovers(self) -> None:
        """End processes and control groups that a killed server left of orders that have ended.

        Whatever resists is named, and keeps nobody from starting.
        """
        live = {order.agent_work_order_id for order in await self.orders.unfinished()}
        try:
            async with asyncio.timeout(_END_LEFTOVERS_SECONDS):
                await self.sandboxes.sweep(live)
        except (JourneymanError, OSError, TimeoutError) as error:
            telemetry.logger().warning("sandboxes_not_swept", error=str(error) or "it took too long")

    async def sweep(self) -> None:
        """Remove the workspaces that orders which have ended left on this machine.

        Done beside the work: each may hold anything an agent could think of, and take as long.
        """
        self.workspaces.discard_leftovers()
        strays: list[str] = []
        for order_id in self.workspaces.found():
            await asyncio.sleep(0)  # a statement on SQLite lets nobody else in between
            try:
                order = await self.orders.get(order_id)
                if order.is_finished:
                    await self.clear_away(order)
            except NotFound:
                strays.append(order_id)
            except (JourneymanError, OSError) as error:
                telemetry.logger().warning("workspace_kept", agent_work_order_id=order_id, error=str(error))
        if strays:
            # Of another database, perhaps: nobody here can say whether their work is needed.
            telemetry.logger().warning(
                "workspaces_of_nobody_kept", count=len(strays), agent_work_order_ids=strays[:_MOST_NAMED]
            )

    async def _with_set_aside(self, task: str, order: WorkOrder, workspace: Workspace) -> str:
        """The task, with the order's own changes where those clashed with what people pushed."""
        if order.set_aside_commit_sha is None:
            return task
        head = await workspace.head()
        base = await workspace.mirror.merge_base(order.set_aside_commit_sha, head) or head
        diff = await workspace.mirror.diff(base, order.set_aside_commit_sha, limit=_SET_ASIDE_BYTES)
        return clashing_task(task, diff)

    def _agent(self, name: str) -> Agent:
        if name not in self.agents:
            raise NotFound(f"there is no agent {name!r}", hint="`jm agents` shows those that exist.")
        return self.agents[name]

    def _agents_of(self, order: WorkOrder) -> list[About]:
        """The agents of all steps: they share a jail, which shows what any of them needs."""
        named = (step.get("agent") for step in order.current_workflow["steps"])
        return [self._agent(name).about for name in {order.agent, *filter(None, named)}]

    async def _open_workspace(self, order: WorkOrder, repository: Repository) -> Workspace:
        async with self._opening(order.agent_work_order_id):
            return await self._opened_workspace(order, repository)

    def _opening(self, order_id: str) -> asyncio.Lock:
        """Held while the order's workspace is opened or cleared away."""
        return self._openings.setdefault(order_id, asyncio.Lock())

    async def _opened_workspace(self, order: WorkOrder, repository: Repository) -> Workspace:
        assert order.base_commit_sha is not None, "prepare() comes first"
        known = self._open.get(order.agent_work_order_id)
        if known is None or not known.ready.exists():
            if known is not None:  # what runs in it would go on in files that are thrown away
                await self.sandboxes.cleanup(order.agent_work_order_id)
            failpoint("workspace_started")
            known = await self.workspaces.open(
                self.mirrors.at(repository),
                order_id=order.agent_work_order_id,
                kind=order.sandbox_type,
                branch=order.git_branch_name,
                base_commit_sha=order.base_commit_sha,
            )
            failpoint("workspace_made")
            self._open[order.agent_work_order_id] = known
        return known

    async def _open_sandbox(self, workspace: Workspace, order: WorkOrder, *, writable: bool) -> Sandbox:
        settings, started = self.settings, time.monotonic()
        failpoint("sandbox_started")
        agents = self._agents_of(order)
        keeps_sessions = any(agent.keeps_sessions for agent in agents)
        sandbox = await self.sandboxes.setup(
            SandboxSpec(
                order_id=order.agent_work_order_id,
                tree=workspace.tree,
                git_directories=workspace.git_directories,
                writable=writable,
                network=settings.sandbox_network,
                shown=tuple(sorted({path for agent in agents for path in agent.shown})),
                hidden=tuple(sorted({name for agent in agents for name in agent.hidden})),
                home=self.homes.open(order.agent_work_order_id, writable=writable)
                if keeps_sessions
                else None,
                limits=self._limits,
            )
        )
        failpoint("sandbox_created")
        current = await self.orders.get(order.agent_work_order_id)
        if current.sandbox_identifier is None or (
            writable and current.sandbox_identifier != sandbox.identifier
        ):
            made = SandboxCreated(
                sandbox_identifier=sandbox.identifier,
                sandbox_type=order.sandbox_type,
                isolation=self.sandboxes.isolation,
                duration_seconds=round(time.monotonic() - started, 3),
            )
            await self.orders.change(order.agent_work_order_id, made, sandbox_identifier=sandbox.identifier)
        return sandbox

    @asynccontextmanager
    async def _clean_sandbox(self, workspace: Workspace, commit_sha: str) -> AsyncIterator[Sandbox]:
        """What an agent left running ends first: it could only disturb."""
        order_id = workspace.order_id
        await self.sandboxes.cleanup(order_id, only_writable=True)
        async with self.workspaces.checkouts.open(workspace.mirror, order_id, commit_sha) as checkout:
            sandbox = await self.sandboxes.setup(
                SandboxSpec(
                    order_id=order_id,
                    purpose="proof",
                    tree=checkout.tree,
                    git_directories=checkout.git_directories,
                    network=self.settings.sandbox_network,
                    limits=self._limits,
                )
            )
            try:
                yield sandbox
            finally:
                await sandbox.cleanup()

    @property
    def _limits(self) -> Limits:
        settings = self.settings
        return Limits(
            memory_mb=settings.sandbox_memory_mb,
            processes=settings.sandbox_processes,
            output_bytes=settings.sandbox_output_bytes,
            disk_mb=settings.sandbox_disk_mb,
            files=settings.sandbox_files,
        )

    async def _author(self, forge: Forge) -> Person:
        settings = self.settings
        if settings.git_author_name and settings.git_author_email:
            return Person(settings.git_author_name, settings.git_author_email)
        if forge.name not in self._authors:
            self._authors[forge.name] = await forge.author() or await host_author() or JOURNEYMAN
        return self._authors[forge.name]


def _task_of(order: WorkOrder) -> str:
    if order.round_prompt is None:
        return order.initial_prompt
    return follow_up_task(order.round_prompt, order.initial_prompt)


def order_context(order: WorkOrder) -> dict[str, Any]:
    """What templates and conditions may read of an order."""
    return {
        "agent_work_order_id": order.agent_work_order_id,
        "title": order.title,
        "initial_prompt": order.initial_prompt,
        "repository_url": order.repository_url,
        "git_branch_name": order.git_branch_name,
        "github_issue_number": order.github_issue_number or "",
        "round": order.round,
    }
