"""OpenCode as an agent: a server inside the sandbox, used over HTTP and its event stream.

A server takes seconds to start, so it is kept for the next turn in the same sandbox; the token in its
configuration is accepted only while a turn runs. A message failed when it carries an error: the server
answers 200 either way. It loads plugins of the repository whatever its options, so the sandbox hides them.
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

from journeyman.agents.base import About, Assignment, EmitEvents, Outcome
from journeyman.agents.json_lines import parse_message
from journeyman.agents.limits import Lines, OutputLimits, lines_of
from journeyman.agents.npm_agent import NpmAgent
from journeyman.agents.npm_packages import NpmPackages
from journeyman.agents.sandbox_http import connection_pool_into
from journeyman.agents.turn import Conversation, PromptResult, Turn, failure_of
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
"""Files of a repository that OpenCode loads, plugins included, though every switch above forbids it."""
_PERMISSIONS = {
    "*": "allow",
    "external_directory": "allow",  # a question would wait for ever; the jail decides what is reachable
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


class OpenCode(NpmAgent):
    name = "opencode"
    providers = ("openai", "anthropic", "scripted")

    def __init__(self, door: Door, packages: NpmPackages) -> None:
        super().__init__(door, packages)
        self._idle: list[_Server] = []

    @property
    def about(self) -> About:
        return replace(super().about, hidden=_LOADED)

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        server = await self._take(assignment, sandbox)

        @asynccontextmanager
        async def conversation(turn: Turn) -> AsyncIterator[Conversation]:
            nonlocal server
            server = server or await self._start(turn)
            async with connection_pool_into(sandbox) as pool:
                yield _Conversation(turn, server, pool)

        try:
            outcome = await self._runner.run(
                assignment, sandbox, emit, conversation, token=server.token if server else ""
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
        """An idle server to reuse. The order's other servers are ended: each takes half a gigabyte."""
        order_id = assignment.account.order_id
        reusable = next((each for each in self._idle if each.fits(assignment, sandbox)), None)
        unused = [each for each in self._idle if each.order_id == order_id or not each.is_alive]
        self._idle = [each for each in self._idle if each not in unused]
        await asyncio.gather(*(each.end() for each in unused if each is not reusable))
        return reusable

    async def _start(self, turn: Turn) -> _Server:
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
    """Raise SandboxLost, and remove the sandbox, when such a file was added after the sandbox was set up."""
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
    """Read the output until the program exits: with a full pipe it would stop."""
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


class _Conversation:
    def __init__(self, turn: Turn, server: _Server, pool: httpcore2.AsyncConnectionPool) -> None:
        self._turn = turn
        self._recorder = turn.recorder
        self._server = server
        self._pool = pool
        self._emitted: dict[str, int] = {}
        """How many characters of each text were emitted, by the id of its part."""
        self._prompts: set[str] = set()
        """Ids of our own messages, whose text is not the agent's."""

    async def ask(self, prompt: str) -> PromptResult:
        try:
            session_id = self._recorder.session_id = self._recorder.session_id or await self._session()
            async with self._stream() as events:
                await anext(events)  # the first event: from here on the stream is complete
                following = asyncio.create_task(self._follow(events, session_id))
                try:
                    result = await self._prompt(session_id, prompt)
                    await asyncio.wait({following}, timeout=_LAST_EVENTS_SECONDS)
                    return result
                finally:
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            if not self._server.is_alive:
                return PromptResult("", await failure_of(self._server.program, "OpenCode"))
            return PromptResult("", f"OpenCode does not answer: {error}")

    async def _session(self) -> str:
        known = self._turn.session_id
        if known is not None:
            status, _ = await self._call("GET", f"/session/{known}")
            if status == 200:
                return known
            self._recorder.notice("the earlier session is gone; the agent begins a new one")
        status, answer = await self._call("POST", "/session", {"title": "Journeyman"})
        if status != 200:
            raise AgentFailed(f"OpenCode opens no session: {_error_text(answer)}", hint="Try again.")
        return str(answer["id"])

    async def _prompt(self, session_id: str, prompt: str) -> PromptResult:
        body = {
            "agent": "build" if self._turn.assignment.role.may_write else "plan",
            "model": {"providerID": "door", "modelID": self._turn.model},
            "system": self._turn.assignment.role.instructions,
            "parts": [{"type": "text", "text": prompt}],
        }
        status, answer = await self._call("POST", f"/session/{session_id}/message", body)
        error = answer.get("info", {}).get("error") if status == 200 else answer
        if error:
            return PromptResult("", _error_text(error))
        texts = [part["text"] for part in answer.get("parts", ()) if part.get("type") == "text"]
        return PromptResult("\n".join(texts))

    async def _follow(self, events: AsyncIterator[dict[str, Any]], session_id: str) -> None:
        """Record events until the session is idle."""
        async for event in events:
            match event.get("type"), event.get("properties"):
                case "session.idle", {"sessionID": str(idle)} if idle == session_id:
                    return
                case "message.updated", {"info": {"id": str(message_id), "role": "user"}}:
                    self._prompts.add(message_id)
                case "message.part.delta", {"partID": str(part_id), "field": "text", "delta": str(text)}:
                    self._emitted[part_id] = self._emitted.get(part_id, 0) + len(text)
                    await self._recorder.text(text)
                case "message.part.updated", {"part": dict(part)}:
                    await self._on_part(part)

    async def _on_part(self, part: dict[str, Any]) -> None:
        match part:
            case {"type": "text", "id": str(part_id), "messageID": str(message_id), "text": str(text)}:
                emitted = self._emitted.get(part_id, 0)
                if message_id not in self._prompts and len(text) > emitted:
                    self._emitted[part_id] = len(text)
                    await self._recorder.text(text[emitted:])
            case {"type": "tool", "callID": str(call_id), "tool": str(tool), "state": dict(state)}:
                status = state.get("status")
                if status in ("running", "completed", "error"):
                    self._recorder.tool_started(call_id, tool, dict(state.get("input") or {}))
                if status in ("completed", "error"):
                    code = (state.get("metadata") or {}).get("exit")
                    self._recorder.tool_completed(
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
                        yield parse_message(line[5:])

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


def _error_text(error: dict[str, Any]) -> str:
    """The message of an OpenCode error."""
    data = error.get("data")
    message = data.get("message") if isinstance(data, dict) else error.get("message")
    return str(message or error.get("name") or error)[:1500]
