"""Agents' clients as the door sees them: what each sends, and what each makes of an answer."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from journeyman.gateway.accounts import Account, OnCall, ignore_call
from journeyman.gateway.door.door import Door
from journeyman.gateway.wires.base import Wire

WIRES: tuple[Wire, ...] = ("chat", "responses", "messages", "generate")
PATHS: dict[Wire, str] = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "generate": "/v1beta/models/any-model:generateContent",
}
SHELLS: dict[Wire, str] = {
    "chat": "bash",
    "responses": "exec_command",
    "messages": "Bash",
    "generate": "run_shell_command",
}
"""What the agents of each wire call their shell."""


def account(model: str, *, role: str = "build", on_call: OnCall = ignore_call, **fields: Any) -> Account:
    given = {"order_id": "wo-00000001", "round": 1, "step": "build", "agent": "some-agent", **fields}
    return Account(model=model, role=role, on_call=on_call, **given)


@asynccontextmanager
async def client_of(door: Door) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.AsyncHTTPTransport(uds=str(door.path))
    async with httpx2.AsyncClient(transport=transport, base_url="http://door", timeout=30) as client:
        yield client


@dataclass(frozen=True)
class Heard:
    """An answer as an agent's client reads it."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    finish: str = ""


def schema(*names: str, required: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(required),
    }


def request(
    wire: Wire, prompt: str, *, tools: dict[str, dict[str, Any]] | None = None, stream: bool = False
) -> dict[str, Any]:
    """A first request. `tools` are names and schemas; without it, only the wire's own shell is offered."""
    if tools is None:
        name = SHELLS[wire]
        tools = {name: schema("cmd" if wire == "responses" else "command")}
    body: dict[str, Any]
    if wire == "generate":
        declared = [{"name": name, "parametersJsonSchema": given} for name, given in tools.items()]
        body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
        return body | ({"tools": [{"functionDeclarations": declared}]} if tools else {})
    offered: list[dict[str, Any]]
    if wire == "chat":
        offered = [
            {"type": "function", "function": {"name": n, "parameters": given}} for n, given in tools.items()
        ]
        body = {"messages": [{"role": "system", "content": "Be good."}, {"role": "user", "content": prompt}]}
    elif wire == "responses":
        offered = [{"type": "function", "name": n, "parameters": given} for n, given in tools.items()]
        content = [{"type": "input_text", "text": prompt}]
        body = {
            "instructions": "Be good.",
            "input": [{"type": "message", "role": "user", "content": content}],
        }
    else:
        offered = [{"name": name, "input_schema": given} for name, given in tools.items()]
        body = {"max_tokens": 1000, "messages": [{"role": "user", "content": prompt}]}
    return {"model": "any-model", **body, "stream": stream} | ({"tools": offered} if tools else {})


