"""What a request may hold: it is made anew of the fields named here, and any other is refused by its name.

A reservation covers the worst that a request allows, so everything in a request has to be understood: an
address that the provider would fetch leads out of a sandbox without network, what is kept at the provider is
paid for again though nobody sees its size, and some fields multiply the price. Tools that a provider would
run by itself are no more than an offer to the model: they are left out, and the request goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from journeyman.gateway.budget import CHARACTERS_PER_TOKEN
from journeyman.gateway.door.rules import (
    ADDRESS,
    HOSTED,
    MANY,
    PRICE,
    STATE,
    Inline,
    Rule,
    by_type,
    cache_mark,
    document,
    fields,
    image,
    image_address,
    limit,
    list_of,
    made_of,
    never,
    only,
    passes,
    refused,
    text_or,
    whole,
)
from journeyman.gateway.door.wires import Wire

_IMAGE_TOKENS = 1_600
_MOST_IMAGE_TOKENS = 20_000
"""An image is billed by its pixels: a few bytes can hold very many."""
_MOST_DOCUMENT_TOKENS = 1_000_000
"""Pages can share their content, so bytes say little of a document; but a model's context has an end."""


@dataclass(frozen=True)
class Rebuilt:
    """A request that is understood, and what its call may take."""

    body: dict[str, Any]
    characters: int
    """What the model has to read, for whoever estimates tokens from characters."""
    most_input_tokens: int
    most_output_tokens: int | None
    """The limit that the request itself sets on its answer."""


def rebuilt(wire: Wire, body: Mapping[str, Any], size: int) -> Rebuilt:
    """The request of so many bytes. Raises InvalidInput for a field that is not passed on, by its name."""
    inline = Inline()
    made = made_of(_FIELDS[wire], body, "", inline)
    if wire == "responses":
        made["store"] = False  # left out, the provider would keep the conversation
    if "tools" in made and not made["tools"]:
        for name in ("tools", "tool_choice", "toolConfig", "parallel_tool_calls"):
            made.pop(name, None)
    most_output_tokens = _most_output_tokens(wire, made)
    text = max(0, size - inline.image_bytes)
    return Rebuilt(
        made,
        text + int(inline.images * _IMAGE_TOKENS * CHARACTERS_PER_TOKEN),
        text + inline.images * _MOST_IMAGE_TOKENS + inline.documents * _MOST_DOCUMENT_TOKENS,
        most_output_tokens,
    )


def _most_output_tokens(wire: Wire, made: dict[str, Any]) -> int | None:
    """The answer's limit, thoughts included. Two that contradict each other are refused."""
    if wire == "responses":
        return made.get("max_output_tokens")
    if wire == "chat":
        one, other = made.get("max_completion_tokens"), made.get("max_tokens")
        if one is not None and other is not None and one != other:
            raise refused("max_tokens", ("max_completion_tokens says something else", "Send one of the two."))
        return one or other
    if wire == "messages":
        most, thoughts = made.get("max_tokens"), made.get("thinking", {}).get("budget_tokens")
        if most is not None and thoughts is not None and thoughts > most:
            raise refused(
                "thinking.budget_tokens", ("it is more than max_tokens", "Thoughts are part of the answer.")
            )
        return most
    chosen = made.get("generationConfig", {})
    most, thoughts = chosen.get("maxOutputTokens"), chosen.get("thinkingConfig", {}).get("thinkingBudget")
    return None if most is None else max(most, thoughts or 0)


def _tools(*kinds: str) -> Rule:
    """Those that the agent runs itself, by the beginnings of their types."""

    def kept(value: Any, where: str, inline: Inline) -> Any:
        kind = value.get("type") or kinds[0] if isinstance(value, Mapping) else None
        return value if isinstance(kind, str) and kind.startswith(kinds) else None

    return list_of(kept)


