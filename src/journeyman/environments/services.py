"""Starts the programs that run in a sandbox beside checks and agents: a database, a cache, a web server.

They belong to the sandbox and end with it. One that does not start is a problem of the environment, which the
order reports with the service's last lines; it does not fail the order.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from journeyman.environments.plan import Service
from journeyman.sandboxes.base import Sandbox

_LAUNCH_SECONDS = 30.0
_PROBE_SECONDS = 10.0
"""How long the `ready` command may take; one that hangs is asked again."""
_SETTLE_SECONDS = 0.3
"""A service without `ready` that lives so long has started."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_SHOWN_LINES = 20
_SHOWN_CHARACTERS = 4_000

# The beginning of the output is kept in a file, 8 MB at the most; after that it is read and dropped, because
# a service that nobody reads would stop, and one that writes without end would fill the disk. `dd` writes
# what it has read at once, where `head` would hold it back.
_LAUNCH = """\
place=$(mktemp -d "${TMPDIR:-/tmp}/service.XXXXXX") || exit
{
  { bash -c "$1"; echo $? >"$place/code"; mv "$place/code" "$place/ended"; } 2>&1 |
    { dd of="$place/output" bs=4k count=2000 status=none; exec cat >/dev/null; }
} </dev/null >/dev/null 2>&1 &
printf %s "$place"
"""


@dataclass(frozen=True, kw_only=True)
class ServiceStart:
    """How the start of one service ended."""

    service: Service
    problem: str = ""
    """Why it cannot be used, in a sentence; empty when it runs."""
    output: str = ""
    """Its last lines."""
    duration_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.problem


_Starting = asyncio.Task[tuple[ServiceStart, ...]]
_started: WeakKeyDictionary[Sandbox, dict[tuple[Service, ...], _Starting]] = WeakKeyDictionary()


async def start_services(
    sandbox: Sandbox, services: tuple[Service, ...], env: Mapping[str, str], *, workdir: str = "."
) -> tuple[ServiceStart, ...]:
    """Start the services one after the other, once for each sandbox; who comes later gets the same answer.

    Raises SandboxLost if the sandbox is gone.
    """
    if not services:
        return ()
    known = _started.setdefault(sandbox, {})
    if services not in known:
        starting = asyncio.create_task(_start_all(sandbox, services, env, workdir))
        starting.add_done_callback(lambda task: _forget_failed(task, known, services))
        known[services] = starting
    return await asyncio.shield(known[services])


def runs_in_background(service: Service) -> bool:
    """Whether it goes on running: it says when it is ready, or ends with `&`, which counts for all of it."""
    return service.ready is not None or _without_ampersand(service.command) != service.command.rstrip()


def _forget_failed(
    task: _Starting, known: dict[tuple[Service, ...], _Starting], services: tuple[Service, ...]
) -> None:
    if task.cancelled() or task.exception() is not None:
        known.pop(services, None)


async def _start_all(
    sandbox: Sandbox, services: tuple[Service, ...], env: Mapping[str, str], workdir: str
) -> tuple[ServiceStart, ...]:
    # In their order: a later one may need an earlier one.
    return tuple([await _start(sandbox, service, env, workdir) for service in services])


async def _start(sandbox: Sandbox, service: Service, env: Mapping[str, str], workdir: str) -> ServiceStart:
    began = time.monotonic()
    run = _in_background if runs_in_background(service) else _to_its_end
    problem, output = await run(sandbox, service, env, workdir)
    return ServiceStart(
        service=service,
        problem=problem,
        output=_last_lines(output),
        duration_seconds=time.monotonic() - began,
    )


async def _to_its_end(
    sandbox: Sandbox, service: Service, env: Mapping[str, str], workdir: str
) -> tuple[str, str]:
    completed = await sandbox.execute_command(service.command, timeout=service.timeout, cwd=workdir, env=env)
    if completed.timed_out:
        problem = (
            f"`{_short(service.command)}` did not end within {service.timeout:g} s and was stopped. "
            "End it with '&', or say with 'ready' when it can be used, and it goes on running."
        )
        return problem, completed.output
    if not completed.ok:
        return f"`{_short(service.command)}` failed with exit code {completed.exit_code}.", completed.output
    return "", completed.output


async def _in_background(
    sandbox: Sandbox, service: Service, env: Mapping[str, str], workdir: str
) -> tuple[str, str]:
    command = _without_ampersand(service.command)
    launched = await sandbox.execute_command(
        ["bash", "-c", _LAUNCH, "service", command], timeout=_LAUNCH_SECONDS, cwd=workdir, env=env
    )
    if not launched.ok:
        return f"`{_short(command)}` cannot be started.", launched.output
    place = launched.output
    problem = await _wait_until_ready(sandbox, service, place, env, workdir)
    tail = await sandbox.execute_command(
        ["tail", "-c", str(_SHOWN_CHARACTERS), f"{place}/output"], timeout=_LAUNCH_SECONDS
    )
    return problem, tail.output if tail.ok else ""


async def _wait_until_ready(
    sandbox: Sandbox, service: Service, place: str, env: Mapping[str, str], workdir: str
) -> str:
    """Why it is not ready; empty when it is."""
    name, said = _short(_without_ampersand(service.command)), ""
    deadline = time.monotonic() + (_SETTLE_SECONDS if service.ready is None else service.timeout)
    pause = _FIRST_PAUSE
    while (left := deadline - time.monotonic()) > 0:
        if service.ready is not None:
            seconds = min(_PROBE_SECONDS, left)
            probe = await sandbox.execute_command(service.ready, timeout=seconds, cwd=workdir, env=env)
            if probe.ok:
                return ""
            said = _last_lines(probe.output).rpartition("\n")[2]
        # One that ended well may have gone to the background by itself, as daemons do.
        if code := await _exit_code(sandbox, place):
            return f"`{name}` ended with exit code {code} before it was ready."
        await asyncio.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, _LONGEST_PAUSE)
    if service.ready is None:
        code = await _exit_code(sandbox, place)
        return f"`{name}` ended with exit code {code} at once." if code else ""
    because = f" It says: {said}" if said else ""
    return f"`{name}` was not ready after {service.timeout:g} s: `{_short(service.ready)}` fails.{because}"


async def _exit_code(sandbox: Sandbox, place: str) -> int:
    """0 as long as it runs, too."""
    try:
        written = await sandbox.read_file(f"{place}/ended", limit=10)
    except FileNotFoundError:
        return 0
    text = written.decode(errors="replace").strip()
    return int(text) if text.isascii() and text.isdecimal() else 0


def _without_ampersand(command: str) -> str:
    stripped = command.rstrip()
    if stripped.endswith("&") and not stripped.endswith(("&&", "\\&", ">&")):
        return stripped[:-1].rstrip()
    return stripped


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 100 else f"{line[:99]}…"


def _last_lines(output: str) -> str:
    lines = output[-_SHOWN_CHARACTERS:].strip().splitlines()
    return "\n".join(line.rstrip() for line in lines[-_SHOWN_LINES:])
