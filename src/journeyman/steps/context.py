"""What a step is given: the order, its workspace, and the people and tools to work with.

A step never sees the engine, a token or a database: everything it may do goes through its bench,
which writes every happening down as an event on the way.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from journeyman import telemetry
from journeyman.agents.base import (
    Agent,
    Assignment,
    Happening,
    ModelCalled,
    Noticed,
    Outcome,
    Role,
    Said,
    ToolFinished,
    ToolStarted,
)
from journeyman.agents.limits import OutputLimits
from journeyman.agents.plan import Plan
from journeyman.agents.roles import model_for
from journeyman.errors import AgentFailed, DiskQuotaExceeded, JourneymanError
from journeyman.events import log
from journeyman.events.types import (
    AgentNotice,
    AgentText,
    Event,
    FileLeftOut,
    GitCommitCreated,
    GitCommitStarted,
    GitFilesLeftOut,
    GitSnapshotCreated,
    ModelCallCompleted,
    Phase,
    ToolCallCompleted,
    ToolCallStarted,
)
from journeyman.failpoints import failpoint
from journeyman.forges.base import Forge, Person, Remote
from journeyman.gateway.accounts import Account
from journeyman.git.commits import CommitMessage
from journeyman.git.policy import CommitPolicy
from journeyman.git.trees import LeftOut
from journeyman.git.workspace import Workspace
from journeyman.sandboxes.base import Sandbox
from journeyman.settings import Settings
from journeyman.work_orders.lifecycle import outdated
from journeyman.work_orders.order import WorkOrder, title_of
from journeyman.work_orders.prompts import subject_of
from journeyman.work_orders.repositories import Repository
from journeyman.work_orders.store import Decision, WorkOrders
from journeyman.workflows.progress import Done
from journeyman.workflows.schema import StepSpec

_MOST_LEFT_OUT = 50
"""Files that are named; of any more only the number is told."""
_SNAPSHOT_EVERY_SECONDS = 25.0
"""Below the promise of at most 30 s of lost work, by the time that a snapshot takes."""
_CUT_OFF_SECONDS = 1.5
"""Time for the snapshot of a turn that is cut off: somebody waits for the answer, and the files stay."""


class StepBroken(JourneymanError):
    """A step did its work and the result is a failure; later steps may still read its output."""

    category = "verification"

    def __init__(self, message: str, output: BaseModel, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.output = output


class ChecksOutdated(JourneymanError):
    """People's commits came in after the checks: those have to run again before anything is pushed."""

    category = "conflict"


