"""Codex as an agent: `codex exec`, one process for each prompt.

Its own sandbox is off, because it cannot be built inside ours. The repository counts as untrusted, so the
configuration that it brings is not read.
"""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from journeyman.agents.base import Assignment, OnHappening, Outcome
from journeyman.agents.installed import InstalledAgent
from journeyman.agents.json_lines import JsonLines
from journeyman.agents.turn import Conversation, Ending, Instructed, Turn
from journeyman.agents.turn_recorder import Story
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


class Codex(InstalledAgent):
    name = "codex"
    providers = ("openai", "scripted")

    async def work(self, assignment: Assignment, sandbox: Sandbox, tell: OnHappening) -> Outcome:
        return await self._programs.carry_out(assignment, sandbox, tell, self._conversation)

    @asynccontextmanager
    async def _conversation(self, turn: Turn) -> AsyncIterator[Conversation]:
        def command(session_id: str | None) -> list[str]:
            options = [word for pair in _configuration(turn).items() for word in ("-c", _assigned(*pair))]
            before = [*self._command, "exec", "--json", "--skip-git-repo-check"]
            before += ["--dangerously-bypass-approvals-and-sandbox", "--ignore-user-config", *options]
            # Said outright, because whoever works without approvals is otherwise taken to trust the place.
            before += ["-c", f'projects={{"{turn.sandbox.workspace}"={{trust_level="untrusted"}}}}']
            return [*before, "resume", session_id, "-"] if session_id else [*before, "-"]

        listening = _Listening(turn.story)
        conversation = JsonLines(
            turn, "Codex", command=command, environment={_TOKEN: turn.token}, hear=listening.hear
        )
        # A session that goes on keeps the instructions that it began with, whatever it is given.
        yield Instructed(conversation, turn.assignment.role.instructions) if turn.session_id else conversation


def _assigned(name: str, value: str | bool | int) -> str:
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


class _Listening:
    def __init__(self, story: Story) -> None:
        self._story = story
        self._text = ""
        self._prefix = secrets.token_hex(4)
        """Items are numbered anew in every process; their ids must not be."""

    async def hear(self, message: dict[str, Any]) -> Ending | None:
        match message:
            case {"type": "thread.started", "thread_id": str(thread_id)}:
                self._story.session_id = thread_id
            case {"type": "item.started" | "item.updated" | "item.completed", "item": dict(item)}:
                await self._hear_item(item, is_done=message["type"] == "item.completed")
            case {"type": "turn.completed"}:
                return Ending(self._text)
            case {"type": "turn.failed", "error": {"message": str(text)}}:
                return Ending("", text)
        return None

    async def _hear_item(self, item: dict[str, Any], *, is_done: bool) -> None:
        call_id = f"{self._prefix}-{item.get('id')}"
        match item:
            case {"type": "agent_message", "text": str(text)} if is_done:
                self._text = text
                await self._story.said(text)
            case {"type": "command_execution", "command": str(command)}:
                self._story.tool_started(call_id, "shell", {"command": command})
                if is_done:
                    code = item.get("exit_code")
                    self._story.tool_finished(
                        call_id,
                        ok=code == 0,
                        output=str(item.get("aggregated_output") or ""),
                        exit_code=code if isinstance(code, int) else None,
                    )
            case {"type": "file_change" | "mcp_tool_call" | "web_search" | "todo_list" as tool}:
                told = {key: value for key, value in item.items() if key not in ("id", "type", "status")}
                self._story.tool_started(call_id, tool, told)
                if is_done:
                    self._story.tool_finished(call_id, ok=item.get("status") != "failed", output="")
