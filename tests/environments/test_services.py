"""Services run in the sandbox before checks and agents, say when they are ready, and end with it."""

import asyncio
import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.environments.plan import Service
from journeyman.environments.services import ServiceStart, start_services
from journeyman.errors import SandboxLost
from journeyman.sandboxes.base import Sandbox, SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.postgres import find_programs
from tests.sandboxes.specs import processes_of, spec_for, wait_until_gone

_ANSWERS = "exec 3<>/dev/tcp/127.0.0.1/{}"


@pytest.fixture
async def jails(home: Path) -> AsyncIterator[LocalSandboxes]:
    sandboxes = LocalSandboxes(Settings(home=home))
    yield sandboxes
    await sandboxes.close()


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    return spec_for(tmp_path)


@pytest.fixture
async def sandbox(jails: LocalSandboxes, spec: SandboxSpec) -> Sandbox:
    return await jails.setup(spec)


async def start(sandbox: Sandbox, *services: Service, **env: str) -> list[ServiceStart]:
    return list(await start_services(sandbox, services, env))


async def output_of(sandbox: Sandbox, command: str) -> str:
    return (await sandbox.execute_command(command, timeout=20)).output.strip()


async def test_a_web_server_answers_when_the_start_is_over(sandbox: Sandbox) -> None:
    await sandbox.write_file("public/hello.txt", b"good morning")
    server = Service(
        command="python3 -u -m http.server 8123 --directory public", ready=_ANSWERS.format(8123), timeout=30
    )
    [started] = await start(sandbox, server)
    assert (started.ok, started.problem) == (True, "")
    fetch = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8123/hello.txt').read().decode())"
    assert await output_of(sandbox, f"python3 -c {shlex.quote(fetch)}") == "good morning"


