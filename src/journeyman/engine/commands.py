"""Prompts that call a command of the repository get its text before an agent sees them.

Every agent is given the same text this way, whether it knows commands or not. A prompt that only looks like a
call is passed on as it is, and the order says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from journeyman.events.log import first_of
from journeyman.events.types import (
    AgentNotice,
    CommandProblem,
    Event,
    FoundCommand,
    RepositoryCommandExpanded,
    RepositoryCommandsFound,
)
from journeyman.git.mirror import Mirror
from journeyman.knowledge.command_cache import CommandCache
from journeyman.knowledge.commands import Commands, call_in, expand
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders
from journeyman.workflows.schema import StepSpec
from journeyman.workflows.templates import render

_PROMPTED = frozenset({"explore", "plan", "build", "answer"})
"""The kinds of steps that begin with the order's prompt."""
_SHOWN = 2000


async def emit_commands_found(
    cache: CommandCache, orders: WorkOrders, order: WorkOrder, mirror: Mirror
) -> None:
    """Emit which commands the repository has, once for each order."""
    assert order.base_commit_sha is not None
    found = await cache.at(mirror, order.base_commit_sha)
    if not found.commands and not found.problems:
        return
    order_id = order.agent_work_order_id
    if await first_of(orders.database, order_id, "repository_commands_found") is None:
        event = RepositoryCommandsFound(
            commit_sha=order.base_commit_sha,
            commands=[FoundCommand.model_validate(one) for one in found.commands],
            problems=[CommandProblem.model_validate(one) for one in found.problems],
        )
        await orders.emit(order_id, event)


async def expansion(
    cache: CommandCache, mirror: Mirror, commit: str, text: str
) -> tuple[str, Callable[[str], Event] | None]:
    """A prompt as agents are to see it, and the event that its step emits about that."""
    call = call_in(text)
    if call is None:
        return text, None
    commands = await cache.at(mirror, commit)
    command = commands.find(call.name)
    if command is None:
        return text, lambda step: AgentNotice(step=step, text=_unknown(call.name, commands))
    return expand(command, call.arguments), lambda step: RepositoryCommandExpanded(
        step=step,
        name=command.name,
        path=command.path,
        arguments=call.arguments[:_SHOWN],
        commit_sha=commit,
    )


@dataclass(frozen=True)
class CommandCalls:
    """The calls of commands in what one step of an order is given."""

    cache: CommandCache
    orders: WorkOrders
    order: WorkOrder
    spec: StepSpec
    mirror: Mirror

    async def expanded_order(self) -> WorkOrder:
        """The order as agents are to see it."""
        order = self.order
        used = self.spec.prompt is None or "initial_prompt" in self.spec.prompt
        is_prompted = self.spec.kind in _PROMPTED and used
        first = await self._expanded(order.initial_prompt, emits=is_prompted and order.round_prompt is None)
        later = order.round_prompt
        if later is not None:
            later = await self._expanded(later, emits=is_prompted)
        return replace(order, initial_prompt=first, round_prompt=later)

    async def expanded_prompt(self, context: Mapping[str, Any]) -> str:
        """The step's own prompt. Only the workflow can call a command here, not what is filled in."""
        template = self.spec.prompt or ""
        text = render(template, context)
        return await self._expanded(text, emits=True) if template.lstrip().startswith("/") else text

    async def _expanded(self, text: str, *, emits: bool) -> str:
        assert self.order.base_commit_sha is not None
        expanded, event_for = await expansion(self.cache, self.mirror, self.order.base_commit_sha, text)
        if emits and event_for is not None:
            await self.orders.emit(self.order.agent_work_order_id, event_for(self.spec.name))
        return expanded


def _unknown(name: str, commands: Commands) -> str:
    known = ", ".join(f"/{one.name}" for one in commands.commands)
    there_are = f"there are {known}" if known else "it has none"
    return (
        f"the repository has no command /{name} at the commit that the order began from ({there_are}); "
        "the text goes to the agent as it is"
    )
