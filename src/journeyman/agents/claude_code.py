"""Claude Code as an agent: one process for a turn, with JSON lines on standard input and output.

Settings, hooks, commands and MCP servers of the repository are not loaded: only the user's would be, and the
sandbox's home has none. A result may say `success` and still be a failure: `is_error` counts.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from journeyman.agents.base import Assignment, EmitEvents, Outcome
from journeyman.agents.json_lines import parse_message
from journeyman.agents.limits import lines_of
from journeyman.agents.npm_agent import NpmAgent
from journeyman.agents.turn import Conversation, PromptResult, Turn, failure_of
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


class ClaudeCode(NpmAgent):
    name = "claude_code"
    providers = ("anthropic", "scripted")

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        return await self._runner.run(assignment, sandbox, emit, self._conversation)

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
        conversation = _Conversation(turn, program)
        try:
            yield conversation
        except asyncio.CancelledError:
            await conversation.interrupt()
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


class _Conversation:
    def __init__(self, turn: Turn, program: Running) -> None:
        self._turn = turn
        self._recorder = turn.recorder
        self._program = program
        self._lines = lines_of(program.stdout, turn.assignment.limits)
        self._is_streamed = False
        """Whether the text of the current message was emitted already, piece by piece."""

    async def ask(self, prompt: str) -> PromptResult:
        await self._send({"type": "user", "message": {"role": "user", "content": prompt}})
        async for line in self._lines:
            message = parse_message(line)
            if message.get("type") == "result":
                return _result_of(message)
            await self._on_message(message)
        return PromptResult("", await failure_of(self._program, "Claude Code"))

    async def interrupt(self) -> None:
        """Ask it to stop, so that it saves its session before the process is ended."""
        request = {"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}}
        try:
            async with asyncio.timeout(_INTERRUPT_SECONDS):
                await self._send(request)
                async for line in self._lines:
                    if parse_message(line).get("type") == "result":
                        return
        except (TimeoutError, ConnectionError):
            return

    async def _send(self, message: dict[str, Any]) -> None:
        self._program.stdin.write(json.dumps(message).encode() + b"\n")
        await self._program.stdin.drain()

    async def _on_message(self, message: dict[str, Any]) -> None:
        match message:
            case {"type": "system", "subtype": "init", "session_id": str(session_id)}:
                self._recorder.session_id = session_id
            case {"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": str(text)}}}:
                self._is_streamed = True
                await self._recorder.text(text)
            case {"type": "assistant", "message": {"content": list(blocks)}}:
                for block in blocks:
                    await self._on_block(block)
            case {"type": "user", "message": {"content": list(blocks)}}:
                for block in blocks:
                    if block.get("type") == "tool_result":
                        self._on_tool_result(block)

    async def _on_block(self, block: dict[str, Any]) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                if not self._is_streamed:
                    await self._recorder.text(text)
                self._is_streamed = False
            case {"type": "tool_use", "id": str(call_id), "name": str(tool), "input": dict(arguments)}:
                self._recorder.tool_started(call_id, tool, arguments)

    def _on_tool_result(self, block: dict[str, Any]) -> None:
        output = _text_of(block.get("content"))
        is_error = bool(block.get("is_error"))
        code = _EXIT_CODE.match(output) if is_error else None
        self._recorder.tool_completed(
            str(block.get("tool_use_id")),
            ok=not is_error,
            output=output,
            exit_code=int(code[1]) if code else None,
        )


def _result_of(result: dict[str, Any]) -> PromptResult:
    text = str(result.get("result") or "")
    if not result.get("is_error") and result.get("subtype") == "success":
        return PromptResult(text)
    errors = "; ".join(map(str, result.get("errors") or ()))
    return PromptResult("", text or errors or str(result.get("subtype")))


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
