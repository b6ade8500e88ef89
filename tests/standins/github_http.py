"""A small HTTP server for stand-ins: one function answers everything, or says how to give no answer."""

import base64
import json
import select
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any, Literal
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def of_json(cls, status: int, document: Any, headers: dict[str, str] | None = None) -> "Reply":
        content = {"Content-Type": "application/json; charset=utf-8"}
        return cls(status, {**content, **(headers or {})}, json.dumps(document).encode())


Silence = Literal["timeout", "reset"]
Respond = Callable[[str, str, str, dict[str, str], bytes], Reply | Silence]
"""Method, path, query, headers by lower-case name, body."""


class Server(ThreadingHTTPServer):
    """Listens on a free port of loopback."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Respond) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond = respond
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is killed hangs up in the middle of a request; that is nobody's fault here."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def _handle(self) -> None:
        address = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = _decode_chunked(self.rfile)
        else:
            body = self.rfile.read(int(headers.get("content-length") or 0))
        reply = self.server.respond(self.command, unquote(address.path), address.query, headers, body)
        if isinstance(reply, Reply):
            self._send(reply)
        elif reply == "timeout":
            select.select([self.connection], [], [], 60)  # readable when the client has given up
            self.close_connection = True
        else:
            self._reset()

    do_GET = do_POST = do_PATCH = _handle

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def _reset(self) -> None:
        """Close without a goodbye: the client sees `connection reset`."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the terminal: stand-ins keep logs of their own."""


def token_of(headers: dict[str, str]) -> str | None:
    """The token of a request, in any of the three ways in which GitHub takes it."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("token", "bearer"):
        return value
    if scheme.lower() == "basic":
        return base64.b64decode(value).decode().partition(":")[2]
    return None


def _decode_chunked(stream: BufferedIOBase) -> bytes:
    body = b""
    while size := int(stream.readline().split(b";")[0], 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return body
