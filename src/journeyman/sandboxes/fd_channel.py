"""The socket on which open files are passed into and out of a sandbox (SCM_RIGHTS).

A socket stays in the network namespace it was created in, whichever process holds it. So the supervisor makes
connections and listening sockets inside the jail and sends them here, and programs are started on pipes whose
other ends stay with us: the kernel moves the bytes and applies back-pressure.
"""

import contextlib
import os
import socket
from collections.abc import Sequence

from journeyman.errors import SandboxLost

_TAG_BYTES = 4


class FdChannel:
    def __init__(self, end: socket.socket) -> None:
        self._end = end
        end.setblocking(False)

    def send(self, request: int, descriptors: Sequence[int]) -> None:
        """Send open files, before the request that uses them."""
        try:
            socket.send_fds(self._end, [request.to_bytes(_TAG_BYTES)], list(descriptors))
        except OSError as error:
            raise SandboxLost(f"the sandbox accepts no open files: {error}", hint="Try again.") from None

    def receive(self, request: int) -> socket.socket:
        """The socket that belongs to the reply to a request. Nothing but a TCP socket is accepted."""
        while True:
            try:
                tag, descriptors, _, _ = socket.recv_fds(self._end, _TAG_BYTES, 8)
            except OSError:
                tag, descriptors = b"", []
            if not tag:
                raise SandboxLost("the sandbox sent no connection", hint="Try again.")
            if int.from_bytes(tag) == request and len(descriptors) == 1:
                return _tcp_socket(descriptors[0])
            for descriptor in descriptors:  # of requests that were cancelled
                os.close(descriptor)

    def close(self) -> None:
        self._end.close()


def _tcp_socket(descriptor: int) -> socket.socket:
    with contextlib.suppress(OSError):
        received = socket.socket(fileno=descriptor)
        if (received.family, received.type) == (socket.AF_INET, socket.SOCK_STREAM):
            received.setblocking(False)
            return received
        received.detach()
    os.close(descriptor)
    raise SandboxLost("the sandbox sent something that is not a connection", hint="Try again.")
