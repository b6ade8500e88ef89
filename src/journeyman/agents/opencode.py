"""OpenCode as an agent: a server of its own inside the sandbox, spoken with over HTTP and its event stream.

A server takes seconds and much memory to start, so it stays for the next turn in the same sandbox; the token
that its configuration holds opens the door only while a turn runs. A message counts as failed when it carries
an error: the server answers 200 either way.
"""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpcore2

from journeyman.agents.base import Assignment, OnHappening, Outcome
from journeyman.agents.inside import pool_into
from journeyman.agents.installs import Installs
from journeyman.agents.turn import Conversation, Ending, Programs, Turn, failure_of
from journeyman.errors import AgentFailed
from journeyman.gateway.door.door import Door
from journeyman.gateway.prices import context_window_of
from journeyman.sandboxes.base import Readiness, Running, Sandbox

NAME = "opencode"
PROVIDERS = ("openai", "anthropic", "scripted")
_SWITCHES = {
    name: "1"
    for name in (
        "OPENCODE_PURE",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_DISABLE_SHARE",
    )
}
_LISTENING = re.compile(rb"listening on http://127\.0\.0\.1:(\d+)")
_START_SECONDS = 60.0
_LAST_EVENTS_SECONDS = 2.0
_LARGEST_OUTPUT_TOKENS = 32_000
_USUAL_CONTEXT_TOKENS = 128_000


@dataclass(frozen=True, eq=False)
class _Server:
    sandbox: Sandbox
    model: str
    program: Running
    port: int
    password: str = field(repr=False)
    token: str = field(repr=False)
    ended: "asyncio.Task[int]"
    draining: "asyncio.Task[bytes]"

    def fits(self, assignment: Assignment, sandbox: Sandbox) -> bool:
        return self.sandbox is sandbox and self.model == assignment.model and not self.ended.done()

    async def end(self) -> None:
        await self.program.terminate()
        await asyncio.gather(self.ended, self.draining, return_exceptions=True)


class OpenCode:
    def __init__(self, door: Door, installs: Installs) -> None:
        self._installs = installs
        self._programs = Programs(door, providers=PROVIDERS)
        self._idle: list[_Server] = []

    @property
    def name(self) -> str:
        return NAME

    async def readiness(self) -> Readiness:
        return self._installs.readiness(NAME)

    async def work(self, assignment: Assignment, sandbox: Sandbox, tell: OnHappening) -> Outcome:
        server = await self._take(assignment, sandbox)

        @asynccontextmanager
        async def conversation(turn: Turn) -> AsyncIterator[Conversation]:
            nonlocal server
            server = server or await self._start(turn)
            async with pool_into(sandbox, server.port) as pool:
                yield _Speaking(turn, server, pool)

        try:
            token = server.token if server else ""
            outcome = await self._programs.carry_out(assignment, sandbox, tell, conversation, token=token)
        except BaseException:
            if server:
                await server.end()
            raise
        if server and outcome.stop_reason not in ("turn_limit", "time_limit"):
            self._idle.append(server)
        elif server:
            await server.end()
        return outcome

    async def _take(self, assignment: Assignment, sandbox: Sandbox) -> _Server | None:
        """An idle server for this turn. The order's others are ended: each holds half a gigabyte."""
        fitting = next((each for each in self._idle if each.fits(assignment, sandbox)), None)
        home = sandbox.home
        for server in [each for each in self._idle if each.ended.done() or each is fitting]:
            self._idle.remove(server)
        return fitting