@dataclass(frozen=True, kw_only=True)
class StepContext:
    order: WorkOrder
    round: int
    spec: StepSpec
    task: str
    """What is wanted: the step's own prompt where its workflow gives one, else the order's."""
    variables: Mapping[str, Any]
    """What templates may read: the order and the outputs of earlier steps."""
    done: Mapping[str, Done]
    """The steps that ended before this one, by name."""
    settings: Settings
    orders: WorkOrders
    repository: Repository
    workspace: Workspace
    forge: Forge
    agent: Agent
    author: Person
    open_sandbox: Callable[[bool], Awaitable[Sandbox]]
    """Opens the order's sandbox; False gives the one whose workspace cannot be written."""
    clean_sandbox: Callable[[str], AbstractAsyncContextManager[Sandbox]]
    """A sandbox on a clean checkout of a commit, with nothing of the agents, who are stopped for it."""
    workspace_lock: asyncio.Lock
    """Held by whoever writes files: a step that writes takes it by `writing`."""
    time_limit: asyncio.Timeout
    """The step's own `timeout`."""
    attempt: int = 1
    """Counts how often the step was tried since it was begun."""
    saved_output: Mapping[str, Any] | None = None
    """What the step had saved of its result before it was cut off."""
    save_output: Callable[[BaseModel], Awaitable[None]]
    """Saves the step's result before its last effect, for a repeat that finds the effect done."""
    keep: Callable[[], Awaitable[None]]
    """Puts what is committed or snapshotted by now where another machine finds it."""

    @property
    def order_id(self) -> str:
        return self.order.agent_work_order_id

    @property
    def subject(self) -> str:
        """The task in one line: for a subtask, and its commit, where there is no plan."""
        is_follow_up = self.spec.prompt is None and self.order.round_prompt is not None
        return subject_of(self.order.round_prompt or "") if is_follow_up else title_of(self.task)

    @property
    def plan(self) -> Plan | None:
        """The newest plan that an earlier step of this round made."""
        made = [
            done.output for done in self.done.values() if done.kind == "plan" and done.status == "completed"
        ]
        return Plan.model_validate({name: made[-1][name] for name in Plan.model_fields}) if made else None

    @property
    def explored(self) -> list[str]:
        """What earlier steps of this round found out about the repository."""
        ended = [done for done in self.done.values() if done.kind == "explore"]
        return [done.output["summary"] for done in ended if done.status == "completed"]

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """This step's turn to write files: nobody else writes, and nobody else's leftovers are in the way.

        Waiting for the turn does not count towards the step's time limit.
        """
        self.time_limit.reschedule(None)
        async with self.workspace_lock:
            if self.spec.timeout is not None:
                self.time_limit.reschedule(asyncio.get_running_loop().time() + self.spec.timeout)
            await self._begin_turn()
            yield

    async def _begin_turn(self) -> None:
        """An agent goes on with what it wrote before it was cut off; others begin from the head."""
        me, order = f"{self.round}/{self.spec.name}", await self.orders.get(self.order_id)
        goes_on = order.last_writer == me and self.spec.kind in ("build", "verify")
        if order.last_writer is not None and not goes_on:
            await self._set_leftovers_aside()
        if order.last_writer != me:
            await self.orders.change(self.order_id, last_writer=me)

    async def _set_leftovers_aside(self) -> None:
        kept = await self.workspace.stash()
        if kept is not None:
            await self.keep()
            text = f"files that an earlier step left uncommitted were set aside in {kept.ref}"
            taken = GitSnapshotCreated(ref=kept.ref, commit_sha=kept.commit_sha)
            notice = AgentNotice(step=self.spec.name, text=text)
            await self.orders.change(self.order_id, taken, notice, snapshot_ref=kept.ref)

    async def emit(self, *events: Event) -> None:
        await self.orders.emit(self.order_id, *events)

    async def remote(self) -> Remote:
        """Where to push to; only for whoever still holds the order."""
        await self.orders.check_held(self.order_id)
        return await self.forge.remote(self.repository)

    async def agent_turn(
        self, role: Role, prompt: str, *, deliverable: type[BaseModel] | None = None
    ) -> Outcome:
        """Let the agent work once. What it wrote is snapshotted while it works.

        The caller commits what a finished turn wrote; a turn that breaks off is snapshotted here.
        """
        sandbox = await self.open_sandbox(role.may_write)
        current = await self.orders.get(self.order_id)
        account = self._account(role)
        assignment = Assignment(
            role=role,
            prompt=prompt,
            model=account.model,
            session_id=self._session_of(current, role),
            deliverable=deliverable,
            account=account,
            max_turns=self.settings.agent_max_turns,
            timeout_seconds=self.settings.agent_timeout_seconds,
            limits=await self._output_limits(),
        )
        async with self._snapshots(role.may_write):
            failpoint("agent_started")
            outcome = await self.agent.work(assignment, sandbox, self._tell)
            failpoint("agent_ended")
        session = f"{self.agent.name}:{outcome.session_id}" if outcome.session_id else None
        if session and session != getattr(current, _session_field(role)):
            await self.orders.change(self.order_id, **{_session_field(role): session})
        return outcome

    def _session_of(self, order: WorkOrder, role: Role) -> str | None:
        """The session to go on with; one that another agent made says nothing to this one."""
        agent, _, session_id = (getattr(order, _session_field(role)) or "").partition(":")
        return session_id if agent == self.agent.name else None

    async def _output_limits(self) -> OutputLimits:
        said = await self.orders.said_bytes(self.order_id)
        return OutputLimits(
            self.settings.agent_line_bytes,
            self.settings.agent_turn_bytes,
            self.settings.agent_order_bytes - said,
        )

    def _account(self, role: Role) -> Account:
        return Account(
            order_id=self.order_id,
            round=self.round,
            step=self.spec.name,
            role=role.name,
            agent=self.agent.name,
            model=model_for(role.name, self.settings, self.spec, self.order.model),
        )

    async def commit(
        self,
        phase: Phase,
        subject: str,
        *,
        body: str = "",
        subtask: int | None = None,
        records: Mapping[str, bytes] | None = None,
    ) -> str | None:
        """Commit what changed, with what the platform itself has to record. None when nothing changed."""
        records = {
            f".journeyman/{self.order_id}/{name}": content for name, content in (records or {}).items()
        }
        in_tree = records if self.settings.records == "tree" else {}
        message = CommitMessage(
            subject=subject,
            body=body,
            order_id=self.order_id,
            phase=phase,
            step=self.spec.name,
            subtask=subtask,
            round=self.round,
        )
        await self.emit(GitCommitStarted(phase=phase, step=self.spec.name))
        left_out: list[LeftOut] = []
        commit_sha = await self.workspace.commit(
            message,
            author=self.author,
            records=in_tree,
            policy=CommitPolicy.of(self.settings),
            on_left_out=left_out.extend,
        )
        await self._tell_left_out(left_out)
        if records and not in_tree:
            await self.workspace.annotate(commit_sha or await self.workspace.head(), records)
        if commit_sha is None:
            return None
        await self.keep()
        progress = await self.workspace.mirror.progress(
            self.order_id, self.order.git_branch_name, self.workspace.base_commit_sha
        )
        counts = progress.counts
        created = GitCommitCreated(
            commit_sha=commit_sha, message=subject, phase=phase, step=self.spec.name, **counts
        )

        def decide(now: WorkOrder) -> Decision:
            verification = now.verification if records else outdated(now.verification)
            return [created], {**counts, "snapshot_ref": None, "verification": verification}

        await self.orders.change_as_it_is(self.order_id, decide)
        return commit_sha

    async def files_left_out(self) -> GitFilesLeftOut | None:
        """What the newest commit did not take in."""
        last = await log.last_of(self.orders.database, self.order_id, "git_files_left_out")
        return last.event if last is not None and isinstance(last.event, GitFilesLeftOut) else None

    async def _tell_left_out(self, left_out: Sequence[LeftOut]) -> None:
        files = [FileLeftOut(path=one.shown_path, size=one.size, reason=one.reason) for one in left_out]
        known = await self.files_left_out()
        told = GitFilesLeftOut(step=self.spec.name, count=len(files), files=files[:_MOST_LEFT_OUT])
        if (known.count, known.files) != (told.count, told.files) if known else files:
            await self.emit(told)

    @asynccontextmanager
    async def _snapshots(self, may_write: bool) -> AsyncIterator[None]:
        if not may_write:
            yield
            return
        ticking = asyncio.create_task(self._keep_taking_snapshots())
        try:
            yield
        except asyncio.CancelledError:
            await self._try_snapshot(within=_CUT_OFF_SECONDS)
            raise
        except DiskQuotaExceeded:
            raise  # too much for a snapshot of everything; what fits is kept when the order is set down
        except BaseException:
            await self._try_snapshot()
            raise
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    async def _keep_taking_snapshots(self) -> None:
        while True:
            await asyncio.sleep(_SNAPSHOT_EVERY_SECONDS)
            await self._try_snapshot()

    async def _try_snapshot(self, *, within: float | None = None) -> None:
        """A fault must neither end the snapshots to come nor hide why a turn broke off: the files stay."""
        try:
            await self._take_snapshot(within)
        except (JourneymanError, OSError) as error:
            telemetry.log_for_order(
                self.order_id, "git_snapshot_failed", level="warning", error_message=str(error)
            )

    async def _take_snapshot(self, within: float | None) -> None:
        snapshot = await self.workspace.snapshot(within=within)
        if snapshot is not None:
            await self.keep()
            taken = GitSnapshotCreated(ref=snapshot.ref, commit_sha=snapshot.commit_sha)
            await self.orders.change(self.order_id, taken, snapshot_ref=snapshot.ref)

    async def _tell(self, *happenings: Happening) -> None:
        events = [self._event(happening) for happening in happenings]
        used = [happening.usage for happening in happenings if isinstance(happening, ModelCalled)]
        for usage in used[1:]:
            await self.orders.add_usage(self.order_id, self.round, self.spec.name, usage)
        if used:
            await self.orders.add_usage(self.order_id, self.round, self.spec.name, used[0], *events)
        else:
            await self.emit(*events)
        for happening in happenings:
            if isinstance(happening, ToolStarted):
                failpoint("tool_call_started")
            elif isinstance(happening, ToolFinished):
                failpoint("tool_call_ended")

    def _event(self, happening: Happening) -> Event:
        step = self.spec.name
        match happening:
            case Said(text):
                return AgentText(step=step, text=text)
            case Noticed(text, wait_seconds):
                return AgentNotice(step=step, text=text, wait_seconds=wait_seconds)
            case ToolStarted(call_id, tool, arguments):
                return ToolCallStarted(step=step, call_id=call_id, tool=tool, arguments=arguments)
            case ToolFinished():
                return ToolCallCompleted(
                    step=step,
                    call_id=happening.call_id,
                    tool=happening.tool,
                    ok=happening.ok,
                    exit_code=happening.exit_code,
                    duration_seconds=round(happening.duration_seconds, 3),
                    output=happening.output,
                )
            case ModelCalled(model, usage, duration_seconds):
                return ModelCallCompleted(
                    step=step,
                    model=model,
                    tokens_in=usage.tokens_in,
                    tokens_out=usage.tokens_out,
                    tokens_cache_read=usage.tokens_cache_read,
                    cost_usd=usage.cost_usd,
                    duration_seconds=round(duration_seconds, 3),
                )


def _session_field(role: Role) -> str:
    """Roles that may not write have a session, and a home for it, of their own."""
    return "agent_session_id" if role.may_write else "read_only_session_id"


def finished_turn(outcome: Outcome) -> Outcome:
    """The outcome of a turn that came to its end, or an AgentFailed that says why it did not."""
    problems = {
        "refused": ("the model refused the task", "Say the task in other words, or choose another model."),
        "no_answer": ("the model gave no answer", "Try again, or choose another model."),
        "repetition": (
            "the agent did the same thing with the same result until it was stopped",
            "Say the task in other words, or choose another model.",
        ),
        "turn_limit": (
            "the agent was stopped at its limit of model calls",
            "Split the task, or raise JOURNEYMAN_AGENT_MAX_TURNS.",
        ),
        "time_limit": (
            "the agent was stopped at its time limit",
            "Split the task, or raise JOURNEYMAN_AGENT_TIMEOUT_SECONDS.",
        ),
    }
    if outcome.stop_reason == "finished":
        return outcome
    what, hint = problems[outcome.stop_reason]
    raise AgentFailed(what, hint=hint)
