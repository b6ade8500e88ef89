"""The built-in agent: any model behind the gateway, with five tools and a plain loop."""

import asyncio
from dataclasses import replace

from journeyman.agents.base import About, Assignment, EmitEvents, Outcome
from journeyman.agents.builtin.loop import AgentLoop
from journeyman.gateway.gateway import Gateway
from journeyman.sandboxes.base import Readiness, Sandbox
from journeyman.settings import Settings


class BuiltinAgent:
    def __init__(self, gateway: Gateway, settings: Settings, *, retry_base_seconds: float = 1.0) -> None:
        self._gateway = gateway
        self._settings = settings
        self._retry_base_seconds = retry_base_seconds

    @property
    def name(self) -> str:
        return "builtin"

    @property
    def about(self) -> About:
        return About(("openai", "anthropic", "google", "scripted"))

    async def readiness(self) -> Readiness:
        """Always usable, because the scripted model is; `needs` tells how to get a real one."""
        return Readiness(True, self._gateway.needs())

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        await self._gateway.prepare(assignment.model)
        loop = AgentLoop(
            assignment,
            sandbox,
            emit,
            self._gateway,
            longest_command_seconds=self._settings.sandbox_command_timeout_seconds,
            retry_base_seconds=self._retry_base_seconds,
        )
        try:
            async with asyncio.timeout(assignment.timeout_seconds) as limit:
                outcome = await loop.run()
        except TimeoutError:
            if not limit.expired():
                raise
            outcome = loop.outcome("time_limit")
        # Every turn starts a fresh conversation; the order's events are the only record of earlier ones.
        return replace(outcome, session_id=assignment.account.order_id)
