"""Any agent that speaks the Agent Client Protocol, by the command line that starts it.

Such an agent is configured by whoever names it: it is told where its model is by the variables that the
providers' own clients read, and what it makes of the repository's files is its own affair. It is offered no
files and no terminal of ours, so everything it does happens in the jail.
"""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import acp
from acp import schema

from journeyman.agents.base import About, Assignment, OnHappening, Outcome
from journeyman.agents.json_lines import parsed
from journeyman.agents.limits import LONGEST_SAID, lines_of
from journeyman.agents.turn import Conversation, Ending, Programs, Turn, failure_of
from journeyman.agents.turn_recorder import Story
from journeyman.errors import AgentFailed
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Readiness, Running, Sandbox
from journeyman.sandboxes.jail import search_path
from journeyman.settings import Settings

PROVIDERS = ("openai", "anthropic", "google", "scripted")
_WRITING_MODES = ("bypassPermissions", "full-access", "yolo", "build")
_READING_MODES = ("plan", "read-only")
"""What agents call the modes that fit our roles; the jail holds whichever they are in."""
_WRITES = ("edit", "delete", "move")
_MOST_HEARD = 100
"""Messages that wait to be told; the program has to wait with the next."""


class AcpAgent:
    def __init__(self, name: str, command: Sequence[str], door: Door, settings: Settings) -> None:
        self._name = name
        self._command = list(command)
        self._search_path = search_path(settings.sandbox_paths)
        self._programs = Programs(door, providers=PROVIDERS)

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

    async def work(self, assignment: Assignment, sandbox: Sandbox, tell: OnHappening) -> Outcome:
        return await self._programs.carry_out(assignment, sandbox, tell, self._conversation)

    @asynccontextmanager
    async def _conversation(self, turn: Turn) -> AsyncIterator[Conversation]:
        program = await turn.sandbox.start(self._command, env=_environment(turn))
        listening = _Listening(turn)
        telling = asyncio.create_task(listening.tell())
        transport = _Transport(turn, program, listening)
        connection = acp.connect_to_agent(cast(acp.Client, listening), transport)
        try:
            yield _Speaking(turn, program, connection, listening)
        finally:
            telling.cancel()
            await program.terminate()
            await connection.close()
            await asyncio.gather(telling, return_exceptions=True)


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
    """Messages to and from the program, read no faster than they are told and no longer than a line may be.

    The protocol's library would read lines of any length, and hear each message in a task of its own.
    """

    def __init__(self, turn: Turn, program: Running, listening: "_Listening") -> None:
        self._story = turn.story
        self._program = program
        self._listening = listening
        self._lines = lines_of(program.stdout, turn.assignment.limits)

    async def send(self, message: dict[str, Any]) -> None:
        self._program.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._program.stdin.drain()

    async def receive(self) -> dict[str, Any] | None:
        await self._listening.has_room.wait()
        try:
            async for line in self._lines:
                if message := parsed(line):
                    return message
        except AgentFailed as error:
            self._story.give_up(error)
        return None

    async def close(self) -> None:
        self._program.stdin.close()


class _Speaking:
    def __init__(self, turn: Turn, program: Running, connection: Any, listening: "_Listening") -> None:
        self._turn = turn
        self._story = turn.story
        self._program = program
        self._connection = connection
        self._listening = listening

    async def ask(self, prompt: str) -> Ending:
        asking = asyncio.create_task(self._ask(prompt))
        ending = asyncio.create_task(self._program.wait())
        try:
            await asyncio.wait({asking, ending}, return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            return Ending("", await failure_of(self._program, "the agent"))
        finally:
            asking.cancel()
            ending.cancel()
            await asyncio.gather(asking, ending, return_exceptions=True)

    async def _ask(self, prompt: str) -> Ending:
        try:
            if self._story.session_id is None:
                await self._open_session()
                prompt = f"{self._turn.assignment.role.instructions}\n\n{prompt}"
            self._listening.text = ""
            answer = await self._connection.prompt(
                session_id=self._story.session_id, prompt=[acp.text_block(prompt)]
            )
        except acp.RequestError as error:
            return Ending("", _words(error))
        await self._listening.heard.join()
        if answer.stop_reason == "refusal":
            self._story.refused()
        if answer.stop_reason not in ("end_turn", "max_tokens", "refusal"):
            return Ending("", f"it stopped: {answer.stop_reason}")
        return Ending(self._listening.text)

    async def _open_session(self) -> None:
        hello = await self._connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
        can_load = bool(hello.agent_capabilities and hello.agent_capabilities.load_session)
        workspace, known = self._turn.sandbox.workspace, self._turn.session_id
        session: Any = None
        if known is not None and can_load:
            self._listening.is_replayed = True  # loading tells the whole history once more
            try:
                session = await self._connection.load_session(cwd=workspace, session_id=known, mcp_servers=[])
                self._story.session_id = known
            except acp.RequestError as error:
                self._story.noticed(f"the earlier session is gone ({_words(error)}); a new one begins")
            self._listening.is_replayed = False
        if self._story.session_id is None:
            session = await self._connection.new_session(cwd=workspace, mcp_servers=[])
            self._story.session_id = session.session_id
        await self._choose_mode(session)

    async def _choose_mode(self, session: Any) -> None:
        wanted = _WRITING_MODES if self._turn.assignment.role.may_write else _READING_MODES
        session_id = self._story.session_id
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


class _Listening:
    """What an agent may ask of us, and what it tells. It may ask for no more than a permission."""

    def __init__(self, turn: Turn) -> None:
        self._may_write = turn.assignment.role.may_write
        self._story: Story = turn.story
        self.text = ""
        """What was said since the last tool call."""
        self.is_replayed = False
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        """The library hears every message in a task of its own; here they are in order again."""
        self.has_room = asyncio.Event()
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
        if not self.is_replayed:
            self.heard.put_nowait(update)
            if self.heard.qsize() >= _MOST_HEARD:
                self.has_room.clear()

    async def tell(self) -> None:
        while True:
            await self._hear(await self.heard.get())
            self.heard.task_done()
            if self.heard.qsize() < _MOST_HEARD:
                self.has_room.set()

    async def _hear(self, update: Any) -> None:
        match update:
            case schema.AgentMessageChunk(content=schema.TextContentBlock(text=text)):
                self.text = (self.text + text)[-LONGEST_SAID:]
                await self._story.said(text)
            case schema.ToolCallStart():
                self.text = ""
                if update.status == "in_progress":  # else what it is given is not known yet
                    self._tool(update)
            case schema.ToolCallProgress():
                self._tool(update)

    def _tool(self, update: Any) -> None:
        given = update.raw_input if isinstance(update.raw_input, dict) else {"title": update.title}
        self._story.tool_started(update.tool_call_id, update.kind or update.title or "tool", given)
        if update.status in ("completed", "failed"):
            code = _exit_code(update.raw_output)
            self._story.tool_finished(
                update.tool_call_id,
                ok=update.status == "completed" and not code,
                output=_output(update),
                exit_code=code,
            )


def _output(update: Any) -> str:
    texts = [getattr(getattr(part, "content", None), "text", "") for part in update.content or ()]
    return "\n".join(filter(None, texts)) or str(update.raw_output or "")


def _exit_code(raw: Any) -> int | None:
    """Where OpenCode tells it; the protocol has no place for it."""
    code = raw.get("metadata", {}).get("exit") if isinstance(raw, dict) else None
    return code if isinstance(code, int) else None


def _words(error: acp.RequestError) -> str:
    return f"{error} {error.data or ''}".strip()[:1500]
