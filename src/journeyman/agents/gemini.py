"""Gemini CLI as an agent: one process for each prompt.

The workspace is marked as untrusted, so settings, servers, hooks and variables of the repository are not
read; what an untrusted workspace would forbid is allowed by our own policy file. A result may say `error`
while the process exits with 0: the result counts.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from journeyman.agents.base import Assignment, EmitEvents, Outcome
from journeyman.agents.json_lines import JsonLinesConversation
from journeyman.agents.limits import MAX_TEXT_CHARACTERS
from journeyman.agents.npm_agent import NpmAgent
from journeyman.agents.turn import Conversation, InstructionsFirst, PromptResult, Turn
from journeyman.agents.turn_recorder import TurnRecorder
from journeyman.sandboxes.base import Sandbox

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "checkpointing": {"enabled": False}},
    "advanced": {"ignoreLocalEnv": True},
    "tools": {"exclude": ["google_web_search", "web_fetch", "ask_user", "save_memory"]},
}
_POLICY = """
[[rule]]
toolName = "*"
decision = "allow"
priority = 999
allow_redirection = true
"""
_EXIT_CODE = re.compile(r"Command exited with code: (\d+)")
"""Reported only for a command without output; for others Gemini CLI reports the output alone."""


class Gemini(NpmAgent):
    name = "gemini"
    providers = ("google", "scripted")

    async def work(self, assignment: Assignment, sandbox: Sandbox, emit: EmitEvents) -> Outcome:
        return await self._runner.run(assignment, sandbox, emit, self._conversation)

    @asynccontextmanager
    async def _conversation(self, turn: Turn) -> AsyncIterator[Conversation]:
        policy = f"{turn.sandbox.home}/.gemini/journeyman.toml"
        await turn.sandbox.write_file(policy, _POLICY.encode())
        settings = f"{turn.sandbox.home}/.gemini/settings.json"
        await turn.sandbox.write_file(settings, json.dumps(_SETTINGS).encode())

        def command(session_id: str | None) -> list[str]:
            result = [*self._command, "-o", "stream-json", "-m", turn.model]
            result += ["--policy", policy]
            return [*result, "--resume", session_id] if session_id else result

        environment = {
            "GEMINI_API_KEY": turn.token,
            "GOOGLE_GEMINI_BASE_URL": turn.door_url,
            "GEMINI_CLI_TRUST_WORKSPACE": "false",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }
        reader = _MessageReader(turn.recorder)
        conversation = JsonLinesConversation(
            turn, "Gemini CLI", command=command, environment=environment, on_message=reader.on_message
        )
        yield InstructionsFirst(conversation, turn.assignment.role.instructions)


class _MessageReader:
    def __init__(self, recorder: TurnRecorder) -> None:
        self._recorder = recorder
        self._text = ""
        self._errors: list[str] = []

    async def on_message(self, message: dict[str, Any]) -> PromptResult | None:
        match message:
            case {"type": "init", "session_id": str(session_id)}:
                self._recorder.session_id = session_id
            case {"type": "message", "role": "assistant", "content": str(text)}:
                self._text = (self._text + text)[-MAX_TEXT_CHARACTERS:]
                await self._recorder.text(text)
            case {
                "type": "tool_use",
                "tool_id": str(call_id),
                "tool_name": str(tool),
                "parameters": dict(given),
            }:
                self._text = ""
                self._recorder.tool_started(call_id, tool, given)
            case {"type": "tool_result", "tool_id": str(call_id)}:
                output = str(message.get("output") or (message.get("error") or {}).get("message") or "")
                code = _EXIT_CODE.fullmatch(output)
                self._recorder.tool_completed(
                    call_id,
                    ok=message.get("status") == "success" and not code,
                    output=output,
                    exit_code=int(code[1]) if code else None,
                )
            case {"type": "error", "message": str(text)}:
                self._errors = [*self._errors[-9:], text[:1500]]
            case {"type": "result", "status": "success"}:
                text, self._text = self._text, ""
                return PromptResult(text)
            case {"type": "result"}:
                error = (message.get("error") or {}).get("message")
                return PromptResult(
                    "", str(error or "; ".join(self._errors) or "it says only that it failed")
                )
        return None
