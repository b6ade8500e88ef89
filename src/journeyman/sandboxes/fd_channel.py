"""Passes open files through the wall of a sandbox, so that bytes need no one to carry them.

A socket belongs to the network it was made in, whoever holds it. So the supervisor makes connections and
listening sockets inside and hands them out here, and programs are started on pipes whose other ends stay
with us: the kernel moves the bytes and makes a fast writer wait for a slow reader.
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

    def lend(self, request: int, descriptors: Sequence[int]) -> None:
        """Send open files ahead of the request that uses them."""
        try:
            socket.send_fds(self._end, [request.to_bytes(_TAG_BYTES)], list(descriptors))
        except OSError as error:
            raise SandboxLost(f"the sandbox takes no open files: {error}", hint="Try again.") from None

    def take(self, request: int) -> socket.socket:
        """The socket that came with the answer to a request. Nothing but a TCP socket is accepted."""
        while True:
            try:
                tag, descriptors, _, _ = socket.recv_fds(self._end, _TAG_BYTES, 8)
            except OSError:
                tag, descriptors = b"", []
            if not tag:
                raise SandboxLost("the sandbox handed out no connection", hint="Try again.")
            if int.from_bytes(tag) == request and len(descriptors) == 1:
                return _tcp_socket(descriptors[0])
            for descriptor in descriptors:  # nobody waits for these any more
                os.close(descriptor)

    def close(self) -> None:
        self._end.close()


def _tcp_socket(descriptor: int) -> socket.socket:
    with contextlib.suppress(OSError):
        handed = socket.socket(fileno=descriptor)
        if (handed.family, handed.type) == (socket.AF_INET, socket.SOCK_STREAM):
            handed.setblocking(False)
            return handed
        handed.detach()
    os.close(descriptor)
    raise SandboxLost("the sandbox handed out something that is no connection", hint="Try again.")
