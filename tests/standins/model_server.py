"""A model provider on loopback that speaks OpenAI's (both), Anthropic's and Google's streaming formats.

    with ModelServer(in_order(Reply(text="Hello"), Reply(status=500))) as server:
        settings = Settings(openai_base_url=f"{server.url}/v1", …)

Every request is kept in `server.requests`. `python -m tests.standins.model_server --shell-calls 50`
runs it as a process of its own, for benchmarks; the address is its first line of output.
"""

import argparse
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

Wire = Literal["openai", "responses", "anthropic", "google"]
Break = Literal["", "cut", "half_frame", "bad_frame", "stall"]


@dataclass(frozen=True)
class Reply:
    text: str = ""
    thought: str = ""
    """What a model thinks before it speaks, signed; Anthropic's format only."""
    tools: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    """Name and arguments; arguments given as a string are sent as they are."""
    status: int = 200
    body: Any = None
    """The whole body of an error."""
    headers: Mapping[str, str] = field(default_factory=dict)
    breaks: Break = ""
    """How the stream ends after its first piece of text."""
    raw: str = ""
    """A stream, sent as it stands instead of all the above."""
    finish: str = ""
    """The wire's own word for why it ended; empty for the usual one."""
    tokens_in: Any = 100
    tokens_out: Any = 20
    tokens_cached: Any = 10
    """Counts; some providers send what is none."""

    @property
    def tokens(self) -> Any:
        counts = (self.tokens_in, self.tokens_out)
        return sum(counts) if all(isinstance(count, int) for count in counts) else self.tokens_out


@dataclass(frozen=True)
class Request:
    wire: Wire
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    client_port: int
    """Of the connection that it came by."""

    @property
    def answers(self) -> int:
        """Assistant messages in the conversation so far."""
        messages = self.body.get("messages") or self.body.get("contents") or []
        return sum(message.get("role") in ("assistant", "model") for message in messages)


Answering = Callable[[Request], Reply]


def in_order(*replies: Reply) -> Answering:
    """One reply after the other, whoever asks; the last one for ever."""
    coming = itertools.chain(replies, itertools.repeat(replies[-1]))
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        with lock:
            return next(coming)

    return answer


def shell_calls(count: int, command: str = "true") -> Answering:
    """So many shell calls, one per answer, then a last word: any number of conversations at once."""

    def answer(request: Request) -> Reply:
        if request.answers < count:
            return Reply(tools=[("shell", {"command": f"{command} # {request.answers}"})])
        return Reply(text="Done.")

    return answer


