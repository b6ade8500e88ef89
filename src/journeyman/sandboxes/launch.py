"""Start a supervisor, in a jail unless isolation is off.

Nothing of the server's environment is inherited: what a command finds in its own is listed here.
"""

import asyncio
import contextlib
import importlib.util
import marshal
import os
import shutil
import socket
import subprocess
from functools import cache
from pathlib import Path

from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes import jail, layer_mounts, seccomp
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.identity import jail_uid
from journeyman.sandboxes.scratch import Scratch
from journeyman.settings import Settings

MARK = "JM_SANDBOX"
"""Variable that marks the processes of a sandbox: home, order and kind of sandbox."""
INSTALL = "Install it: apt-get install bubblewrap (0.8 or newer)."


def mark_of(tag: str, spec: SandboxSpec) -> str:
    role = "rw" if spec.writable else "ro"
    kind = role if spec.purpose == "work" else spec.purpose
    return f"{tag}:{spec.order_id}:{kind}:"


def launch(
    settings: Settings,
    spec: SandboxSpec,
    scratch: Scratch | None,
    connection: socket.socket,
    fd_channel: socket.socket,
    *,
    mark: str,
    has_group: bool,
    has_overlays: bool = False,
) -> subprocess.Popen[bytes]:
    """Start the supervisor with its ends of the two sockets. Without `scratch` there is no jail.

    `has_group`: a control group limits memory and processes, so no resource limits are set.
    `has_overlays`: layers can be mounted so that the sandbox can write to them.
    """
    jailed = scratch is not None
    if not spec.tree.is_dir():
        raise SandboxUnavailable(f"{spec.tree} is not there", hint="The order's workspace was removed.")
    bubblewrap = shutil.which("bwrap") if jailed else None
    if jailed and not bubblewrap:
        raise SandboxUnavailable("bubblewrap is not installed", hint=INSTALL)
    uid = jail_uid(spec.order_id) if jailed else None
    memory = 0 if has_group else spec.limits.memory_mb * 1024 * 1024
    # RLIMIT_NPROC counts all processes of the user: without a jail those outside the sandbox too.
    processes = 0 if has_group or not jailed else spec.limits.processes
    with contextlib.ExitStack() as stack:
        inherited: list[int] = []

        def memory_file(content: bytes) -> int:
            inherited.append(_memory_file(content))
            stack.callback(os.close, inherited[-1])
            return inherited[-1]

        def python(name: str) -> list[str]:
            code = memory_file(_bytecode(name))
            return [jail.python_executable(), "-I", "-S", f"/proc/self/fd/{code}"]

        program = [*python("supervisor.py"), str(uid or 0), str(memory), str(processes)]
        if scratch is not None:
            user, group = (uid, uid) if uid else (os.getuid(), os.getgid())
            is_overlaid = bool(spec.layers) and has_overlays
            refused = seccomp.filter_program()
            program[:0] = jail.arguments(
                spec,
                scratch,
                shown=settings.sandbox_paths,
                as_root=uid is not None,
                files={k: memory_file(v) for k, v in jail.small_files(user, group, spec.network).items()},
                filter_fd=memory_file(refused) if refused else None,
                workspace=scratch.workspace if is_overlaid else None,
                layers=() if is_overlaid else layer_mounts.read_only_arguments(spec),
            )
            if is_overlaid:
                plan = memory_file(layer_mounts.launch_plan(spec, scratch, uid))
                program[:1] = [*python("overlay_launcher.py"), str(plan), str(bubblewrap)]
                bubblewrap = None  # the launcher becomes it
        try:
            return subprocess.Popen(
                program,
                executable=bubblewrap,
                stdin=connection.fileno(),
                stdout=fd_channel.fileno(),
                stderr=subprocess.PIPE,
                cwd=spec.tree,
                env=_environment(settings, spec, mark, jailed=jailed),
                pass_fds=inherited,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxUnavailable(
                f"the sandbox cannot be started: {error}", hint="Run `jm doctor`."
            ) from None


async def can_mount_overlays(scratch: Scratch) -> bool:
    """Whether this user can mount an overlay on the disk of the home, found out by mounting one."""
    code, plan = (
        _memory_file(_bytecode("overlay_launcher.py")),
        _memory_file(layer_mounts.probe_plan(scratch)),
    )
    try:
        process = await asyncio.create_subprocess_exec(
            *(jail.python_executable(), "-I", "-S", f"/proc/self/fd/{code}", str(plan)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            pass_fds=(code, plan),
        )
        return await process.wait() == 0
    finally:
        os.close(code)
        os.close(plan)


def _environment(settings: Settings, spec: SandboxSpec, mark: str, *, jailed: bool) -> dict[str, str]:
    # Else every test run of an agent leaves bytecode in the workspace; checks run in a throwaway checkout.
    no_bytecode = {"PYTHONDONTWRITEBYTECODE": "1"} if spec.purpose == "work" else {}
    return {
        **no_bytecode,
        "PATH": _search_path(settings, spec),
        "HOME": jail.HOME if jailed else str(spec.tree),
        "USER": "agent",
        "LOGNAME": "agent",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        MARK: mark,
    }


def _search_path(settings: Settings, spec: SandboxSpec) -> str:
    usual = dict(spec.env).get("PATH") or jail.search_path(settings.sandbox_paths)
    return ":".join([*spec.path, usual])


@cache
def _bytecode(name: str) -> bytes:
    """A program of this room: compiling the supervisor in each jail would cost a quarter of the start-up."""
    code = compile(Path(__file__).with_name(name).read_bytes(), name, "exec", optimize=2)
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def _memory_file(content: bytes) -> int:
    descriptor = os.memfd_create("journeyman", os.MFD_CLOEXEC)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
