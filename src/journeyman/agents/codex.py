"""Codex as an agent: `codex exec`, one process for each prompt.

Its own sandbox is off, because it cannot be set up inside ours. The repository is marked as untrusted, so
its configuration files are not read.
"""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from journeyman.agents.base import Assignment, EmitEvents, Outcome
from journeyman.agents.json_lines import JsonLinesConversation
from journeyman.agents.npm_agent import NpmAgent
from journeyman.agents.turn import Conversation, InstructionsFirst, PromptResult, Turn
from journeyman.agents.turn_recorder import TurnRecorder
from journeyman.sandboxes.base import Sandbox

_TOKEN = "JOURNEYMAN_DOOR_TOKEN"  # noqa: S105 - the variable's name
_FEATURES_OFF = (
    "plugins",
    "apps",
    "hooks",
    "remote_plugin",
    "image_generation",
    "browser_use",
    "computer_use",
)


class Codex(NpmAgent):
    name = "codex"
    providers = ("openai", "scripted")

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        return await self._runner.run(assignment, sandbox, emit, self._conversation)

    @asynccontextmanager
    async def _conversation(self, turn: Turn) -> AsyncIterator[Conversation]:
        def command(session_id: str | None) -> list[str]:
            options = [word for pair in _configuration(turn).items() for word in ("-c", _assignment(*pair))]
            before = [*self._command, "exec", "--json", "--skip-git-repo-check"]
            before += ["--dangerously-bypass-approvals-and-sandbox", "--ignore-user-config", *options]
            # Set explicitly: without approvals Codex would otherwise treat the workspace as trusted.
            before += ["-c", f'projects={{"{turn.sandbox.workspace}"={{trust_level="untrusted"}}}}']
            return [*before, "resume", session_id, "-"] if session_id else [*before, "-"]

        reader = _MessageReader(turn.recorder)
        conversation = JsonLinesConversation(
            turn, "Codex", command=command, environment={_TOKEN: turn.token}, on_message=reader.on_message
        )
        # A resumed session keeps its first instructions whatever it is given, so they go into the prompt.
        instructions = turn.assignment.role.instructions
        yield InstructionsFirst(conversation, instructions) if turn.session_id else conversation


def _assignment(name: str, value: str | bool | int) -> str:
    return f"{name}={json.dumps(value)}"  # for these types JSON and TOML are the same


def _configuration(turn: Turn) -> dict[str, str | bool | int]:
    return {
        "model": turn.model,
        "model_provider": "door",
        "model_providers.door.name": "Journeyman",
        "model_providers.door.base_url": f"{turn.door_url}/v1",
        "model_providers.door.env_key": _TOKEN,
        "model_providers.door.wire_api": "responses",
        "model_providers.door.request_max_retries": 2,
        "model_providers.door.stream_max_retries": 2,
        "developer_instructions": turn.assignment.role.instructions,
        "web_search": "disabled",
        "check_for_update_on_startup": False,
        "analytics.enabled": False,
        **{f"features.{name}": False for name in _FEATURES_OFF},
    }


class _MessageReader:
    def __init__(self, recorder: TurnRecorder) -> None:
        self._recorder = recorder
        self._text = ""
        self._prefix = secrets.token_hex(4)
        """Every process numbers its items from 0; ids of tool calls have to be unique in a turn."""

    async def on_message(self, message: dict[str, Any]) -> PromptResult | None:
        match message:
            case {"type": "thread.started", "thread_id": str(thread_id)}:
                self._recorder.session_id = thread_id
            case {"type": "item.started" | "item.updated" | "item.completed", "item": dict(item)}:
                await self._on_item(item, is_done=message["type"] == "item.completed")
            case {"type": "turn.completed"}:
                return PromptResult(self._text)
            case {"type": "turn.failed", "error": {"message": str(text)}}:
                return PromptResult("", text)
        return None

    async def _on_item(self, item: dict[str, Any], *, is_done: bool) -> None:
        call_id = f"{self._prefix}-{item.get('id')}"
        match item:
            case {"type": "agent_message", "text": str(text)} if is_done:
                self._text = text
                await self._recorder.text(text)
            case {"type": "command_execution", "command": str(command)}:
                self._recorder.tool_started(call_id, "shell", {"command": command})
                if is_done:
                    code = item.get("exit_code")
                    self._recorder.tool_completed(
                        call_id,
                        ok=code == 0,
                        output=str(item.get("aggregated_output") or ""),
                        exit_code=code if isinstance(code, int) else None,
                    )
            case {"type": "file_change" | "mcp_tool_call" | "web_search" | "todo_list" as tool}:
                arguments = {name: item[name] for name in item if name not in ("id", "type", "status")}
                self._recorder.tool_started(call_id, tool, arguments)
                if is_done:
                    self._recorder.tool_completed(call_id, ok=item.get("status") != "failed", output="")