class ModelServer:
    def __init__(self, answering: Answering, *, latency_seconds: float = 0.0) -> None:
        self.requests: list[Request] = []
        self.sent: list[float] = []
        """When the answers were out, on the clock of `Request.at`."""
        self._answering = answering
        self._latency_seconds = latency_seconds
        self._released = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        if self._latency_seconds:
            time.sleep(self._latency_seconds)
        return self._answering(request)

    def stall(self) -> None:
        self._released.wait()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    owner: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        owner = self.server.owner
        wire = _wire_of(self.path)
        request = Request(
            wire, self.path, dict(self.headers), body, time.perf_counter(), self.client_address[1]
        )
        reply = owner.reply_to(request)
        if reply.status != 200:
            self._send_error_body(reply)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        frames = [reply.raw] if reply.raw else list(_FRAMES[wire](reply))
        if reply.breaks:
            self._send_broken(frames, reply.breaks)
            return
        self._chunk("".join(frames))
        self.wfile.write(b"0\r\n\r\n")
        owner.sent.append(time.perf_counter())

    def do_GET(self) -> None:
        """The lists of models."""
        owner = self.server.owner
        wire: Wire = "google" if "v1beta" in self.path else "anthropic" if "limit" in self.path else "openai"
        came = time.perf_counter()
        request = Request(wire, self.path, dict(self.headers), {}, came, self.client_address[1])
        reply = owner.reply_to(request)
        self._send_error_body(reply)

    def _send_broken(self, frames: list[str], how: Break) -> None:
        first_text = next(place for place, frame in enumerate(frames) if "partial" in frame)
        self._chunk("".join(frames[: first_text + 1]))
        if how == "stall":
            self.server.owner.stall()
        elif how == "bad_frame":
            self._chunk('event: content_block_delta\ndata: {"choices": [{"delta"\n\n')
            self._chunk("".join(frames[first_text + 1 :]))
        if how in ("half_frame", "bad_frame"):
            # A stream that ends in good order, and says nothing of being incomplete.
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _send_error_body(self, reply: Reply) -> None:
        content = json.dumps(reply.body if reply.body is not None else {"error": {"message": "no"}}).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _chunk(self, text: str) -> None:
        content = text.encode()
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: tests look at `requests`."""


def _wire_of(path: str) -> Wire:
    if path.endswith("/chat/completions"):
        return "openai"
    if path.endswith("/responses"):
        return "responses"
    return "anthropic" if "/messages" in path else "google"


def _pieces(reply: Reply) -> list[str]:
    text = f"partial {reply.text}" if reply.breaks else reply.text
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def _arguments(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _frame(data: Any, event: str = "") -> str:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n"


def _openai(reply: Reply) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "stand-in"}
        return {**base, "choices": [choice]}

    yield _frame(chunk({"role": "assistant", "content": ""}))
    for piece in _pieces(reply):
        yield _frame(chunk({"content": piece}))
    for number, (name, arguments) in enumerate(reply.tools):
        call = {"index": number, "id": f"call_{number}", "type": "function"}
        yield _frame(chunk({"tool_calls": [{**call, "function": {"name": name, "arguments": ""}}]}))
        function = {"arguments": _arguments(arguments)}
        yield _frame(chunk({"tool_calls": [{"index": number, "function": function}]}))
    yield _frame(chunk({}, reply.finish or ("tool_calls" if reply.tools else "stop")))
    usage = {
        "prompt_tokens": reply.tokens_in,
        "completion_tokens": reply.tokens_out,
        "total_tokens": reply.tokens,
        "prompt_tokens_details": {"cached_tokens": reply.tokens_cached},
    }
    yield _frame({**chunk({}), "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _responses(reply: Reply) -> Iterator[str]:
    def event(kind: str, **fields: Any) -> str:
        return _frame({"type": kind, **fields}, kind)

    response = {"id": "r1", "object": "response", "model": "stand-in", "output": []}
    yield event("response.created", response={**response, "status": "in_progress"})
    for piece in _pieces(reply):
        yield event("response.output_text.delta", output_index=0, content_index=0, delta=piece)
    content = [{"type": "output_text", "text": reply.text}]
    output: list[dict[str, Any]] = [{"type": "message", "role": "assistant", "content": content}]
    for number, (name, arguments) in enumerate(reply.tools):
        call = {"type": "function_call", "call_id": f"call_{number}", "name": name}
        output.append({**call, "arguments": _arguments(arguments)})
    for index, item in enumerate(output):
        yield event("response.output_item.done", output_index=index, item=item)
    usage = {
        "input_tokens": reply.tokens_in,
        "input_tokens_details": {"cached_tokens": reply.tokens_cached},
        "output_tokens": reply.tokens_out,
        "total_tokens": reply.tokens,
    }
    ended = {**response, "status": reply.finish or "completed", "output": output, "usage": usage}
    yield event("response.completed", response=ended)


def _anthropic(reply: Reply) -> Iterator[str]:
    usage = {"input_tokens": reply.tokens_in - reply.tokens_cached, "output_tokens": 1}
    usage |= {"cache_read_input_tokens": reply.tokens_cached, "cache_creation_input_tokens": 0}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "stand-in", "content": []}
    begun = {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _frame({"type": "message_start", "message": begun}, "message_start")
    index = 0
    if reply.thought:
        yield from _anthropic_block(
            index,
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": reply.thought},
                {"type": "signature_delta", "signature": "signed"},
            ],
        )
        index += 1
    if reply.text or reply.breaks:
        yield from _anthropic_block(
            index,
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": piece} for piece in _pieces(reply)],
        )
        index += 1
    for name, arguments in reply.tools:
        block = {"type": "tool_use", "id": f"call_{index}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": _arguments(arguments)}
        yield from _anthropic_block(index, block, [delta])
        index += 1
    reason = reply.finish or ("tool_use" if reply.tools else "end_turn")
    ending = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}}
    yield _frame({**ending, "usage": {"output_tokens": reply.tokens_out}}, "message_delta")
    yield _frame({"type": "message_stop"}, "message_stop")


def _anthropic_block(index: int, block: dict[str, Any], deltas: list[dict[str, Any]]) -> Iterator[str]:
    yield _frame(
        {"type": "content_block_start", "index": index, "content_block": block}, "content_block_start"
    )
    for delta in deltas:
        yield _frame({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
    yield _frame({"type": "content_block_stop", "index": index}, "content_block_stop")


def _google(reply: Reply) -> Iterator[str]:
    def chunk(parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}

    for piece in _pieces(reply):
        yield _frame(chunk([{"text": piece}]))
    for name, arguments in reply.tools:
        yield _frame(chunk([{"functionCall": {"name": name, "args": arguments}}]))
    usage = {
        "promptTokenCount": reply.tokens_in,
        "candidatesTokenCount": reply.tokens_out,
        "cachedContentTokenCount": reply.tokens_cached,
        "totalTokenCount": reply.tokens,
    }
    yield _frame({**chunk([{"text": ""}], reply.finish or "STOP"), "usageMetadata": usage})


_FRAMES: dict[Wire, Callable[[Reply], Iterator[str]]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "google": _google,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shell-calls", type=int, default=10)
    parser.add_argument("--command", default="true")
    parser.add_argument("--latency", type=float, default=0.0)
    chosen = parser.parse_args()
    answering = shell_calls(chosen.shell_calls, chosen.command)
    with ModelServer(answering, latency_seconds=chosen.latency) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
