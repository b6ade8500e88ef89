"""Internet access for a jail, without access to the host's loopback.

slirp4netns forwards the jail's packets as an ordinary program of the server's user, and refuses the host's
loopback addresses. If the host's network were shared instead, the agent could reach everything that listens
there, Journeyman's own API included. Addresses of the local network stay reachable.
"""

import asyncio
import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from journeyman.errors import SandboxUnavailable

INSTALL = "For a network in the sandbox install it: apt-get install slirp4netns."
RESOLVER = "10.0.2.3"
"""Where slirp4netns answers DNS queries, with the host's resolver."""
_START_SECONDS = 10.0
_NS_GET_USERNS = 0xB701
"""The kernel's number for asking a namespace which user namespace owns it."""


class Network:
    """The connection of one jail; it ends together with the process that opened it."""

    def __init__(self, process: subprocess.Popen[bytes], exit_fd: int) -> None:
        self._process = process
        self._exit_fd = exit_fd

    def close(self) -> None:
        os.close(self._exit_fd)  # slirp4netns exits when it is closed
        self._process.wait(_START_SECONDS)


async def connect(jail_pid: int) -> Network:
    """Connect the jail whose bubblewrap is this process."""
    network, ready = _start(jail_pid)
    try:
        async with asyncio.timeout(_START_SECONDS):
            is_up = await _answer(ready)
    except TimeoutError:
        is_up = b""
    finally:
        os.close(ready)
    if not is_up:
        network.close()
        raise SandboxUnavailable(
            "slirp4netns could not connect the sandbox",
            hint="Let this user open /dev/net/tun, or set JOURNEYMAN_SANDBOX_NETWORK=none.",
        )
    return network


def _start(jail_pid: int) -> tuple[Network, int]:
    """The connection, and a descriptor on which slirp4netns writes a byte when it is up."""
    program = shutil.which("slirp4netns")
    if program is None:
        raise SandboxUnavailable("slirp4netns is not installed", hint=INSTALL)
    inside = Path(f"/proc/{jail_pid}/task/{jail_pid}/children").read_text().split()[0]
    exit_read, exit_write = os.pipe()
    ready, ready_write = os.pipe()
    arguments = [
        "--configure",
        "--disable-host-loopback",
        f"--exit-fd={exit_read}",
        f"--ready-fd={ready_write}",
    ]
    inherited = [exit_read, ready_write]
    if os.geteuid() != 0:
        inherited.append(_owner_of(inside))
        arguments.append(f"--userns-path=/proc/self/fd/{inherited[-1]}")
    try:
        process = subprocess.Popen(
            [program, *arguments, inside, "tap0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=inherited,
            env={},
            start_new_session=True,
        )
    finally:
        for descriptor in inherited:
            os.close(descriptor)
    return Network(process, exit_write), ready


def _owner_of(inside: str) -> int:
    """The user namespace that the jail's network belongs to; the jail itself sits in one further in."""
    network = os.open(f"/proc/{inside}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(network, _NS_GET_USERNS)
    finally:
        os.close(network)


async def _answer(descriptor: int) -> bytes:
    """The first byte that comes, or nothing when the other side closes without one."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, 1)
