"""Agents that take a prompt, write a line of JSON for each event, and exit.

Each prompt is a process of its own; the next one resumes the session. The prompt is given by standard
input, because the kernel takes no argument of more than 128 kB.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from journeyman.agents.limits import lines_of
from journeyman.agents.turn import PromptResult, Turn, failure_of
from journeyman.sandboxes.base import Running


class JsonLinesConversation:
    def __init__(
        self,
        turn: Turn,
        name: str,
        *,
        command: Callable[[str | None], list[str]],
        environment: Mapping[str, str],
        on_message: Callable[[dict[str, Any]], Awaitable[PromptResult | None]],
    ) -> None:
        """`command` is given the session to resume; `on_message` returns a result when a line is the last."""
        self._turn = turn
        self._name = name
        self._command = command
        self._environment = {"HOME": turn.sandbox.home, **environment}
        self._on_message = on_message

    async def ask(self, prompt: str) -> PromptResult:
        session_id = self._turn.recorder.session_id or self._turn.session_id
        program = await self._turn.sandbox.start(self._command(session_id), env=self._environment)
        try:
            await _write_prompt(program, prompt)
            result = None
            async for line in lines_of(program.stdout, self._turn.assignment.limits):
                result = await self._on_message(parse_message(line)) or result
            if result is None or (not result.failure and await program.wait() != 0):
                return PromptResult("", await failure_of(program, self._name))
            return result
        finally:
            await program.terminate()


async def _write_prompt(program: Running, prompt: str) -> None:
    try:
        program.stdin.write(prompt.encode())
        await program.stdin.drain()
        program.stdin.close()
    except ConnectionError:
        return  # it has exited, and its exit code says why


def parse_message(line: bytes) -> dict[str, Any]:
    """The message of a line; empty for anything but a JSON object."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
