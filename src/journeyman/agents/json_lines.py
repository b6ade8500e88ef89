"""Agents that take a prompt, write a line of JSON for everything that happens, and exit.

Each prompt is a process of its own; the session that it names goes on in the next. The prompt goes in by
standard input, because the kernel takes no argument of more than 128 kB.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from journeyman.agents.limits import lines_of
from journeyman.agents.turn import Ending, Turn, failure_of
from journeyman.sandboxes.base import Running


class JsonLines:
    def __init__(
        self,
        turn: Turn,
        name: str,
        *,
        command: Callable[[str | None], list[str]],
        environment: Mapping[str, str],
        hear: Callable[[dict[str, Any]], Awaitable[Ending | None]],
    ) -> None:
        """`command` is given the session to go on with; `hear` gives an Ending when a line says so."""
        self._turn = turn
        self._name = name
        self._command = command
        self._environment = {"HOME": turn.sandbox.home, **environment}
        self._hear = hear

    async def ask(self, prompt: str) -> Ending:
        session_id = self._turn.story.session_id or self._turn.session_id
        program = await self._turn.sandbox.start(self._command(session_id), env=self._environment)
        try:
            await _give(program, prompt)
            ending = None
            async for line in lines_of(program.stdout, self._turn.assignment.limits):
                ending = await self._hear(parsed(line)) or ending
            if ending is None or (not ending.failure and await program.wait() != 0):
                return Ending("", await failure_of(program, self._name))
            return ending
        finally:
            await program.terminate()


async def _give(program: Running, prompt: str) -> None:
    try:
        program.stdin.write(prompt.encode())
        await program.stdin.drain()
        program.stdin.close()
    except ConnectionError:
        return  # it has ended, and its exit code says why


def parsed(line: bytes) -> dict[str, Any]:
    """A line's message; what is no JSON object says nothing."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
