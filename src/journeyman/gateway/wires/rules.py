"""Rules for the fields of a request: each gives a field's value as it goes on, or refuses it by its name.

What is refused is named by where it stands, with the reason and what to do: an agent shows it to whoever
waits, and only then it can be mended.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from journeyman.errors import InvalidInput

Reason = tuple[str, str]
"""Why a field is refused, and what to do."""

ADDRESS: Reason = ("the provider would fetch it from there", "Send the content itself, as base64 data.")
STATE: Reason = ("it names or keeps something at the provider", "Send all of it in the request.")
HOSTED: Reason = ("the provider would run it, outside the sandbox", "Leave it out.")
PRICE: Reason = ("it costs more than the price that is known", "Leave it out.")
MANY: Reason = ("every answer is paid for", "Ask for one answer at a time.")
UNKNOWN: Reason = (
    "Journeyman does not know it, and so not what it costs or where it leads",
    "Leave it out; if an agent cannot work without it, please report it.",
)
_SHAPE: Reason = ("it has not the form that its provider documents", "Correct it.")
_MOST_TOKENS = 10_000_000


@dataclass
class Inline:
    """Files inside a request, which are not billed as text."""

    images: int = 0
    documents: int = 0
    image_bytes: int = 0


Rule = Callable[[Any, str, Inline], Any]
"""A field's value, where it stands, and the files found so far. None leaves the field out."""


def refused(where: str, reason: Reason) -> InvalidInput:
    return InvalidInput(f"the request's {where} is refused: {reason[0]}", hint=reason[1])


def made_of(rules: Mapping[str, Rule], value: Any, where: str, inline: Inline) -> dict[str, Any]:
    """An object made of the fields that have a rule. What is null is as good as left out."""
    if not isinstance(value, Mapping):
        raise refused(where or "body", _SHAPE)
    made: dict[str, Any] = {}
    for name, inner in value.items():
        place = f"{where}.{name}" if where else name
        if inner is None:
            continue
        if name not in rules:
            raise refused(place, UNKNOWN)
        kept = rules[name](inner, place, inline)
        if kept is not None:
            made[name] = kept
    return made


def passes(value: Any, where: str, inline: Inline) -> Any:
    return value


def fields(**rules: Rule) -> Rule:
    return lambda value, where, inline: made_of(rules, value, where, inline)


def list_of(rule: Rule) -> Rule:
    def listed(value: Any, where: str, inline: Inline) -> Any:
        if not isinstance(value, list):
            raise refused(where, _SHAPE)
        kept = (rule(item, f"{where}[{place}]", inline) for place, item in enumerate(value))
        return [item for item in kept if item is not None]

    return listed


def text_or(rule: Rule) -> Rule:
    return lambda value, where, inline: value if isinstance(value, str) else rule(value, where, inline)


def only(*allowed: Any, reason: Reason) -> Rule:
    def checked(value: Any, where: str, inline: Inline) -> Any:
        if not any(value is each or (value == each and type(value) is type(each)) for each in allowed):
            raise refused(where, reason)
        return value

    return checked


def never(reason: Reason) -> Rule:
    """Refused, unless it says that nothing is wanted: false, or an empty list."""

    def checked(value: Any, where: str, inline: Inline) -> None:
        if value is False or value == []:
            return
        kind = value.get("type") if isinstance(value, Mapping) else None
        raise refused(f"{where} of the type {kind!r}" if kind else where, reason)

    return checked


def whole(value: Any, where: str, inline: Inline) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _MOST_TOKENS:
        raise refused(where, ("it must be a whole number of tokens", "Correct it."))
    return value


def limit(value: Any, where: str, inline: Inline) -> int:
    if whole(value, where, inline) <= 0:
        raise refused(where, ("a limit must be above zero", "Correct it."))
    return int(value)


def by_type(usual: str = "", /, **kinds: Rule) -> Rule:
    """An object whose rule is found by its `type`."""

    def checked(value: Any, where: str, inline: Inline) -> Any:
        if not isinstance(value, Mapping):
            raise refused(where, _SHAPE)
        kind = value.get("type", usual)
        rule = kinds.get(kind) if isinstance(kind, str) else None
        if rule is None:
            raise refused(f"{where} of the type {kind!r}", UNKNOWN)
        return rule(value, where, inline)

    return checked


def tools_of(*kinds: str) -> Rule:
    """The tools that an agent runs itself, by the beginnings of their types; others are left out."""

    def kept(value: Any, where: str, inline: Inline) -> Any:
        kind = value.get("type") or kinds[0] if isinstance(value, Mapping) else None
        return value if isinstance(kind, str) and kind.startswith(kinds) else None

    return list_of(kept)


def image(value: Any, where: str, inline: Inline) -> Any:
    """Base64, or an address that holds it."""
    if not isinstance(value, str) or (":" in value[:64] and not value[:5].lower() == "data:"):
        raise refused(where, ADDRESS)
    inline.images += 1
    inline.image_bytes += len(value)
    return value


def image_address(value: Any, where: str, inline: Inline) -> Any:
    """An address that holds the image itself; any other leads somewhere."""
    if not isinstance(value, str) or value[:5].lower() != "data:":
        raise refused(where, ADDRESS)
    return image(value, where, inline)


def document(value: Any, where: str, inline: Inline) -> Any:
    if not isinstance(value, str) or "://" in value[:64]:
        raise refused(where, ADDRESS)
    inline.documents += 1
    return value


def cache_mark(value: Any, where: str, inline: Inline) -> Any:
    """Where a cache may end. One that lasts for an hour costs more and becomes the usual one."""
    return {"type": "ephemeral"}