_OPENAI: dict[str, Rule] = {
    "model": passes,
    "stream": passes,
    "stream_options": passes,
    "tool_choice": passes,
    "parallel_tool_calls": passes,
    "temperature": passes,
    "top_p": passes,
    "top_logprobs": passes,
    "user": passes,
    "metadata": passes,
    "safety_identifier": passes,
    "prompt_cache_key": passes,
    "prompt_cache_retention": passes,
    "store": only(False, reason=STATE),
    "background": only(False, reason=STATE),
    "service_tier": only("auto", "default", reason=PRICE),
}
_CHAT_CONTENT = text_or(
    list_of(
        by_type(
            text=passes,
            refusal=passes,
            image_url=fields(
                type=passes, image_url=fields(url=image_address, detail=passes), cache_control=cache_mark
            ),
            input_audio=never(PRICE),
            file=fields(
                type=passes,
                file=fields(file_data=document, filename=passes, file_id=never(STATE)),
            ),
        )
    )
)
_CHAT: dict[str, Rule] = {
    **_OPENAI,
    "messages": list_of(
        fields(
            role=passes,
            content=_CHAT_CONTENT,
            name=passes,
            tool_calls=passes,
            tool_call_id=passes,
            function_call=passes,
            refusal=passes,
            reasoning=passes,
            reasoning_content=passes,
            reasoning_details=passes,
            annotations=passes,
            cache_control=cache_mark,
            audio=never(STATE),
        )
    ),
    "tools": _tools("function", "custom"),
    "functions": passes,
    "function_call": passes,
    "max_tokens": limit,
    "max_completion_tokens": limit,
    "n": only(1, reason=MANY),
    "stop": passes,
    "seed": passes,
    "presence_penalty": passes,
    "frequency_penalty": passes,
    "repetition_penalty": passes,
    "top_k": passes,
    "min_p": passes,
    "logit_bias": passes,
    "logprobs": passes,
    "response_format": passes,
    "reasoning_effort": passes,
    "verbosity": passes,
    "modalities": only(["text"], reason=PRICE),
    "audio": never(PRICE),
    "prediction": never(PRICE),
    "web_search_options": never(HOSTED),
}

_RESPONSES_CONTENT = text_or(
    list_of(
        by_type(
            text=passes,
            input_text=passes,
            output_text=passes,
            reasoning_text=passes,
            summary_text=passes,
            refusal=passes,
            encrypted_content=passes,
            input_image=fields(type=passes, image_url=image_address, detail=passes, file_id=never(STATE)),
            input_file=fields(
                type=passes,
                file_data=document,
                filename=passes,
                file_url=never(ADDRESS),
                file_id=never(STATE),
            ),
        )
    )
)


def _item(value: Any, where: str, inline: Inline) -> Any:
    """An item of a conversation, with the files in what it says or what a tool gave."""
    return {
        name: _RESPONSES_CONTENT(inner, f"{where}.{name}", inline)
        if name in ("content", "output") and isinstance(inner, list)
        else inner
        for name, inner in value.items()
    }


_ITEMS = (
    "message",
    "agent_message",
    "reasoning",
    "compaction",
    "compaction_trigger",
    "context_compaction",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "tool_search_call",
    "tool_search_output",
)
_RESPONSES: dict[str, Rule] = {
    **_OPENAI,
    "input": text_or(
        list_of(by_type("message", **dict.fromkeys(_ITEMS, _item), item_reference=never(STATE)))
    ),
    "instructions": passes,
    "tools": _tools("function", "custom", "local_shell"),
    "max_output_tokens": limit,
    "max_tool_calls": passes,
    "reasoning": passes,
    "text": passes,
    "truncation": passes,
    "include": passes,
    "client_metadata": passes,
    "previous_response_id": never(STATE),
    "conversation": never(STATE),
    "prompt": never(STATE),
}


def _blocks(value: Any, where: str, inline: Inline) -> Any:
    return _MESSAGES_CONTENT(value, where, inline)


def _source(data: Rule) -> Rule:
    return by_type(
        base64=fields(type=passes, media_type=passes, data=data),
        text=fields(type=passes, media_type=passes, data=passes),
        content=fields(type=passes, content=_blocks),
        url=never(ADDRESS),
        file=never(STATE),
    )


def _marked(**rules: Rule) -> Rule:
    return fields(type=passes, cache_control=cache_mark, **rules)


