"""What a step is given: the order, its workspace, its agent, its sandboxes and its forge.

A step never sees the engine, a token or a database: everything it may do goes through its context, which
emits an event for each thing that happens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from journeyman.agents.plan import Plan
from journeyman.errors import JourneymanError
from journeyman.events.types import Event
from journeyman.forges.base import Forge, Remote
from journeyman.git.workspace import Workspace
from journeyman.settings import Settings
from journeyman.steps.agent_session import AgentSession
from journeyman.steps.branch_recorder import BranchRecorder
from journeyman.steps.order_environment import OrderEnvironment
from journeyman.steps.order_sandboxes import OrderSandboxes
from journeyman.steps.write_access import WriteAccess
from journeyman.work_orders.order import WorkOrder, title_of
from journeyman.work_orders.prompts import subject_of
from journeyman.work_orders.repositories import Repository
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.progress import Done
from journeyman.workflows.schema import StepSpec


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
class StepInput:
    """What a step begins with."""

    spec: StepSpec
    task: str
    """What is wanted: the step's own prompt where its workflow gives one, else the order's."""
    variables: Mapping[str, Any]
    """What templates may read: the order and the outputs of earlier steps."""
    done: Mapping[str, Done]
    """The steps that ended before this one, by name."""
    attempt: int = 1
    """Counts how often the step was tried since it was begun."""
    saved_output: Mapping[str, Any] | None = None
    """What the step had saved of its result before it was cut off."""

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


@dataclass(frozen=True, kw_only=True)
class StepContext:
    order: WorkOrder
    given: StepInput
    settings: Settings
    orders: WorkOrders
    recorder: BranchRecorder
    write_access: WriteAccess
    agent: AgentSession
    sandboxes: OrderSandboxes
    forge: Forge
    repository: Repository

    @property
    def order_id(self) -> str:
        return self.order.agent_work_order_id

    @property
    def round(self) -> int:
        return self.order.round

    @property
    def spec(self) -> StepSpec:
        return self.given.spec

    @property
    def task(self) -> str:
        return self.given.task

    @property
    def environment(self) -> OrderEnvironment:
        return self.sandboxes.environment

    @property
    def workspace(self) -> Workspace:
        return self.recorder.workspace

    @property
    def subject(self) -> str:
        """The task in one line: for a subtask, and its commit, where there is no plan."""
        is_follow_up = self.spec.prompt is None and self.order.round_prompt is not None
        return subject_of(self.order.round_prompt or "") if is_follow_up else title_of(self.task)

    async def emit(self, *events: Event) -> None:
        await self.orders.emit(self.order_id, *events)

    async def remote(self) -> Remote:
        """Where to push to; only for the worker that still holds the order."""
        await self.orders.check_held(self.order_id)
        return await self.forge.remote(self.repository)
