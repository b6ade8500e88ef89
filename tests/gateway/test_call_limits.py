"""An answer that does not end is cut off, whichever provider gives it and whoever asks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from journeyman.errors import AgentFailed, Transient
from journeyman.gateway.gateway import Gateway, ModelCall
from journeyman.gateway.limits import CallLimits
from journeyman.settings import Settings
from tests.gateway.calls import ask, prompted, settings_with, write_script

ARGUMENTS = {
    "openai/endless": 'data: {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c", '
    '"function": {"name": "shell", "arguments": "more and more"}}]}}]}\n\n',
    "openai/no-line-end": "data: and on and on ",
    "anthropic/endless": 'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0, '
    '"delta": {"type": "input_json_delta", "partial_json": "more and more"}}\n\n',
    "google/endless": 'data: {"candidates": [{"content": {"role": "model", '
    '"parts": [{"text": "more and more"}]}}]}\n\n',
}
OPENING = (
    'event: message_start\ndata: {"type": "message_start", "message": {"id": "m", "type": "message", '
    '"role": "assistant", "model": "x", "content": [], "stop_reason": null, "stop_sequence": null, '
    '"usage": {"input_tokens": 1, "output_tokens": 1}}}\n\n'
    'event: content_block_start\ndata: {"type": "content_block_start", "index": 0, "content_block": '
    '{"type": "tool_use", "id": "c", "name": "shell", "input": {}}}\n\n'
)


class _Endless(BaseHTTPRequestHandler):
    """Sends the same piece for as long as anybody listens."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        piece: str = self.server.piece  # type: ignore[attr-defined]
        try:
            self.wfile.write(OPENING.encode() if "content_block" in piece else b"")
            while True:
                self.wfile.write(piece.encode() * 20)
        except OSError:
            return

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@contextmanager
def endless(home: Path, piece: str) -> Iterator[Settings]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    server.piece = piece  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    addresses = {
        "OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_BASE_URL": url,
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENAI_API_KEY": "sk-some-test-key",
        "ANTHROPIC_API_KEY": "sk-some-test-key",
        "GEMINI_API_KEY": "sk-some-test-key",
    }
    try:
        yield settings_with(home, **addresses)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("model", ARGUMENTS)
async def test_an_answer_without_an_end_is_cut_off_at_its_size(home: Path, model: str) -> None:
    with endless(home, ARGUMENTS[model]) as settings:
        gateway = Gateway(settings, limits=CallLimits(30, answer_bytes=200_000))
        with pytest.raises(AgentFailed, match="more than 200,000 bytes"):
            await ask(gateway, ModelCall(model=model, messages=prompted("Go")))
        await gateway.close()


@pytest.mark.parametrize("model", ["openai/endless", "anthropic/endless"])
async def test_an_answer_without_an_end_is_cut_off_after_its_time(home: Path, model: str) -> None:
    with endless(home, ARGUMENTS[model]) as settings:
        gateway = Gateway(settings, limits=CallLimits(30, call_seconds=0.2))
        await gateway.prepare(model)
        with pytest.raises(Transient, match=r"took more than 0\.2 seconds"):
            await ask(gateway, ModelCall(model=model, messages=prompted("Go")))
        await gateway.close()


async def test_silence_is_reported_as_silence(home: Path) -> None:
    settings = settings_with(home)
    model = write_script(settings, "stalls", {"replies": [{"say": "a", "fault": "stall"}]})
    gateway = Gateway(settings, limits=CallLimits(0.05))
    with pytest.raises(Transient, match=r"silent for 0\.05 seconds"):
        await ask(gateway, ModelCall(model=model, messages=prompted("Go")))
