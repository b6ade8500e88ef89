"""The internet for a jail that asked for it, without the machine it runs on.

slirp4netns carries the jail's packets like any program of the server's user would, and refuses this
machine's own loopback: were the host's network shared instead, whatever listens there, Journeyman's own
API included, would be open to the agent. Addresses of the local network stay reachable.
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
"""Where slirp4netns answers questions for names, with what the host's own resolver says."""
_PATIENCE_SECONDS = 10.0
_NS_GET_USERNS = 0xB701
"""The kernel's number for asking a namespace which user namespace owns it."""


class Network:
    """The connection of one jail; it ends with the process that opened it."""

    def __init__(self, process: subprocess.Popen[bytes], keeping: int) -> None:
        self._process = process
        self._keeping = keeping

    def close(self) -> None:
        os.close(self._keeping)
        self._process.wait(_PATIENCE_SECONDS)


async def connect(jail_pid: int) -> Network:
    """Connect the jail whose bubblewrap is this process."""
    network, ready = _start(jail_pid)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
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
    """The connection, and a descriptor on which it says that it is up."""
    program = shutil.which("slirp4netns")
    if program is None:
        raise SandboxUnavailable("slirp4netns is not installed", hint=INSTALL)
    inside = Path(f"/proc/{jail_pid}/task/{jail_pid}/children").read_text().split()[0]
    leaving, keeping = os.pipe()
    ready, saying = os.pipe()
    arguments = ["--configure", "--disable-host-loopback", f"--exit-fd={leaving}", f"--ready-fd={saying}"]
    lent = [leaving, saying]
    if os.geteuid() != 0:
        lent.append(_owner_of(inside))
        arguments.append(f"--userns-path=/proc/self/fd/{lent[-1]}")
    try:
        process = subprocess.Popen(
            [program, *arguments, inside, "tap0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=lent,
            env={},
            start_new_session=True,
        )
    finally:
        for descriptor in lent:
            os.close(descriptor)
    return Network(process, keeping), ready


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
