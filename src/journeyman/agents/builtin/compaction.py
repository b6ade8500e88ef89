"""Making a long conversation short: the task and the newest turns stay, what lies between becomes a summary.

Nothing here asks a model. The summary is asked for with a transcript in plain words, because providers refuse
calls of tools that are not offered, and a conversation that overflows cannot be sent once more as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from journeyman.agents.limits import clip
from journeyman.agents.roles import summary_prompt
from journeyman.gateway.budget import CHARACTERS_PER_TOKEN, characters_in
from journeyman.gateway.messages import AssistantMessage, Message, Tokens, ToolResults, UserMessage

_NEARLY_FULL = 0.8
"""Of the model's context: what is left must hold the next results and the answer to them."""
_KEPT = 0.2
"""Of the conversation's characters, at the most, in turns that stay as they are."""
_TRANSCRIBED = 0.5
"""Of the context, or of the conversation where nobody knows the context, for what a summary is made from."""
_LONGEST_PIECE = 4000

_BEGINNING = "{task}\n\n# What you have done so far, in summary\n\n{summary}"


def is_nearly_full(history: Sequence[Message], window: int | None) -> bool:
    return window is not None and _tokens_in(history) > window * _NEARLY_FULL


def _tokens_in(history: Sequence[Message]) -> float:
    """What the provider counted last, and an estimate of what was added since."""
    for place, message in reversed(list(enumerate(history))):
        if isinstance(message, AssistantMessage) and message.tokens.input:
            added = characters_in(history[place + 1 :]) / CHARACTERS_PER_TOKEN
            return message.tokens.input + message.tokens.output + added
    return characters_in(history) / CHARACTERS_PER_TOKEN


def parted(history: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """What a summary can take the place of, and the newest turns, which begin with an answer of the model."""
    room = characters_in(history) * _KEPT
    begin = len(history)
    for place in range(len(history) - 1, 0, -1):
        if not isinstance(history[place], AssistantMessage):
            continue
        if begin < len(history) and characters_in(history[place:]) > room:
            break
        begin = place
    return history[1:begin], history[begin:]


def summary_request(beginning: Message, older: Sequence[Message], window: int | None) -> UserMessage:
    """`beginning` has the task, and what an earlier summary said."""
    whole = window * CHARACTERS_PER_TOKEN if window else characters_in(older)
    room = max(int(whole * _TRANSCRIBED), _LONGEST_PIECE)
    transcript = clip("\n\n".join(map(_transcribed, older)), room)
    task = beginning.text if isinstance(beginning, UserMessage) else ""
    return UserMessage(summary_prompt(task, transcript))


def compacted(task: str, summary: str, newest: Sequence[Message]) -> list[Message]:
    """The short conversation. What was counted for the long one says nothing about it."""
    kept = (
        replace(message, tokens=Tokens()) if isinstance(message, AssistantMessage) else message
        for message in newest
    )
    return [UserMessage(_BEGINNING.format(task=task, summary=summary)), *kept]


def _transcribed(message: Message) -> str:
    match message:
        case UserMessage(text):
            return f"[said to you] {clip(text, _LONGEST_PIECE)}"
        case ToolResults(results):
            return "\n".join(
                f"[{each.tool} answered] {clip(each.output, _LONGEST_PIECE)}" for each in results
            )
        case AssistantMessage(text, calls):
            said = [f"[you] {text}"] if text else []
            called = (f"[you called {call.tool}] {clip(call.arguments, _LONGEST_PIECE)}" for call in calls)
            return "\n".join([*said, *called])
