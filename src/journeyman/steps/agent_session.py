"""Let an agent work on the order: one turn at a time, in the session that it had before.

What the agent does becomes events on the way, and what it writes is snapshotted.
"""

from dataclasses import dataclass

from pydantic import BaseModel

from journeyman.agents.base import Agent, AgentEvent, Assignment, Outcome, Role
from journeyman.agents.limits import OutputLimits
from journeyman.agents.roles import model_for
from journeyman.errors import AgentFailed
from journeyman.events.types import ModelCallCompleted, ToolCallCompleted, ToolCallStarted
from journeyman.failpoints import failpoint
from journeyman.gateway.accounts import Account
from journeyman.settings import Settings
from journeyman.steps.branch_recorder import BranchRecorder
from journeyman.steps.order_sandboxes import OrderSandboxes
from journeyman.work_orders.order import Usage, WorkOrder
from journeyman.work_orders.store import OrderChanges, WorkOrders
from journeyman.workflows.schema import StepSpec


@dataclass(frozen=True, kw_only=True)
class AgentSession:
    settings: Settings
    orders: WorkOrders
    order: WorkOrder
    spec: StepSpec
    agent: Agent
    sandboxes: OrderSandboxes
    recorder: BranchRecorder

    @property
    def order_id(self) -> str:
        return self.order.agent_work_order_id

    @property
    def round(self) -> int:
        return self.order.round

    async def turn(self, role: Role, prompt: str, *, deliverable: type[BaseModel] | None = None) -> Outcome:
        """Let the agent work once. What it wrote is snapshotted while it works.

        The caller commits what a finished turn wrote; a turn that breaks off is snapshotted here.
        """
        sandbox = await self.sandboxes.open(role.may_write)
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
        async with self.recorder.snapshots(role.may_write):
            failpoint("agent_started")
            outcome = await self.agent.work(assignment, sandbox, self._store_events)
            failpoint("agent_ended")
        session = f"{self.agent.name}:{outcome.session_id}" if outcome.session_id else None
        if session and session != getattr(current, _session_field(role)):
            await self.orders.change(self.order_id, **_session_change(role, session))
        return outcome

    def _session_of(self, order: WorkOrder, role: Role) -> str | None:
        """The session to go on with; one that another agent made says nothing to this one."""
        agent, _, session_id = (getattr(order, _session_field(role)) or "").partition(":")
        return session_id if agent == self.agent.name else None

    async def _output_limits(self) -> OutputLimits:
        said = await self.orders.chatter_bytes(self.order_id)
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

    async def _store_events(self, *events: AgentEvent) -> None:
        """Stores an agent's events, and adds the usage of its model calls to step and order."""
        used = [_usage_of(event) for event in events if isinstance(event, ModelCallCompleted)]
        for usage in used[1:]:
            await self.orders.usage.add(self.order_id, self.round, self.spec.name, usage)
        if used:
            await self.orders.usage.add(self.order_id, self.round, self.spec.name, used[0], *events)
        else:
            await self.orders.emit(self.order_id, *events)
        for event in events:
            if isinstance(event, ToolCallStarted):
                failpoint("tool_call_started")
            elif isinstance(event, ToolCallCompleted):
                failpoint("tool_call_ended")


def _usage_of(call: ModelCallCompleted) -> Usage:
    return Usage(call.tokens_in, call.tokens_out, call.tokens_cache_read, call.cost_usd)


def _session_field(role: Role) -> str:
    """Roles that may not write have a session, and a home for it, of their own."""
    return "agent_session_id" if role.may_write else "read_only_session_id"


def _session_change(role: Role, session: str) -> OrderChanges:
    return {"agent_session_id": session} if role.may_write else {"read_only_session_id": session}


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
