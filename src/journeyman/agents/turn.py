"""One turn of an agent that is a program of its own: its token for the gateway, its limits and its end.

What a program reports is shown but not trusted: model calls are counted at the gateway's door, a call that
failed for good fails the turn whatever the program reports, and every way out of here ends the program.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from journeyman.agents.base import Assignment, EmitEvents, Outcome, StopReason, check_provider
from journeyman.agents.deliverables import deliverable_in
from journeyman.agents.limits import MAX_TEXT_CHARACTERS, clip
from journeyman.agents.turn_recorder import TurnRecorder
from journeyman.errors import AgentFailed
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Running, Sandbox

_DELIVER = (Path(__file__).parent / "prompts" / "deliver.md").read_text(encoding="utf-8")
_NOT_DELIVERED = "You have not handed over the result. Do it now, as one fenced block of JSON."


@dataclass(frozen=True)
class Turn:
    """What a backend needs to run its program for one turn."""

    assignment: Assignment
    sandbox: Sandbox
    recorder: TurnRecorder
    door_url: str
    """The gateway's address, as seen from inside the sandbox."""
    token: str = field(repr=False)
    """The credential for it. Worth nothing elsewhere, and nothing after the turn."""
    session_id: str | None
    """The session to resume."""

    @property
    def model(self) -> str:
        """The model's own name, without its provider."""
        return self.assignment.model.partition("/")[2]


@dataclass(frozen=True)
class PromptResult:
    """How the program says that a prompt ended."""

    text: str
    failure: str = ""


class Conversation(Protocol):
    async def ask(self, prompt: str) -> PromptResult:
        """Run the program on a prompt until it ends."""
        ...


class InstructionsFirst:
    """Puts the role's instructions before the first prompt, for a program that takes them nowhere else."""

    def __init__(self, conversation: Conversation, instructions: str) -> None:
        self._conversation = conversation
        self._instructions = instructions

    async def ask(self, prompt: str) -> PromptResult:
        instructions, self._instructions = self._instructions, ""
        return await self._conversation.ask(f"{instructions}\n\n{prompt}" if instructions else prompt)


OpenConversation = Callable[[Turn], AbstractAsyncContextManager[Conversation]]


class TurnRunner:
    """Runs the turns of one backend's program."""

    def __init__(self, door: Door, *, providers: tuple[str, ...]) -> None:
        self._door = door
        self._providers = providers
        self._busy_sessions: set[str] = set()

    async def run(
        self,
        assignment: Assignment,
        sandbox: Sandbox,
        emit: EmitEvents,
        open_conversation: OpenConversation,
        *,
        token: str = "",
    ) -> Outcome:
        """`token` is the one that the program already has, when it runs since an earlier turn."""
        check_provider(assignment.account.agent, assignment.model, self._providers)
        recorder = TurnRecorder(assignment, emit)
        account = replace(assignment.account, on_call=recorder.model_called, on_fault=recorder.model_failed)
        token = self._door.admit(account, token)
        try:
            port = await sandbox.open_door(self._door.path)
            with self._exclusive(assignment.session_id) as session_id:
                url = f"http://127.0.0.1:{port}"
                turn = Turn(assignment, sandbox, recorder, url, token, session_id)
                return await self._within_limits(turn, open_conversation)
        finally:
            self._door.dismiss(token)
            await recorder.flush()

    async def _within_limits(self, turn: Turn, open_conversation: OpenConversation) -> Outcome:
        working = asyncio.create_task(self._work(turn, open_conversation))
        stopping = asyncio.create_task(turn.recorder.is_over.wait())
        try:
            await asyncio.wait(
                {working, stopping},
                timeout=turn.assignment.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if turn.recorder.fault is not None:
                raise turn.recorder.fault
            if working.done() and not turn.recorder.is_refused:
                return working.result()
            reason: StopReason = "turn_limit" if stopping.done() else "time_limit"
            if turn.recorder.is_refused:
                reason = "refused"
            return Outcome(
                stop_reason=reason, text="", usage=turn.recorder.usage, session_id=turn.recorder.session_id
            )
        finally:
            stopping.cancel()
            working.cancel()
            await asyncio.gather(working, stopping, return_exceptions=True)

    async def _work(self, turn: Turn, open_conversation: OpenConversation) -> Outcome:
        wanted = turn.assignment.deliverable
        prompt = turn.assignment.prompt
        if wanted is not None:
            schema = json.dumps(wanted.model_json_schema(), indent=1)
            prompt = _DELIVER.format(prompt=prompt, schema=schema)
        async with open_conversation(turn) as conversation:
            result = await self._ask(turn, conversation, prompt)
            delivered = deliverable_in(result.text, wanted) if wanted else None
            if wanted and delivered is None:
                result = await self._ask(turn, conversation, _NOT_DELIVERED)
                delivered = deliverable_in(result.text, wanted)
        return Outcome(
            stop_reason="finished" if result.text.strip() else "no_answer",
            text=clip(result.text.strip(), MAX_TEXT_CHARACTERS),
            deliverable=delivered,
            usage=turn.recorder.usage,
            session_id=turn.recorder.session_id,
        )

    async def _ask(self, turn: Turn, conversation: Conversation, prompt: str) -> PromptResult:
        result = await conversation.ask(prompt)
        if (fault := self._door.fault(turn.token)) is not None:
            raise fault
        if result.failure:
            raise AgentFailed(
                f"the agent failed: {result.failure}",
                hint="The message is the agent's own; its log in the order tells what it did before.",
            )
        return result

    @contextmanager
    def _exclusive(self, session_id: str | None) -> Iterator[str | None]:
        """The session, or None while another turn uses it: two at once would break its history."""
        if session_id is None or session_id in self._busy_sessions:
            yield None
            return
        self._busy_sessions.add(session_id)
        try:
            yield session_id
        finally:
            self._busy_sessions.discard(session_id)


async def failure_of(program: Running, what: str) -> str:
    """The error message for a program that exited before it had answered."""
    code = await program.wait()
    return f"{what} ended with exit code {code}: {program.stderr_tail[-1500:] or 'it said nothing'}"
