"""OpenCode as an agent: a server of its own inside the sandbox, spoken with over HTTP and its event stream.

A server takes seconds to start, so it stays for the next turn in the same sandbox; the token in its
configuration opens the door only while a turn runs. A message failed when it carries an error: the server
answers 200 either way. It loads plugins of the repository whatever it is told, so the sandbox hides them.
"""

import asyncio
import base64
import json
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpcore2

from journeyman.agents.base import About, Assignment, OnHappening, Outcome
from journeyman.agents.inside import pool_into
from journeyman.agents.installed import InstalledAgent
from journeyman.agents.installs import Installs
from journeyman.agents.json_lines import parsed
from journeyman.agents.limits import Lines, OutputLimits, lines_of
from journeyman.agents.turn import Conversation, Ending, Turn, failure_of
from journeyman.errors import AgentFailed, SandboxLost
from journeyman.gateway.door.door import Door
from journeyman.gateway.prices import context_window_of
from journeyman.sandboxes.base import Running, Sandbox

_SWITCHED_ON = (
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
_LOADED = (".opencode", "opencode.json", "opencode.jsonc")
"""What OpenCode loads from a repository, plugins among it, though every switch says that it should not."""
_PERMISSIONS = {
    "*": "allow",
    "external_directory": "allow",  # to ask would wait for ever, and the jail decides what is outside
    "question": "deny",
    "doom_loop": "deny",
    "webfetch": "deny",
    "websearch": "deny",
}
_LISTENING = re.compile(rb"listening on http://127\.0\.0\.1:(\d+)")
_START_SECONDS = 60.0
_LAST_EVENTS_SECONDS = 2.0
_OUTPUT_TOKENS = 32_000
_USUAL_CONTEXT_TOKENS = 128_000


@dataclass(frozen=True, eq=False)
class _Server:
    order_id: str
    sandbox: Sandbox
    model: str
    token: str = field(repr=False)
    password: str = field(repr=False)
    program: Running
    port: int
    reading: asyncio.Task[None]

    @property
    def is_alive(self) -> bool:
        return not self.reading.done()

    def fits(self, assignment: Assignment, sandbox: Sandbox) -> bool:
        return self.is_alive and self.sandbox is sandbox and self.model == assignment.model

    async def end(self) -> None:
        await self.program.terminate()
        await self.reading


class OpenCode(InstalledAgent):
    name = "opencode"
    providers = ("openai", "anthropic", "scripted")

    def __init__(self, door: Door, installs: Installs) -> None:
        super().__init__(door, installs)
        self._idle: list[_Server] = []

    @property
    def about(self) -> About:
        return replace(super().about, hidden=_LOADED)

    async def work(self, assignment: Assignment, sandbox: Sandbox, tell: OnHappening) -> Outcome:
        server = await self._take(assignment, sandbox)

        @asynccontextmanager
        async def conversation(turn: Turn) -> AsyncIterator[Conversation]:
            nonlocal server
            server = server or await self._start(turn)
            async with pool_into(sandbox) as pool:
                yield _Speaking(turn, server, pool)

        try:
            outcome = await self._programs.carry_out(
                assignment, sandbox, tell, conversation, token=server.token if server else ""
            )
        except BaseException:
            if server:
                await server.end()
            raise
        if server and outcome.stop_reason in ("turn_limit", "time_limit"):
            await server.end()
        elif server:
            self._idle.append(server)
        return outcome

    async def _take(self, assignment: Assignment, sandbox: Sandbox) -> _Server | None:
        """An idle server that fits. The order's others are ended: each holds half a gigabyte."""
        assert assignment.account is not None
        order_id = assignment.account.order_id
        fitting = next((each for each in self._idle if each.fits(assignment, sandbox)), None)
        leaving = [each for each in self._idle if each.order_id == order_id or not each.is_alive]
        self._idle = [each for each in self._idle if each not in leaving]
        await asyncio.gather(*(each.end() for each in leaving if each is not fitting))
        return fitting

    async def _start(self, turn: Turn) -> _Server:
        assert turn.assignment.account is not None
        password = secrets.token_urlsafe(24)
        environment = {
            **dict.fromkeys(_SWITCHED_ON, "1"),
            "HOME": turn.sandbox.home,
            "OPENCODE_SERVER_PASSWORD": password,
            "OPENCODE_CONFIG_CONTENT": json.dumps(_configuration(turn)),
        }
        await _check_hidden(turn.sandbox)
        command = [*self._command, "serve", "--hostname", "127.0.0.1", "--port", "0"]
        program = await turn.sandbox.start(command, env=environment)
        try:
            async with asyncio.timeout(_START_SECONDS):
                port = await _port_of(program)
        except BaseException:
            await program.terminate()
            raise
        return _Server(
            order_id=turn.assignment.account.order_id,
            sandbox=turn.sandbox,
            model=turn.assignment.model,
            token=turn.token,
            password=password,
            program=program,
            port=port,
            reading=asyncio.create_task(_drain(program)),
        )


async def _check_hidden(sandbox: Sandbox) -> None:
    """Raise SandboxLost, and give the sandbox up, when it shows what should be hidden: it came later."""
    look = ["find", *_LOADED, "(", "-type", "f", "-o", "-type", "l", ")", "-print", "-quit"]
    found = (
        await sandbox.execute_command(["sh", "-c", '"$@" 2>/dev/null', "look", *look], timeout=30)
    ).output
    if found.strip():
        await sandbox.cleanup()
        raise SandboxLost(
            f"the workspace has {found.strip()[:200]}, which OpenCode would load as its own configuration",
            hint="A new sandbox hides it; where agents run without a jail, choose another agent.",
        )


async def _port_of(program: Running) -> int:
    async for line in lines_of(program.stdout, OutputLimits()):
        if found := _LISTENING.search(line):
            return int(found[1])
    raise AgentFailed(await failure_of(program, "OpenCode"), hint="Try again, or choose another agent.")


async def _drain(program: Running) -> None:
    """Until it ends: it would stop at a full pipe."""
    while await program.stdout.read(65_536):
        pass


def _configuration(turn: Turn) -> dict[str, Any]:
    provider, _, model = turn.assignment.model.partition("/")
    context = context_window_of(turn.assignment.model) or _USUAL_CONTEXT_TOKENS
    package = "@ai-sdk/anthropic" if provider == "anthropic" else "@ai-sdk/openai-compatible"
    return {
        "provider": {
            "door": {
                "npm": package,
                "name": provider,
                "options": {"baseURL": f"{turn.door_url}/v1", "apiKey": turn.token},
                "models": {model: {"name": model, "limit": {"context": context, "output": _OUTPUT_TOKENS}}},
            }
        },
        "enabled_providers": ["door"],
        "model": f"door/{model}",
        "small_model": f"door/{model}",
        "permission": _PERMISSIONS,
        "agent": {"plan": {"permission": {"edit": "deny", "task": "deny"}}},
        "share": "disabled",
        "autoupdate": False,
        "snapshot": False,
        "lsp": False,
        "formatter": False,
    }


class _Speaking:
    def __init__(self, turn: Turn, server: _Server, pool: httpcore2.AsyncConnectionPool) -> None:
        self._turn = turn
        self._story = turn.story
        self._server = server
        self._pool = pool
        self._told: dict[str, int] = {}
        """How many characters of each text were told, by the id of its part."""
        self._prompts: set[str] = set()
        """Ids of messages that are ours."""

    async def ask(self, prompt: str) -> Ending:
        try:
            session_id = self._story.session_id = self._story.session_id or await self._session()
            async with self._stream() as events:
                await anext(events)  # it listens from here on
                following = asyncio.create_task(self._follow(events, session_id))
                try:
                    ending = await self._prompt(session_id, prompt)
                    await asyncio.wait({following}, timeout=_LAST_EVENTS_SECONDS)
                    return ending
                finally:
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            if not self._server.is_alive:
                return Ending("", await failure_of(self._server.program, "OpenCode"))
            return Ending("", f"OpenCode does not answer: {error}")

    async def _session(self) -> str:
        known = self._turn.session_id
        if known is not None:
            status, _ = await self._call("GET", f"/session/{known}")
            if status == 200:
                return known
            self._story.noticed("the earlier session is gone; the agent begins a new one")
        status, answer = await self._call("POST", "/session", {"title": "Journeyman"})
        if status != 200:
            raise AgentFailed(f"OpenCode opens no session: {_words(answer)}", hint="Try again.")
        return str(answer["id"])

    async def _prompt(self, session_id: str, prompt: str) -> Ending:
        body = {
            "agent": "build" if self._turn.assignment.role.may_write else "plan",
            "model": {"providerID": "door", "modelID": self._turn.model},
            "system": self._turn.assignment.role.instructions,
            "parts": [{"type": "text", "text": prompt}],
        }
        status, answer = await self._call("POST", f"/session/{session_id}/message", body)
        error = answer.get("info", {}).get("error") if status == 200 else answer
        if error:
            return Ending("", _words(error))
        texts = [part["text"] for part in answer.get("parts", ()) if part.get("type") == "text"]
        return Ending("\n".join(texts))

    async def _follow(self, events: AsyncIterator[dict[str, Any]], session_id: str) -> None:
        """Tell what happens until the session is idle."""
        async for event in events:
            match event.get("type"), event.get("properties"):
                case "session.idle", {"sessionID": str(idle)} if idle == session_id:
                    return
                case "message.updated", {"info": {"id": str(message_id), "role": "user"}}:
                    self._prompts.add(message_id)
                case "message.part.delta", {"partID": str(part_id), "field": "text", "delta": str(text)}:
                    self._told[part_id] = self._told.get(part_id, 0) + len(text)
                    await self._story.said(text)
                case "message.part.updated", {"part": dict(part)}:
                    await self._hear(part)

    async def _hear(self, part: dict[str, Any]) -> None:
        match part:
            case {"type": "text", "id": str(part_id), "messageID": str(message_id), "text": str(text)}:
                told = self._told.get(part_id, 0)
                if message_id not in self._prompts and len(text) > told:
                    self._told[part_id] = len(text)
                    await self._story.said(text[told:])
            case {"type": "tool", "callID": str(call_id), "tool": str(tool), "state": dict(state)}:
                status = state.get("status")
                if status in ("running", "completed", "error"):
                    self._story.tool_started(call_id, tool, dict(state.get("input") or {}))
                if status in ("completed", "error"):
                    code = (state.get("metadata") or {}).get("exit")
                    self._story.tool_finished(
                        call_id,
                        ok=status == "completed" and not code,
                        output=str(state.get("output") or state.get("error") or ""),
                        exit_code=code if isinstance(code, int) else None,
                    )

    @asynccontextmanager
    async def _stream(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        async with self._pool.stream("GET", self._url("/event"), headers=self._headers()) as response:

            async def events() -> AsyncIterator[dict[str, Any]]:
                chunks = aiter(response.aiter_stream())
                async for line in Lines(lambda: anext(chunks, b""), self._turn.assignment.limits):
                    if line.startswith(b"data:"):
                        yield parsed(line[5:])

            yield events()

    async def _call(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        content = None if body is None else json.dumps(body).encode()
        limits = self._turn.assignment.limits
        gathered = bytearray()
        async with self._pool.stream(
            method, self._url(path), headers=self._headers(), content=content
        ) as response:
            async for chunk in response.aiter_stream():
                gathered += chunk
                if len(gathered) > limits.turn_bytes:
                    raise limits.too_much()
        try:
            answer = json.loads(gathered)
        except (ValueError, RecursionError):
            answer = gathered.decode(errors="replace")
        return response.status, answer if isinstance(answer, dict) else {"message": answer}

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.port}{path}"

    def _headers(self) -> list[tuple[str, str]]:
        secret = base64.b64encode(f"opencode:{self._server.password}".encode()).decode()
        return [("Authorization", f"Basic {secret}"), ("Content-Type", "application/json")]


def _words(error: dict[str, Any]) -> str:
    """What an error of OpenCode says."""
    data = error.get("data")
    message = data.get("message") if isinstance(data, dict) else error.get("message")
    return str(message or error.get("name") or error)[:1500]
