"""Any agent that speaks the Agent Client Protocol, by the command line that starts it.

Such an agent is configured by the operator who names it. It gets the address of its model by the variables
that the providers' own clients read; which files of the repository it loads is up to it. We offer it neither
the protocol's file access nor its terminal, so everything it does happens in the jail.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import acp
from acp import schema

from journeyman.agents.base import About, Assignment, EmitEvents, Outcome
from journeyman.agents.json_lines import parse_message
from journeyman.agents.limits import MAX_TEXT_CHARACTERS, lines_of
from journeyman.agents.turn import Conversation, PromptResult, Turn, TurnRunner, failure_of
from journeyman.agents.turn_recorder import TurnRecorder
from journeyman.errors import AgentFailed
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Readiness, Running, Sandbox
from journeyman.sandboxes.jail import search_path
from journeyman.settings import Settings

PROVIDERS = ("openai", "anthropic", "google", "scripted")
_WRITING_MODES = ("bypassPermissions", "full-access", "yolo", "build")
_READING_MODES = ("plan", "read-only")
"""Ids that agents give to the modes that fit our roles. The jail enforces the role in any mode."""
_WRITES = ("edit", "delete", "move")
_MAX_QUEUED_UPDATES = 100
"""Updates that wait to be recorded; until one is, no more of the program's output is read."""


class AcpAgent:
    def __init__(self, name: str, command: Sequence[str], door: Door, settings: Settings) -> None:
        self._name = name
        self._command = list(command)
        self._search_path = search_path(settings.sandbox_paths)
        self._runner = TurnRunner(door, providers=PROVIDERS)

    @property
    def name(self) -> str:
        return self._name

    @property
    def about(self) -> About:
        return About(PROVIDERS, keeps_sessions=True)

    async def readiness(self) -> Readiness:
        program = self._command[0]
        if shutil.which(program, path=self._search_path):
            return Readiness(True)
        return Readiness(
            False, f"The sandbox has no program {program}: name its directory in JOURNEYMAN_SANDBOX_PATHS."
        )

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        return await self._runner.run(assignment, sandbox, emit, self._conversation)

    @asynccontextmanager
    async def _conversation(self, turn: Turn) -> AsyncIterator[Conversation]:
        program = await turn.sandbox.start(self._command, env=_environment(turn))
        client = _Client(turn)
        recording = asyncio.create_task(client.record_updates())
        transport = _Transport(turn, program, client)
        connection = acp.connect_to_agent(cast(acp.Client, client), transport)
        try:
            yield _Conversation(turn, program, connection, client)
        finally:
            recording.cancel()
            await program.terminate()
            await connection.close()
            await asyncio.gather(recording, return_exceptions=True)


def _environment(turn: Turn) -> dict[str, str]:
    return {
        "HOME": turn.sandbox.home,
        "OPENAI_BASE_URL": f"{turn.door_url}/v1",
        "OPENAI_API_KEY": turn.token,
        "ANTHROPIC_BASE_URL": turn.door_url,
        "ANTHROPIC_API_KEY": turn.token,
        "GOOGLE_GEMINI_BASE_URL": turn.door_url,
        "GEMINI_API_KEY": turn.token,
    }


class _Transport:
    """Messages to and from the program, with backpressure and a limit for the length of a line.

    The library's own transport reads lines of any length, and starts a task for each message at once.
    """

    def __init__(self, turn: Turn, program: Running, client: "_Client") -> None:
        self._recorder = turn.recorder
        self._program = program
        self._client = client
        self._lines = lines_of(program.stdout, turn.assignment.limits)

    async def send(self, message: dict[str, Any]) -> None:
        self._program.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._program.stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        await self._client.has_room.wait()
        try:
            async for line in self._lines:
                if message := parse_message(line):
                    return message
        except AgentFailed as error:
            self._recorder.give_up(error)
        return None

    async def close(self) -> None:
        self._program.stdin.close()


