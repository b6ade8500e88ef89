"""Claude Code as an agent: one process for a turn, spoken with in lines of JSON.

Settings, hooks, commands and MCP servers that the repository brings are not loaded: only the user's would
be, and in this home there are none. A result may say `success` and still be a failure: `is_error` counts.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from journeyman.agents.base import Assignment, OnHappening, Outcome
from journeyman.agents.installed import InstalledAgent
from journeyman.agents.json_lines import parsed
from journeyman.agents.limits import lines_of
from journeyman.agents.turn import Conversation, Ending, Turn, failure_of
from journeyman.sandboxes.base import Running, Sandbox

_READING_TOOLS = "Bash,Read,Glob,Grep"
_BUILDING_TOOLS = f"{_READING_TOOLS},Edit,Write,NotebookEdit,TodoWrite,Task"
_SWITCHES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}
_INTERRUPT_SECONDS = 1.5
_EXIT_CODE = re.compile(r"Exit code (\d+)")


class ClaudeCode(InstalledAgent):
    name = "claude_code"
    providers = ("anthropic", "scripted")

    async def work(self, assignment: Assignment, sandbox: Sandbox, tell: OnHappening) -> Outcome:
        return await self._programs.carry_out(assignment, sandbox, tell, self._conversation)

    @asynccontextmanager
    async def _conversation(self, turn: Turn) -> AsyncIterator[Conversation]:
        environment = {
            **_SWITCHES,
            "HOME": turn.sandbox.home,
            "ANTHROPIC_BASE_URL": turn.door_url,
            "ANTHROPIC_API_KEY": turn.token,
        }
        command = [*self._command, *_arguments(turn)]
        program = await turn.sandbox.start(command, env=environment)
        speaking = _Speaking(turn, program)
        try:
            yield speaking
        except asyncio.CancelledError:
            await speaking.interrupt()
            raise
        finally:
            await program.terminate()


def _arguments(turn: Turn) -> list[str]:
    role = turn.assignment.role
    result = ["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]
    result += ["--include-partial-messages", "--model", turn.model, "--dangerously-skip-permissions"]
    result += ["--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands"]
    result += ["--tools", _BUILDING_TOOLS if role.may_write else _READING_TOOLS]
    result += ["--append-system-prompt", role.instructions, "--system-prompt-snapshot", "off"]
    return [*result, "--resume", turn.session_id] if turn.session_id else result


class _Speaking:
    def __init__(self, turn: Turn, program: Running) -> None:
        self._turn = turn
        self._story = turn.story
        self._program = program
        self._lines = lines_of(program.stdout, turn.assignment.limits)
        self._is_streamed = False
        """Whether the text of the message that is coming was told already, piece by piece."""

    async def ask(self, prompt: str) -> Ending:
        await self._send({"type": "user", "message": {"role": "user", "content": prompt}})
        async for line in self._lines:
            message = parsed(line)
            if message.get("type") == "result":
                return _ending(message)
            await self._hear(message)
        return Ending("", await failure_of(self._program, "Claude Code"))

    async def interrupt(self) -> None:
        """Let it write its session down before it is ended."""
        request = {"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}}
        try:
            async with asyncio.timeout(_INTERRUPT_SECONDS):
                await self._send(request)
                async for line in self._lines:
                    if parsed(line).get("type") == "result":
                        return
        except (TimeoutError, ConnectionError):
            return

    async def _send(self, message: dict[str, Any]) -> None:
        self._program.stdin.write(json.dumps(message).encode() + b"\n")
        await self._program.stdin.drain()

    async def _hear(self, message: dict[str, Any]) -> None:
        match message:
            case {"type": "system", "subtype": "init", "session_id": str(session_id)}:
                self._story.session_id = session_id
            case {"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": str(text)}}}:
                self._is_streamed = True
                await self._story.said(text)
            case {"type": "assistant", "message": {"content": list(blocks)}}:
                for block in blocks:
                    await self._hear_block(block)
            case {"type": "user", "message": {"content": list(blocks)}}:
                for block in blocks:
                    if block.get("type") == "tool_result":
                        self._hear_result(block)

    async def _hear_block(self, block: dict[str, Any]) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                if not self._is_streamed:
                    await self._story.said(text)
                self._is_streamed = False
            case {"type": "tool_use", "id": str(call_id), "name": str(tool), "input": dict(arguments)}:
                self._story.tool_started(call_id, tool, arguments)

    def _hear_result(self, block: dict[str, Any]) -> None:
        output = _text_of(block.get("content"))
        is_error = bool(block.get("is_error"))
        code = _EXIT_CODE.match(output) if is_error else None
        self._story.tool_finished(
            str(block.get("tool_use_id")),
            ok=not is_error,
            output=output,
            exit_code=int(code[1]) if code else None,
        )


def _ending(result: dict[str, Any]) -> Ending:
    text = str(result.get("result") or "")
    if not result.get("is_error") and result.get("subtype") == "success":
        return Ending(text)
    errors = "; ".join(map(str, result.get("errors") or ()))
    return Ending("", text or errors or str(result.get("subtype")))


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
