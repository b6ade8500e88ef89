"""The proxy of a closed network: whatever host a plain HTTP request names, it answers itself.

Servers are pointed at it by JOURNEYMAN_UPSTREAM_PROXY, so a test can have hosts with public names.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class UpstreamProxy:
    def __init__(self) -> None:
        self.asked: list[str] = []
        """The addresses that were asked for, in their order."""
        self.answers = threading.Event()
        """Cleared, it leaves every request without an answer until it is set."""
        self.answers.set()
        self.url = ""


@contextmanager
def upstream_proxy() -> Iterator[UpstreamProxy]:
    proxy = UpstreamProxy()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            proxy.asked.append(self.path)
            proxy.answers.wait()
            body = f"from {urlsplit(self.path).hostname}\n".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.answers.set()
        server.shutdown()
        server.server_close()
