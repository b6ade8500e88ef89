"""Compaction of a long conversation: the task and the newest messages stay, a summary replaces the rest.

Pure: nothing here calls a model. The request for the summary holds a plain-text transcript instead of the
messages themselves, because providers refuse tool calls in a history whose tools are not offered, and a
conversation that overflows the context cannot be sent again as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from journeyman.agents.limits import clip
from journeyman.agents.roles import summary_prompt
from journeyman.gateway.budget import CHARACTERS_PER_TOKEN, characters_in
from journeyman.gateway.messages import AssistantMessage, Message, Tokens, ToolResults, UserMessage

_NEARLY_FULL = 0.8
"""Share of the context at which compaction starts: the rest must hold the next results and the answer."""
_KEPT = 0.2
"""Share of the conversation's characters, at the most, that is kept as it is."""
_TRANSCRIBED = 0.5
"""Share of the context (of the conversation, where the context is unknown) for the transcript."""
_LONGEST_PIECE = 4000

_BEGINNING = "{task}\n\n# What you have done so far, in summary\n\n{summary}"


def is_nearly_full(history: Sequence[Message], window: int | None) -> bool:
    return window is not None and _tokens_in(history) > window * _NEARLY_FULL


def _tokens_in(history: Sequence[Message]) -> float:
    """The provider's last count, and an estimate of what was added since."""
    for place, message in reversed(list(enumerate(history))):
        if isinstance(message, AssistantMessage) and message.tokens.input:
            added = characters_in(history[place + 1 :]) / CHARACTERS_PER_TOKEN
            return message.tokens.input + message.tokens.output + added
    return characters_in(history) / CHARACTERS_PER_TOKEN


def split_history(history: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """The older messages, which a summary can replace, and the newest ones.

    The newest begin with a message of the model: a tool result without the call before it is refused.
    """
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
    """The compacted conversation. Token counts of the long one would start compaction again."""
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