async def test_services_end_with_their_sandbox(
    jails: LocalSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    [started] = await start(sandbox, Service(command="sleep 1000 &"))
    assert started.ok
    running = processes_of(spec.order_id)
    assert len(running) > 2
    await jails.cleanup(spec.order_id)
    wait_until_gone(running)


@pytest.mark.parametrize("command", ["echo 'port is taken' >&2; exit 3", "echo 'port is taken'; exit 3 &"])
@pytest.mark.parametrize("ready", [None, "false"])
async def test_a_service_that_dies_is_a_problem_with_its_last_lines(
    sandbox: Sandbox, command: str, ready: str | None
) -> None:
    [started] = await start(sandbox, Service(command=command, ready=ready, timeout=30))
    assert not started.ok
    assert "exit code 3" in started.problem
    assert started.output == "port is taken"


async def test_a_service_that_is_never_ready_is_a_problem_after_its_time(sandbox: Sandbox) -> None:
    never = Service(
        command="echo warming up; exec sleep 1000", ready="echo 'connection refused'; exit 1", timeout=0.6
    )
    [started] = await start(sandbox, never)
    assert "was not ready after 0.6 s" in started.problem
    assert "connection refused" in started.problem
    assert started.output == "warming up"
    assert started.duration_seconds < 20


async def test_a_readiness_command_that_hangs_does_not_outlast_the_time(sandbox: Sandbox) -> None:
    [started] = await start(sandbox, Service(command="sleep 1000", ready="sleep 1000", timeout=0.5))
    assert "was not ready after 0.5 s" in started.problem
    assert await output_of(sandbox, "pgrep -c -x sleep") == "1"


async def test_a_daemon_that_forks_and_leaves_is_running(sandbox: Sandbox) -> None:
    daemon = "(setsid python3 -m http.server 8124 >/dev/null 2>&1 &)"
    for service in (
        Service(command=daemon, ready=_ANSWERS.format(8124), timeout=30),
        Service(command="(setsid sleep 999 >/dev/null 2>&1 &)"),
        Service(command="(setsid sleep 999 &) &"),
    ):
        [started] = await start(sandbox, service)
        assert started.problem == ""
    assert (await sandbox.execute_command(_ANSWERS.format(8124), timeout=20)).ok
    assert await output_of(sandbox, "pgrep -c -x sleep") == "2"


async def test_a_command_that_ends_prepares_before_the_next_one_starts(sandbox: Sandbox) -> None:
    first, second = await start(
        sandbox, Service(command="echo one > log"), Service(command='test "$(cat log)" = one')
    )
    assert (first.ok, second.ok) == (True, True)


async def test_a_service_that_fails_does_not_keep_the_others_from_starting(sandbox: Sandbox) -> None:
    first, second = await start(sandbox, Service(command="exit 7"), Service(command="touch there"))
    assert "failed with exit code 7" in first.problem
    assert second.ok
    assert await sandbox.read_file("there") == b""


async def test_a_command_that_does_not_end_is_stopped_and_the_remedy_said(sandbox: Sandbox) -> None:
    [started] = await start(sandbox, Service(command="echo listening; sleep 1000", timeout=0.5))
    assert "did not end within 0.5 s" in started.problem
    assert "'&'" in started.problem
    assert started.output == "listening"
    assert await output_of(sandbox, "pgrep -c -x sleep") == "0"


async def test_services_are_started_once_for_each_sandbox(sandbox: Sandbox) -> None:
    service = Service(command="echo x >> starts; sleep 1000", ready="test -s starts", timeout=20)
    results = await asyncio.gather(*(start_services(sandbox, (service,), {}) for _ in range(5)))
    assert await start_services(sandbox, (service,), {}) == results[0]
    assert set(results) == {results[0]}
    assert await sandbox.read_file("starts") == b"x\n"


async def test_a_caller_that_gives_up_leaves_the_start_to_the_others(sandbox: Sandbox) -> None:
    service = Service(
        command="echo x >> starts; sleep 1000", ready="test -e go && test -s starts", timeout=30
    )
    impatient = asyncio.create_task(start_services(sandbox, (service,), {}))
    patient = asyncio.create_task(start_services(sandbox, (service,), {}))
    await asyncio.wait([impatient], timeout=0.01)
    impatient.cancel()
    await sandbox.write_file("go", b"")
    [started] = await patient
    assert started.ok
    assert await sandbox.read_file("starts") == b"x\n"


async def test_a_service_gets_the_variables_and_directory_of_the_environment(sandbox: Sandbox) -> None:
    await sandbox.write_file("api/x", b"")
    service = Service(command='echo "$PWD $GREETING" > out & wait', ready="test -s out", timeout=20)
    [started] = await start_services(sandbox, (service,), {"GREETING": "hello"}, workdir="api")
    assert started.problem == ""
    assert await sandbox.read_file("api/out") == b"/workspace/api hello\n"


async def test_a_service_that_never_stops_talking_neither_fills_the_disk_nor_stops(sandbox: Sandbox) -> None:
    loud = Service(
        command="head -c 30000000 /dev/zero | tr '\\0' x; touch done; sleep 1000",
        ready="test -e done",
        timeout=60,
    )
    [started] = await start(sandbox, loud)
    assert started.problem == ""
    assert 0 < int(await output_of(sandbox, "cat /tmp/service.*/output | wc -c")) <= 8_192_000
    assert len(started.output) <= 4000


async def test_a_missing_program_is_named(sandbox: Sandbox) -> None:
    background, foreground = await start(
        sandbox, Service(command="no-such-database --port 1 &"), Service(command="no-such-cache")
    )
    for started, name in ((background, "no-such-database"), (foreground, "no-such-cache")):
        assert "exit code 127" in started.problem
        assert f"{name}: command not found" in started.output


async def test_a_sandbox_that_is_gone_is_an_error_and_not_remembered(
    jails: LocalSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    service = Service(command="true")
    await jails.cleanup(spec.order_id)
    for _ in range(2):
        with pytest.raises(SandboxLost):
            await start_services(sandbox, (service,), {})
    again = await jails.setup(spec)
    assert (await start(again, service))[0].ok


async def test_nothing_to_start_needs_no_sandbox(
    sandbox: Sandbox, jails: LocalSandboxes, spec: SandboxSpec
) -> None:
    await jails.cleanup(spec.order_id)
    assert await start_services(sandbox, (), {}) == ()


async def test_postgresql_serves_the_project_in_its_sandbox(sandbox: Sandbox) -> None:
    programs = find_programs()
    assert programs, "PostgreSQL's server is not installed; run `make setup`"
    command = f"""\
set -e
export PATH={programs}:$PATH PGDATA=$(mktemp -d)
initdb --username=app --auth=trust --no-sync --locale=C --encoding=UTF8 >/dev/null
exec postgres -k /tmp -c listen_addresses=127.0.0.1 -c fsync=off
"""
    ready = f"{programs}/psql -h 127.0.0.1 -U app -d postgres -c 'select 1'"
    [started] = await start(sandbox, Service(command=command, ready=ready, timeout=60))
    assert started.problem == "", started.output
    query = f"{programs}/psql -h 127.0.0.1 -U app -d postgres -Atc 'select 6 * 7'"
    assert await output_of(sandbox, query) == "42"


async def test_without_a_jail_services_start_and_end_too(home: Path, spec: SandboxSpec) -> None:
    sandboxes = LocalSandboxes(Settings(home=home, local_isolation="none"))
    sandbox = await sandboxes.setup(spec)
    [started] = await start(sandbox, Service(command="sleep 1000 &"))
    assert started.problem == ""
    running = processes_of(spec.order_id)
    await sandboxes.close()
    wait_until_gone(running)