_MESSAGES_CONTENT = text_or(
    list_of(
        by_type(
            text=_marked(text=passes, citations=passes),
            thinking=passes,
            redacted_thinking=passes,
            image=_marked(source=_source(image)),
            document=_marked(source=_source(document), title=passes, context=passes, citations=passes),
            search_result=_marked(source=passes, title=passes, content=_blocks, citations=passes),
            tool_use=_marked(id=passes, name=passes, input=passes, caller=passes),
            tool_result=_marked(tool_use_id=passes, content=_blocks, is_error=passes),
            tool_reference=_marked(tool_name=passes),
            compaction=_marked(content=passes),
            container_upload=never(STATE),
        )
    )
)


def _clearing(value: Any, where: str, inline: Inline) -> Any:
    """Older parts may be left out at the provider; a summary there would be another call."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    if not str(kind).startswith("clear_"):
        raise refused(f"{where} of the type {kind!r}", HOSTED)
    return value


_MESSAGES: dict[str, Rule] = {
    "model": passes,
    "messages": list_of(fields(role=passes, content=_MESSAGES_CONTENT)),
    "system": _MESSAGES_CONTENT,
    "max_tokens": limit,
    "stream": passes,
    "stop_sequences": passes,
    "temperature": passes,
    "top_p": passes,
    "top_k": passes,
    "tools": _tools("custom", "bash_", "text_editor_", "memory_"),
    "tool_choice": passes,
    "thinking": fields(type=passes, budget_tokens=limit, display=passes),
    "output_config": fields(effort=passes, format=passes, task_budget=passes),
    "output_format": passes,
    "metadata": passes,
    "cache_control": cache_mark,
    "context_management": fields(edits=list_of(_clearing)),
    "service_tier": only("auto", "standard_only", reason=PRICE),
    "speed": only("standard", reason=PRICE),
    "inference_geo": only("global", reason=PRICE),
    "container": never(STATE),
    "mcp_servers": never(HOSTED),
}


def _google_parts(value: Any, where: str, inline: Inline) -> Any:
    return list_of(_GOOGLE_PART)(value, where, inline)


def _inline_data(value: Any, where: str, inline: Inline) -> Any:
    kind = str(value.get("mimeType", "")) if isinstance(value, Mapping) else ""
    if kind.startswith(("audio/", "video/")):
        raise refused(where, PRICE)
    data = image if kind.startswith("image/") else document
    return fields(mimeType=passes, data=data, displayName=passes)(value, where, inline)


_GOOGLE_PART = fields(
    text=passes,
    thought=passes,
    thoughtSignature=passes,
    functionCall=passes,
    functionResponse=fields(
        id=passes,
        name=passes,
        response=passes,
        parts=_google_parts,
        willContinue=passes,
        scheduling=passes,
    ),
    inlineData=_inline_data,
    mediaResolution=passes,
    fileData=never(ADDRESS),
)
_GOOGLE_CONTENT = fields(role=passes, parts=_google_parts)


def _declarations(value: Any, where: str, inline: Inline) -> Any:
    declared = value.get("functionDeclarations") if isinstance(value, Mapping) else None
    return {"functionDeclarations": declared} if declared else None


_GENERATE: dict[str, Rule] = {
    "contents": list_of(_GOOGLE_CONTENT),
    "systemInstruction": text_or(_GOOGLE_CONTENT),
    "tools": list_of(_declarations),
    "toolConfig": passes,
    "safetySettings": passes,
    "labels": passes,
    "cachedContent": never(STATE),
    "generationConfig": fields(
        temperature=passes,
        topP=passes,
        topK=passes,
        candidateCount=only(1, reason=MANY),
        maxOutputTokens=limit,
        stopSequences=passes,
        responseMimeType=passes,
        responseSchema=passes,
        responseJsonSchema=passes,
        responseModalities=only(["TEXT"], reason=PRICE),
        thinkingConfig=fields(includeThoughts=passes, thinkingBudget=whole, thinkingLevel=passes),
        seed=passes,
        presencePenalty=passes,
        frequencyPenalty=passes,
        responseLogprobs=passes,
        logprobs=passes,
        mediaResolution=passes,
    ),
}

_FIELDS: dict[Wire, dict[str, Rule]] = {
    "chat": _CHAT,
    "responses": _RESPONSES,
    "messages": _MESSAGES,
    "generate": _GENERATE,
}