def answered(wire: Wire, body: dict[str, Any], heard: Heard, output: str) -> dict[str, Any]:
    """The next request: the same, with what was heard and what the calls gave."""
    calls = list(enumerate(heard.calls))
    if wire == "chat":
        said = [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for n, (name, given) in calls
        ]
        more = [{"role": "assistant", "content": heard.text, "tool_calls": said}]
        more += [{"role": "tool", "tool_call_id": f"c{n}", "content": output} for n, _ in calls]
        return {**body, "messages": body["messages"] + more}
    if wire == "responses":
        items: list[dict[str, Any]] = [{"type": "reasoning", "summary": []}]
        items += [
            {"type": "function_call", "call_id": f"c{n}", "name": name, "arguments": json.dumps(given)}
            for n, (name, given) in calls
        ]
        items += [{"type": "function_call_output", "call_id": f"c{n}", "output": output} for n, _ in calls]
        return {**body, "input": body["input"] + items}
    if wire == "messages":
        blocks = [{"type": "tool_use", "id": f"c{n}", "name": name, "input": v} for n, (name, v) in calls]
        results: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": f"c{n}", "content": [{"type": "text", "text": output}]}
            for n, _ in calls
        ]
        results.append({"type": "text", "text": "<system-reminder>Be good.</system-reminder>"})
        more = [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
        return {**body, "messages": body["messages"] + more}
    made = [{"functionCall": {"name": name, "args": given}} for _, (name, given) in calls]
    gave = [{"functionResponse": {"name": name, "response": {"output": output}}} for _, (name, _) in calls]
    turns = [{"role": "model", "parts": made}, {"role": "user", "parts": gave}]
    return {**body, "contents": body["contents"] + turns}


async def ask(
    client: httpx2.AsyncClient, token: str, wire: Wire, body: dict[str, Any], *, stream: bool = False
) -> Heard:
    """Ask as the wire's clients do, and read the answer as they do."""
    path = PATHS[wire]
    if stream and wire == "generate":
        path = path.replace(":generateContent", ":streamGenerateContent") + "?alt=sse"
    body = body if wire == "generate" else {**body, "stream": stream}
    answer = await client.post(path, json=body, headers=headers(wire, token))
    assert answer.status_code == 200, answer.text
    if not stream:
        return READ[wire]([answer.json()])
    lines = answer.text.splitlines()
    frames = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return READ_STREAM[wire]([json.loads(frame) for frame in frames if frame != "[DONE]"])


def headers(wire: Wire, token: str) -> dict[str, str]:
    if wire == "messages":
        return {"x-api-key": token, "anthropic-version": "2023-06-01"}
    return {"x-goog-api-key": token} if wire == "generate" else {"authorization": f"Bearer {token}"}


def _chat(bodies: list[Any]) -> Heard:
    choice = bodies[0]["choices"][0]
    calls = [call["function"] for call in choice["message"].get("tool_calls", [])]
    return Heard(
        choice["message"]["content"] or "",
        [(call["name"], json.loads(call["arguments"])) for call in calls],
        choice["finish_reason"],
    )


def _chat_stream(frames: list[Any]) -> Heard:
    choices = [frame["choices"][0] for frame in frames if frame["choices"]]
    deltas = [choice["delta"] for choice in choices]
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for call in (call for delta in deltas for call in delta.get("tool_calls", [])):
        place, function = call["index"], call["function"]
        names.setdefault(place, function.get("name", ""))
        arguments[place] = arguments.get(place, "") + function["arguments"]
    return Heard(
        "".join(delta.get("content") or "" for delta in deltas),
        [(name, json.loads(arguments[place])) for place, name in names.items()],
        choices[-1]["finish_reason"],
    )


def _responses(bodies: list[Any]) -> Heard:
    output = bodies[0]["output"]
    said = [part["text"] for item in output if item["type"] == "message" for part in item["content"]]
    calls = [item for item in output if item["type"] == "function_call"]
    return Heard(
        "".join(said),
        [(call["name"], json.loads(call["arguments"])) for call in calls],
        bodies[0]["status"],
    )


def _responses_stream(frames: list[Any]) -> Heard:
    assert frames[0]["type"] == "response.created"
    said = "".join(frame["delta"] for frame in frames if frame["type"] == "response.output_text.delta")
    done = [frame["item"] for frame in frames if frame["type"] == "response.output_item.done"]
    heard = _responses([frames[-1]["response"]])
    assert heard.text == said
    assert frames[-1]["response"]["output"] == done
    return heard


def _messages(bodies: list[Any]) -> Heard:
    content = bodies[0]["content"]
    return Heard(
        "".join(block["text"] for block in content if block["type"] == "text"),
        [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"],
        bodies[0]["stop_reason"],
    )


def _messages_stream(frames: list[Any]) -> Heard:
    assert [frames[0]["type"], frames[-1]["type"]] == ["message_start", "message_stop"]
    blocks: dict[int, dict[str, Any]] = {}
    finish = ""
    for frame in frames:
        match frame["type"]:
            case "content_block_start":
                blocks[frame["index"]] = {**frame["content_block"], "written": ""}
            case "content_block_delta":
                delta = frame["delta"]
                blocks[frame["index"]]["written"] += delta.get("text") or delta.get("partial_json")
            case "message_delta":
                finish = frame["delta"]["stop_reason"]
    ordered = [blocks[index] for index in sorted(blocks)]
    return Heard(
        "".join(block["written"] for block in ordered if block["type"] == "text"),
        [(b["name"], json.loads(b["written"])) for b in ordered if b["type"] == "tool_use"],
        finish,
    )


def _generate(frames: list[Any]) -> Heard:
    candidates = [frame["candidates"][0] for frame in frames]
    parts = [part for candidate in candidates for part in candidate["content"]["parts"]]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return Heard(
        "".join(part.get("text", "") for part in parts),
        [(call["name"], call["args"]) for call in calls],
        candidates[-1]["finishReason"],
    )


READ = {"chat": _chat, "responses": _responses, "messages": _messages, "generate": _generate}
READ_STREAM = {
    "chat": _chat_stream,
    "responses": _responses_stream,
    "messages": _messages_stream,
    "generate": _generate,
}