class _Conversation:
    def __init__(self, turn: Turn, program: Running, connection: Any, client: "_Client") -> None:
        self._turn = turn
        self._recorder = turn.recorder
        self._program = program
        self._connection = connection
        self._client = client

    async def ask(self, prompt: str) -> PromptResult:
        asking = asyncio.create_task(self._ask(prompt))
        exiting = asyncio.create_task(self._program.wait())
        try:
            await asyncio.wait({asking, exiting}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            return PromptResult("", await failure_of(self._program, "the agent"))
        finally:
            asking.cancel()
            exiting.cancel()
            await asyncio.gather(asking, exiting, return_exceptions=True)

    async def _ask(self, prompt: str) -> PromptResult:
        try:
            if self._recorder.session_id is None:
                await self._open_session()
                prompt = f"{self._turn.assignment.role.instructions}\n\n{prompt}"
            self._client.text = ""
            answer = await self._connection.prompt(
                session_id=self._recorder.session_id, prompt=[acp.text_block(prompt)]
            )
        except acp.RequestError as error:
            return PromptResult("", _error_text(error))
        await self._client.updates.join()  # what it said last is recorded before the turn ends
        if answer.stop_reason == "refusal":
            self._recorder.refused()
        if answer.stop_reason not in ("end_turn", "max_tokens", "refusal"):
            return PromptResult("", f"it stopped: {answer.stop_reason}")
        return PromptResult(self._client.text)

    async def _open_session(self) -> None:
        """Resume the known session; open a new one where there is none, or where the agent lost it."""
        hello = await self._connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        can_load = bool(hello.agent_capabilities and hello.agent_capabilities.load_session)
        workspace, known = self._turn.sandbox.workspace, self._turn.session_id
        session: Any = None
        if known is not None and can_load:
            # Loading a session makes the agent send its whole history as updates: they were recorded
            # in the turns that they belong to, and are dropped here.
            self._client.is_replaying = True
            try:
                session = await self._connection.load_session(cwd=workspace, session_id=known, mcp_servers=[])
                self._recorder.session_id = known
            except acp.RequestError as error:
                self._recorder.notice(f"the earlier session is gone ({_error_text(error)}); a new one begins")
            self._client.is_replaying = False
        if self._recorder.session_id is None:
            session = await self._connection.new_session(cwd=workspace, mcp_servers=[])
            self._recorder.session_id = session.session_id
        await self._choose_mode(session)

    async def _choose_mode(self, session: Any) -> None:
        wanted = _WRITING_MODES if self._turn.assignment.role.may_write else _READING_MODES
        session_id = self._recorder.session_id
        modes = session.modes if session else None
        offered = [mode.id for mode in modes.available_modes] if modes else []
        if mode := next((mode for mode in wanted if mode in offered), None):
            await self._connection.set_session_mode(session_id=session_id, mode_id=mode)
            return
        for option in (session.config_options if session else None) or ():
            if isinstance(option, schema.SessionConfigOptionSelect) and option.id == "mode":
                values = [getattr(each, "value", None) for each in option.options]
                if mode := next((mode for mode in wanted if mode in values), None):
                    await self._connection.set_config_option(
                        config_id=option.id, session_id=session_id, value=mode
                    )


class _Client:
    """Our side of the protocol: answers permission requests and records the agent's updates."""

    def __init__(self, turn: Turn) -> None:
        self._may_write = turn.assignment.role.may_write
        self._recorder: TurnRecorder = turn.recorder
        self.text = ""
        """The agent's text since its last tool call."""
        self.is_replaying = False
        self.updates: asyncio.Queue[Any] = asyncio.Queue()
        """The library handles every message in a task of its own; the queue puts them in order again."""
        self.has_room = asyncio.Event()
        """Cleared while the queue is full: the transport waits for it before it reads on."""
        self.has_room.set()

    def on_connect(self, connection: Any) -> None:
        """Called by the library; there is nothing to do."""

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[schema.PermissionOption], **_: Any
    ) -> schema.RequestPermissionResponse:
        allowed = self._may_write or tool_call.kind not in _WRITES
        kinds = ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
        for option in options:
            if option.kind in kinds:
                chosen = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
                return schema.RequestPermissionResponse(outcome=chosen)
        return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if not self.is_replaying:
            self.updates.put_nowait(update)
            if self.updates.qsize() >= _MAX_QUEUED_UPDATES:
                self.has_room.clear()

    async def record_updates(self) -> None:
        while True:
            await self._record(await self.updates.get())
            self.updates.task_done()
            if self.updates.qsize() < _MAX_QUEUED_UPDATES:
                self.has_room.set()

    async def _record(self, update: Any) -> None:
        match update:
            case schema.AgentMessageChunk(content=schema.TextContentBlock(text=text)):
                self.text = (self.text + text)[-MAX_TEXT_CHARACTERS:]
                await self._recorder.text(text)
            case schema.ToolCallStart():
                self.text = ""
                if update.status == "in_progress":  # before that its arguments are not known
                    self._record_tool(update)
            case schema.ToolCallProgress():
                self._record_tool(update)

    def _record_tool(self, update: Any) -> None:
        given = update.raw_input if isinstance(update.raw_input, dict) else {"title": update.title}
        self._recorder.tool_started(update.tool_call_id, update.kind or update.title or "tool", given)
        if update.status in ("completed", "failed"):
            code = _exit_code(update.raw_output)
            self._recorder.tool_completed(
                update.tool_call_id,
                ok=update.status == "completed" and not code,
                output=_output(update),
                exit_code=code,
            )


def _output(update: Any) -> str:
    texts = [getattr(getattr(part, "content", None), "text", "") for part in update.content or ()]
    return "\n".join(filter(None, texts)) or str(update.raw_output or "")


def _exit_code(raw: Any) -> int | None:
    """Where OpenCode reports it; the protocol has no field for it."""
    code = raw.get("metadata", {}).get("exit") if isinstance(raw, dict) else None
    return code if isinstance(code, int) else None


def _error_text(error: acp.RequestError) -> str:
    return f"{error} {error.data or ''}".strip()[:1500]
