"""A model on loopback for benchmarks: speaks OpenAI's chat completions, keeps the time of every request.

    python bench/model.py --calls 50 --latency 0.2

The address is its first line of output. It is a process of its own and as lean as it can be, so that what is
measured is the one who asks. It streams or not, as it is asked to; `GET /seen` tells what it saw and forgets.
"""

import argparse
import asyncio
import json
import re
import time
from dataclasses import asdict, dataclass, field
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_PLAN = {
    "reasoning": "There is one thing to do.",
    "subtasks": [{"title": "Do it", "instructions": "Write it down."}],
}
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""How mini-swe-agent is told that the work is done."""


@dataclass(frozen=True)
class Behaviour:
    calls: int
    latency: float
    command: str


@dataclass
class Seen:
    """The clock is the machine's monotonic one, so other processes can compare their own with it."""

    asked: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)


class _Conversation(asyncio.Protocol):
    def __init__(self, behaviour: Behaviour, seen: Seen) -> None:
        self._behaviour = behaviour
        self._seen = seen
        self._incoming = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._incoming += data
        head, found, rest = self._incoming.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if not found or len(rest) < size:
            return
        now = time.monotonic()
        self._incoming = rest[size:]
        if head.startswith(b"GET"):
            self._send("application/json", json.dumps(asdict(self._seen)))
            self._seen.asked.clear()
            self._seen.answered.clear()
            return
        self._seen.asked.append(now)
        asyncio.get_running_loop().call_later(self._behaviour.latency, self._answer, json.loads(rest[:size]))

    def _answer(self, request: dict[str, Any]) -> None:
        message = _message(request, self._behaviour)
        if request.get("stream"):
            self._send("text/event-stream", _stream(message))
        else:
            self._send("application/json", json.dumps(_completion(message)))
        self._seen.answered.append(time.monotonic())

    def _send(self, kind: str, text: str) -> None:
        body = text.encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


def _message(request: dict[str, Any], behaviour: Behaviour) -> dict[str, Any]:
    """So many shell calls, by whatever name the shell is offered, then the end; a plan to whoever plans."""
    offered = [tool["function"]["name"] for tool in request.get("tools", [])]
    given = sum(message["role"] == "assistant" for message in request["messages"])
    if "deliver" in offered:
        return _call("deliver", _PLAN, given)
    shell = next(name for name in ("shell", "bash") if name in offered)
    if given < behaviour.calls:
        # No two calls are the same: an agent may notice when a model repeats itself.
        return _call(shell, {"command": f"{behaviour.command} # {given}"}, given)
    return _call(shell, {"command": _SUBMIT}, given) if shell == "bash" else {"content": "Done."}


def _call(name: str, arguments: dict[str, Any], number: int) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return {"content": None, "tool_calls": [call]}


_BASE = {"id": "c1", "created": 1, "model": "gpt-5.5"}
_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _completion(message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": _reason(message)}
    return {**_BASE, "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _stream(message: dict[str, Any]) -> str:
    base = {**_BASE, "object": "chat.completion.chunk"}
    said = {"index": 0, "delta": {"role": "assistant", **message}, "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": _reason(message)}
    frames = [
        {**base, "choices": [said]},
        {**base, "choices": [ended]},
        {**base, "choices": [], "usage": _USAGE},
    ]
    return "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames) + "data: [DONE]\n\n"


def _reason(message: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


async def _serve(behaviour: Behaviour) -> None:
    seen = Seen()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Conversation(behaviour, seen), "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--command", default="true")
    asyncio.run(_serve(Behaviour(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
