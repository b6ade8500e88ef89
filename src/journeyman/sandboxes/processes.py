"""End processes of sandboxes: a supervisor with its jail, a control group, or what a killed server left."""

import asyncio
import contextlib
import os
import signal
import subprocess
from pathlib import Path

from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes.control_groups import ControlGroup
from journeyman.sandboxes.launch import MARK

_EXIT_SECONDS = 5.0


async def wait_for_exit(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    descriptor = os.pidfd_open(process.pid)
    loop.add_reader(descriptor, done.set)
    try:
        await done.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def end_process(process: subprocess.Popen[bytes]) -> str:
    """Wait for a supervisor and its jail to exit, and kill them when they do not; returns their stderr."""
    try:
        async with asyncio.timeout(_EXIT_SECONDS):
            await wait_for_exit(process)
    except TimeoutError:
        kill_with_child(process)
        await wait_for_exit(process)
    process.wait()
    assert process.stderr is not None
    os.set_blocking(process.stderr.fileno(), False)
    with process.stderr as stderr:
        return (stderr.read() or b"").decode(errors="replace").strip()


def kill_with_child(process: subprocess.Popen[bytes]) -> None:
    """Kill a bubblewrap process. Its child goes first: as process 1 of the jail it takes all others along."""
    if process.poll() is not None:
        return  # its number may belong to another process by now
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it is ending
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    process.kill()


async def clear_group(group: ControlGroup) -> None:
    """Kill what is in a control group and remove it; the kernel may be slow to release the last process."""
    for _ in range(200):
        group.kill()
        if group.remove():
            return
        await asyncio.sleep(0.01)
    raise SandboxUnavailable(
        f"control group {group.directories[0]} cannot be removed",
        hint="A process in it does not end: see its cgroup.procs.",
    )


def kill_marked(tag: str, live_orders: set[str]) -> list[str]:
    """End processes that a sandbox of this home started for an order that is not live."""
    killed = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or _order_of(entry, tag) in live_orders | {None}:
            continue
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(int(entry.name))
            try:
                order_id = _order_of(entry, tag)  # again: the number may belong to another process by now
                if order_id is not None and order_id not in live_orders:
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    killed.append(f"process {entry.name} of {order_id}")
            finally:
                os.close(descriptor)
    return killed


def _order_of(process: Path, tag: str) -> str | None:
    try:
        environment = b"\0" + (process / "environ").read_bytes()
    except OSError:
        return None
    _, mark, rest = environment.partition(f"\0{MARK}={tag}:".encode())
    return rest.partition(b":")[0].decode(errors="replace") if mark else None
