"""One turn of an agent that is a program of its own: its pass for the door, its limits and its end.

What a program says of itself is told but not believed: model calls are counted at the door, a call that
stayed unanswered makes the turn a failure whatever the program reports, and every way out of here takes
the program along.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from journeyman.agents.base import Assignment, OnHappening, Outcome, StopReason, check_provider
from journeyman.agents.builtin.reading import deliverable_in
from journeyman.agents.builtin.tools import clip
from journeyman.agents.limits import LONGEST_SAID
from journeyman.agents.turn_recorder import Story
from journeyman.errors import AgentFailed
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Running, Sandbox

_DELIVER = (Path(__file__).parent / "prompts" / "deliver.md").read_text(encoding="utf-8")
_NOT_DELIVERED = "You have not handed over the result. Do it now, as one fenced block of JSON."


@dataclass(frozen=True)
class Turn:
    """What a backend needs to let its program work."""

    assignment: Assignment
    sandbox: Sandbox
    story: Story
    door_url: str
    """Where the program finds its model, as seen from inside."""
    token: str = field(repr=False)
    """What it shows there. It is worth nothing elsewhere, and nothing after the turn."""
    session_id: str | None
    """The session to go on with."""

    @property
    def model(self) -> str:
        """The model's own name, without its provider."""
        return self.assignment.model.partition("/")[2]


@dataclass(frozen=True)
class Ending:
    """How a program says that it ended."""

    text: str
    failure: str = ""


class Conversation(Protocol):
    async def ask(self, prompt: str) -> Ending:
        """Let the program work on a prompt to its end."""
        ...


class Instructed:
    """Gives the role's instructions with the first prompt, to a program that has no other place for them."""

    def __init__(self, conversation: Conversation, instructions: str) -> None:
        self._conversation = conversation
        self._instructions = instructions

    async def ask(self, prompt: str) -> Ending:
        instructions, self._instructions = self._instructions, ""
        return await self._conversation.ask(f"{instructions}\n\n{prompt}" if instructions else prompt)


Open = Callable[[Turn], AbstractAsyncContextManager[Conversation]]


class Programs:
    """Carries out the turns of one backend."""

    def __init__(self, door: Door, *, providers: tuple[str, ...]) -> None:
        self._door = door
        self._providers = providers
        self._busy: set[str] = set()

    async def carry_out(
        self,
        assignment: Assignment,
        sandbox: Sandbox,
        tell: OnHappening,
        open_conversation: Open,
        *,
        token: str = "",
    ) -> Outcome:
        """`token` is the one that a program has already, when it is still there from an earlier turn."""
        assert assignment.account is not None, "somebody pays for every turn"
        check_provider(assignment.account.agent, assignment.model, self._providers)
        story = Story(tell, max_calls=assignment.max_turns, limits=assignment.limits)
        heard = replace(assignment.account, on_call=story.model_called, on_fault=story.model_failed)
        token = self._door.admit(heard, token)
        try:
            port = await sandbox.open_door(self._door.path)
            with self._alone(assignment.session_id) as session_id:
                url = f"http://127.0.0.1:{port}"
                turn = Turn(assignment, sandbox, story, url, token, session_id)
                return await self._within_limits(turn, open_conversation)
        finally:
            self._door.dismiss(token)
            await story.told()

    async def _within_limits(self, turn: Turn, open_conversation: Open) -> Outcome:
        working = asyncio.create_task(self._work(turn, open_conversation))
        stopping = asyncio.create_task(turn.story.is_over.wait())
        try:
            await asyncio.wait(
                {working, stopping},
                timeout=turn.assignment.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if turn.story.fault is not None:
                raise turn.story.fault
            if working.done() and not turn.story.is_refused:
                return working.result()
            reason: StopReason = "turn_limit" if stopping.done() else "time_limit"
            if turn.story.is_refused:
                reason = "refused"
            return Outcome(
                stop_reason=reason, text="", usage=turn.story.usage, session_id=turn.story.session_id
            )
        finally:
            stopping.cancel()
            working.cancel()
            await asyncio.gather(working, stopping, return_exceptions=True)

    async def _work(self, turn: Turn, open_conversation: Open) -> Outcome:
        wanted = turn.assignment.deliverable
        prompt = turn.assignment.prompt
        if wanted is not None:
            schema = json.dumps(wanted.model_json_schema(), indent=1)
            prompt = _DELIVER.format(prompt=prompt, schema=schema)
        async with open_conversation(turn) as conversation:
            ending = await self._asked(turn, conversation, prompt)
            delivered = deliverable_in(ending.text, wanted) if wanted else None
            if wanted and delivered is None:
                ending = await self._asked(turn, conversation, _NOT_DELIVERED)
                delivered = deliverable_in(ending.text, wanted)
        return Outcome(
            stop_reason="finished" if ending.text.strip() else "no_answer",
            text=clip(ending.text.strip(), LONGEST_SAID),
            deliverable=delivered,
            usage=turn.story.usage,
            session_id=turn.story.session_id,
        )

    async def _asked(self, turn: Turn, conversation: Conversation, prompt: str) -> Ending:
        ending = await conversation.ask(prompt)
        if (fault := self._door.fault(turn.token)) is not None:
            raise fault
        if ending.failure:
            raise AgentFailed(
                f"the agent failed: {ending.failure}",
                hint="The message is the agent's own; its log in the order tells what it did before.",
            )
        return ending

    @contextmanager
    def _alone(self, session_id: str | None) -> Iterator[str | None]:
        """The session, or None where another turn is in it: two at once would break its history."""
        if session_id is None or session_id in self._busy:
            yield None
            return
        self._busy.add(session_id)
        try:
            yield session_id
        finally:
            self._busy.discard(session_id)


async def failure_of(program: Running, what: str) -> str:
    """What to say of a program that ended before it had answered."""
    code = await program.wait()
    return f"{what} ended with exit code {code}: {program.stderr_tail[-1500:] or 'it said nothing'}"
