"""What a request at the door asks for: made anew of the fields that its format allows, and read for scripts.

A reservation covers the worst that a request allows, so everything in a request has to be understood: an
address that the provider would fetch leads out of a sandbox without network, what is kept at the provider is
paid for again though its size is not seen, and some fields multiply the price. A field without a rule is
refused by its name. Tools that a provider would run by itself are no more than an offer to the model: they
are left out, and the request goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from journeyman.gateway.budget import CHARACTERS_PER_TOKEN
from journeyman.gateway.messages import AssistantMessage, Message, ToolOffer, ToolResults, UserMessage
from journeyman.gateway.wires.base import Wire
from journeyman.gateway.wires.formats import FORMATS
from journeyman.gateway.wires.rules import Inline, made_of

_IMAGE_TOKENS = 1_600
_MOST_IMAGE_TOKENS = 20_000
"""An image is billed by its pixels: a few bytes can hold very many."""
_MOST_DOCUMENT_TOKENS = 1_000_000
"""Pages can share their content, so bytes say little of a document; but a model's context has an end."""


@dataclass(frozen=True)
class AllowedRequest:
    """A request that is understood, and what its call may take."""

    body: dict[str, Any]
    characters: int
    """What the model has to read, from which its tokens are estimated."""
    most_input_tokens: int
    most_output_tokens: int | None
    """The limit that the request itself sets on its answer."""


def allowed_request(wire: Wire, body: Mapping[str, Any], size: int) -> AllowedRequest:
    """The request of so many bytes. Raises InvalidInput for a field that is not passed on, by its name."""
    format, inline = FORMATS[wire], Inline()
    made = made_of(format.request_rules, body, "", inline)
    if wire == "responses":
        made["store"] = False  # left out, the provider would keep the conversation
    if "tools" in made and not made["tools"]:
        for name in ("tools", "tool_choice", "toolConfig", "parallel_tool_calls"):
            made.pop(name, None)
    text = max(0, size - inline.image_bytes)
    return AllowedRequest(
        made,
        text + int(inline.images * _IMAGE_TOKENS * CHARACTERS_PER_TOKEN),
        text + inline.images * _MOST_IMAGE_TOKENS + inline.documents * _MOST_DOCUMENT_TOKENS,
        format.output_limit(made),
    )


@dataclass(frozen=True)
class Asked:
    """What a script has to know of a request."""

    messages: tuple[Message, ...]
    """From the last prompt on."""
    offers: tuple[ToolOffer, ...]


def read_request(wire: Wire, body: dict[str, Any]) -> Asked:
    """Agents keep a whole session in one conversation, so a script's place in it is counted from the last
    prompt: what came before belongs to earlier turns of work."""
    format = FORMATS[wire]
    messages = [message for message in format.read_messages(body) if not _is_empty(message)]
    return Asked(_since_last_prompt(messages), tuple(format.read_tools(body)))


def _is_empty(message: Message) -> bool:
    return isinstance(message, UserMessage) and not message.text.strip()


def _since_last_prompt(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The prompt as one message, then answers and results in turn."""
    merged = [_merged(list(group)) for _, group in groupby(messages, type)]
    prompts = [place for place, message in enumerate(merged) if isinstance(message, UserMessage)]
    return tuple(merged[prompts[-1] :] if prompts else merged)


def _merged(group: list[Any]) -> Message:
    first: Message = group[0]
    if isinstance(first, UserMessage):
        return UserMessage("\n\n".join(message.text for message in group))
    if isinstance(first, ToolResults):
        return ToolResults(tuple(result for message in group for result in message.results))
    return AssistantMessage("".join(message.text for message in group))
