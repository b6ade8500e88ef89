"""Build what a step is given: its task in full, its workspace, its sandboxes and its agent."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from journeyman.agents.catalog import AgentCatalog
from journeyman.agents.roles import follow_up_task, rebase_conflict_task, rework_task
from journeyman.engine.commands import CommandCalls
from journeyman.engine.handover import Handover
from journeyman.engine.workspaces import OpenWorkspaces
from journeyman.git.workspace import Workspace
from journeyman.sandboxes.base import SandboxProvider
from journeyman.settings import Settings
from journeyman.steps.agent_session import AgentSession
from journeyman.steps.branch_recorder import BranchRecorder
from journeyman.steps.context import StepContext, StepInput
from journeyman.steps.order_environment import EnvironmentParts, OrderEnvironment
from journeyman.steps.order_sandboxes import OrderSandboxes
from journeyman.steps.write_access import WriteAccess
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.progress import Done, context_of
from journeyman.workflows.schema import StepSpec

_SET_ASIDE_BYTES = 60_000


@dataclass(frozen=True, kw_only=True)
class StepContexts:
    settings: Settings
    orders: WorkOrders
    workspaces: OpenWorkspaces
    sandboxes: SandboxProvider
    agents: AgentCatalog
    handover: Handover
    environments: EnvironmentParts

    async def build(
        self,
        order: WorkOrder,
        spec: StepSpec,
        done: Mapping[str, Done],
        time_limit: asyncio.Timeout,
        save_output: Callable[[BaseModel], Awaitable[None]],
        *,
        attempt: int = 1,
        saved_output: Mapping[str, Any] | None = None,
    ) -> StepContext:
        repositories, order_id = self.workspaces.repositories, order.agent_work_order_id
        workspace = await self.workspaces.open(order)
        calls = CommandCalls(repositories.commands, self.orders, order, spec, workspace.mirror)
        order = await calls.expanded_order()
        variables = context_of(done, order_context(order))
        task = await calls.expanded_prompt(variables) if spec.prompt else _task_of(order)
        sandboxes = self.sandboxes_of(order, workspace, spec.name)

        async def keep() -> None:
            await self.handover.save(self.orders, order_id, workspace)

        recorder = BranchRecorder(
            settings=self.settings,
            orders=self.orders,
            order=order,
            spec=spec,
            workspace=workspace,
            author=await repositories.author(order),
            keep=keep,
            save_output=save_output,
        )
        return StepContext(
            order=order,
            given=StepInput(
                spec=spec,
                task=await self._with_set_aside(await self._with_rework(task, order, spec), order, workspace),
                variables=variables,
                done=done,
                attempt=attempt,
                saved_output=saved_output,
            ),
            settings=self.settings,
            orders=self.orders,
            recorder=recorder,
            write_access=WriteAccess(
                orders=self.orders,
                order=order,
                spec=spec,
                workspace=workspace,
                lock=self.workspaces.write_lock(order_id),
                time_limit=time_limit,
                keep=keep,
            ),
            agent=AgentSession(
                settings=self.settings,
                orders=self.orders,
                order=order,
                spec=spec,
                agent=self.agents.find(spec.agent or order.agent),
                sandboxes=sandboxes,
                recorder=recorder,
            ),
            sandboxes=sandboxes,
            forge=repositories.forge(order),
            repository=repositories.of(order),
        )

    def sandboxes_of(self, order: WorkOrder, workspace: Workspace, step: str) -> OrderSandboxes:
        """The sandboxes of an order; `step` is what their events name."""
        return OrderSandboxes(
            settings=self.settings,
            orders=self.orders,
            order=order,
            workspace=workspace,
            workspaces=self.workspaces.on_disk,
            provider=self.sandboxes,
            agents=self.agents,
            environment=OrderEnvironment(
                orders=self.orders, order=order, mirror=workspace.mirror, parts=self.environments
            ),
            step=step,
        )

    async def _with_rework(self, task: str, order: WorkOrder, spec: StepSpec) -> str:
        """The task, with what people asked for when they sent the round's work back."""
        if order.attempt == 1 or spec.kind not in ("plan", "build"):
            return task
        decided = await self.orders.approvals.of_order(order.agent_work_order_id)
        asked = [one.comment for one in decided if (one.round, one.decision) == (order.round, "rework")]
        return rework_task(task, asked) if asked else task

    async def _with_set_aside(self, task: str, order: WorkOrder, workspace: Workspace) -> str:
        """The task, with the order's own changes where those conflicted with what people pushed."""
        if order.set_aside_commit_sha is None:
            return task
        head = await workspace.head()
        base = await workspace.mirror.merge_base(order.set_aside_commit_sha, head) or head
        diff = await workspace.mirror.diff(base, order.set_aside_commit_sha, limit=_SET_ASIDE_BYTES)
        return rebase_conflict_task(task, diff)


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
