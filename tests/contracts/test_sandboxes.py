"""What every sandbox promises, held against each way of isolation."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from journeyman.errors import SandboxLost
from journeyman.sandboxes.base import Sandbox, SandboxLimits, SandboxProvider, SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.sandboxes.specs import control_groups_of, give_away, processes_of, spec_for, wait_until_gone

Isolation = Literal["bubblewrap", "none"]


@pytest.fixture(params=["bubblewrap", "none"])
def isolation(request: pytest.FixtureRequest) -> Isolation:
    return "none" if request.param == "none" else "bubblewrap"


@pytest.fixture
async def provider(isolation: Isolation, tmp_path: Path) -> AsyncIterator[SandboxProvider]:
    sandboxes = LocalSandboxes(Settings(home=tmp_path / "home", local_isolation=isolation))
    yield sandboxes
    await sandboxes.close()


@pytest.fixture
def spec(tmp_path: Path) -> SandboxSpec:
    return spec_for(tmp_path, limits=SandboxLimits(output_bytes=10_000))


@pytest.fixture
async def sandbox(provider: SandboxProvider, spec: SandboxSpec) -> Sandbox:
    return await provider.setup(spec)


async def test_a_provider_that_is_ready_says_so_and_names_its_isolation(
    provider: SandboxProvider, isolation: Isolation
) -> None:
    assert (await provider.readiness()).ready
    assert provider.isolation == isolation


async def test_a_command_answers_with_its_exit_code_and_both_streams(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command("echo out; echo err >&2; exit 3", timeout=20)
    assert (done.exit_code, done.output, done.ok) == (3, "out\nerr\n", False)


async def test_a_list_of_words_is_not_read_by_a_shell(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command(["echo", "$HOME", "a  b"], timeout=20)
    assert done.output == "$HOME a  b\n"


async def test_a_program_that_does_not_exist_is_an_answer(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command(["no-such-program"], timeout=20)
    assert done.exit_code == 127
    assert "no-such-program" in done.output


async def test_a_directory_that_does_not_exist_is_an_answer(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command("true", timeout=20, cwd="nowhere")
    assert done.exit_code == 127
    assert (await sandbox.execute_command("true", timeout=20)).ok


async def test_a_zero_byte_in_a_command_or_a_path_harms_nobody(sandbox: Sandbox) -> None:
    assert (await sandbox.execute_command("echo \0", timeout=20)).exit_code == 126
    with pytest.raises(OSError, match="Invalid argument"):
        await sandbox.read_file("a\0b")
    assert (await sandbox.execute_command("true", timeout=20)).ok


async def test_a_command_gets_its_directory_environment_and_input(
    sandbox: Sandbox, spec: SandboxSpec
) -> None:
    await sandbox.write_file("deep/er/file", b"x")
    done = await sandbox.execute_command(
        "ls; echo $COLOUR; cat", timeout=20, cwd="deep/er", env={"COLOUR": "blue"}, stdin=b"from outside\0"
    )
    assert done.output == "file\nblue\nfrom outside\0"


async def test_a_command_without_input_reads_the_end_at_once(sandbox: Sandbox) -> None:
    assert (await sandbox.execute_command(["cat"], timeout=20)).exit_code == 0


async def test_the_environment_of_the_server_stays_outside(sandbox: Sandbox) -> None:
    os.environ["A_SECRET_OF_THE_SERVER"] = "canary-7f3a"
    try:
        done = await sandbox.execute_command("env", timeout=20)
    finally:
        del os.environ["A_SECRET_OF_THE_SERVER"]
    assert "canary" not in done.output
    assert "PATH=" in done.output


async def test_a_command_inherits_nothing_but_its_three_streams(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command(
        ["python3", "-c", "import os; print(os.listdir('/proc/self/fd'))"], timeout=20
    )
    assert done.output.strip() == "['0', '1', '2', '3']"  # 3 is the listing's own


async def test_output_is_told_as_it_comes_and_adds_up(sandbox: Sandbox) -> None:
    heard: list[bytes] = []
    first = asyncio.Event()

    def listen(data: bytes) -> None:
        heard.append(data)
        first.set()

    running = asyncio.create_task(
        sandbox.execute_command("mkfifo gate; echo early; cat gate", timeout=20, on_output=listen)
    )
    await first.wait()
    assert not running.done()
    await sandbox.execute_command("echo late > gate", timeout=20)
    done = await running
    assert done.output == "early\nlate\n"
    assert b"".join(heard).decode() == done.output


async def test_commands_give_way_to_the_server_and_to_whoever_else_uses_the_machine(sandbox: Sandbox) -> None:
    result = await sandbox.execute_command(["nice"], timeout=20)
    assert int(result.output) == min(os.nice(0) + 10, 19)


async def test_commands_run_side_by_side(sandbox: Sandbox) -> None:
    await sandbox.execute_command("mkfifo there back", timeout=20)
    one, other = await asyncio.gather(
        sandbox.execute_command("echo ping > there; cat back", timeout=20),
        sandbox.execute_command("cat there; echo pong > back", timeout=20),
    )
    assert (one.output, other.output) == ("pong\n", "ping\n")


async def test_the_time_limit_ends_a_command_and_keeps_what_it_said(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command("echo begun; sleep 1000", timeout=0.5)
    assert (done.exit_code, done.timed_out, done.output) == (None, True, "begun\n")


async def test_the_time_limit_ends_descendants_that_left_their_session(
    sandbox: Sandbox, spec: SandboxSpec
) -> None:
    await sandbox.execute_command("(setsid sleep 1000 &); env -i setsid sleep 1000 & sleep 1000", timeout=0.5)
    wait_until_gone([pid for pid in processes_of(spec.order_id) if b"sleep" in _command_line(pid)])
    assert (await sandbox.get_current_state()).processes == 0


async def test_a_cancelled_call_ends_its_command(sandbox: Sandbox, spec: SandboxSpec) -> None:
    begun = asyncio.Event()
    running = asyncio.create_task(
        sandbox.execute_command("echo x; sleep 1000", timeout=2000, on_output=lambda _: begun.set())
    )
    await begun.wait()
    sleeping: list[int] = []
    while not sleeping:
        sleeping = [pid for pid in processes_of(spec.order_id) if b"sleep" in _command_line(pid)]
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await sandbox.execute_command("true", timeout=20)).ok
    wait_until_gone(sleeping)


async def test_a_background_child_does_not_hold_up_its_command(sandbox: Sandbox) -> None:
    until_it_runs = "until grep -q sleep /proc/$!/comm; do :; done"
    done = await sandbox.execute_command(f"sleep 1000 & {until_it_runs}; echo started", timeout=500)
    assert done.output == "started\n"
    assert (await sandbox.get_current_state()).processes == 1


async def test_a_background_child_may_go_on_writing(sandbox: Sandbox) -> None:
    await sandbox.execute_command("mkfifo go; (cat go; seq 50000; touch survived) & true", timeout=20)
    await sandbox.execute_command("echo > go; until test -e survived; do sleep 0.01; done", timeout=20)
    assert await sandbox.read_file("survived") == b""


async def test_a_gigabyte_of_output_is_cut_in_the_middle(sandbox: Sandbox) -> None:
    heard = bytearray()
    done = await sandbox.execute_command(
        "echo first; head -c 1000000000 /dev/zero; echo last", timeout=200, on_output=heard.extend
    )
    assert (done.exit_code, done.truncated) == (0, True)
    assert done.output.startswith("first\n")
    assert done.output.endswith("last\n")
    assert "bytes of output were left out here" in done.output
    assert len(done.output) < 11_000
    assert heard.decode() == done.output


async def test_output_that_just_fits_is_whole(sandbox: Sandbox) -> None:
    done = await sandbox.execute_command("head -c 10000 /dev/zero", timeout=20)
    assert (len(done.output), done.truncated) == (10_000, False)


async def test_files_are_written_with_the_directories_above_and_read_back(
    sandbox: Sandbox, spec: SandboxSpec
) -> None:
    content = bytes(range(256)) * 2000
    await sandbox.write_file("a/b/c.bin", content)
    assert await sandbox.read_file("a/b/c.bin") == content
    assert (spec.tree / "a/b/c.bin").read_bytes() == content
    assert await sandbox.read_file("a/b/c.bin", limit=70_000) == content[:70_000]


async def test_files_that_cannot_be_read_raise_as_files_do(sandbox: Sandbox) -> None:
    await sandbox.execute_command("mkdir directory; mkfifo pipe", timeout=20)
    with pytest.raises(FileNotFoundError):
        await sandbox.read_file("missing")
    with pytest.raises(IsADirectoryError):
        await sandbox.read_file("directory")
    with pytest.raises(IsADirectoryError):
        await sandbox.write_file("directory", b"")
    with pytest.raises(OSError, match="Invalid argument"):
        await sandbox.read_file("pipe")


async def test_a_read_only_workspace_cannot_be_written_through_the_sandbox(
    provider: SandboxProvider, tmp_path: Path
) -> None:
    sandbox = await provider.setup(spec_for(tmp_path, writable=False))
    with pytest.raises(PermissionError):
        await sandbox.write_file("a", b"")


async def test_the_same_spec_is_the_same_sandbox_and_a_read_only_one_is_another(
    provider: SandboxProvider, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    reader = SandboxSpec(order_id=spec.order_id, tree=spec.tree, writable=False)
    assert await provider.setup(spec) is sandbox
    assert sandbox.identifier == f"local-{spec.order_id}"
    assert (await provider.setup(reader)).identifier == f"local-{spec.order_id}-read-only"


async def test_two_who_open_the_same_sandbox_at_once_get_one(
    provider: SandboxProvider, spec: SandboxSpec
) -> None:
    one, other = await asyncio.gather(provider.setup(spec), provider.setup(spec))
    assert one is other


async def test_cleanup_ends_everything_and_may_be_repeated(
    provider: SandboxProvider, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    await sandbox.execute_command("touch kept; (setsid sleep 1000 &)", timeout=20)
    started = processes_of(spec.order_id)
    assert len(started) >= 2
    await provider.cleanup(spec.order_id)
    wait_until_gone(started)
    await sandbox.cleanup()
    await provider.cleanup(spec.order_id)
    assert not (await sandbox.get_current_state()).alive
    assert control_groups_of(spec.order_id) == []
    assert (spec.tree / "kept").exists()


async def test_a_lost_sandbox_says_so_and_is_replaced(
    provider: SandboxProvider, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    begun = asyncio.Event()
    running = asyncio.create_task(
        sandbox.execute_command("echo x; sleep 1000", timeout=2000, on_output=lambda _: begun.set())
    )
    await begun.wait()
    for pid in processes_of(spec.order_id):
        with contextlib.suppress(ProcessLookupError):  # the first process of a jail takes the others along
            os.kill(pid, signal.SIGKILL)
    with pytest.raises(SandboxLost):
        await running
    with pytest.raises(SandboxLost):
        await sandbox.read_file("a")
    assert not (await sandbox.get_current_state()).alive
    fresh = await provider.setup(spec)
    assert fresh is not sandbox
    assert (await fresh.execute_command("true", timeout=20)).ok


async def test_a_sweep_ends_sandboxes_of_orders_that_are_not_live(
    provider: SandboxProvider, sandbox: Sandbox, spec: SandboxSpec, tmp_path: Path
) -> None:
    live = spec_for(tmp_path)
    kept = await provider.setup(live)
    started = processes_of(spec.order_id)
    found = await provider.sweep({live.order_id})
    assert [line for line in found if spec.order_id in line]
    assert not [line for line in found if live.order_id in line]
    wait_until_gone(started)
    assert (await kept.execute_command("true", timeout=20)).ok


async def test_a_program_is_spoken_with_line_by_line(sandbox: Sandbox) -> None:
    script = "while read word; do echo got $word; done; echo complaint >&2; exit 3"
    program = await sandbox.start(["bash", "-c", script], env={})
    program.stdin.write(b"one\n")
    assert await program.stdout.readline() == b"got one\n"
    program.stdin.write(b"two\n")
    assert await program.stdout.readline() == b"got two\n"
    program.stdin.close()
    assert await program.stdout.read() == b""
    assert (await program.wait(), program.stderr_tail) == (3, "complaint")


async def test_a_program_has_the_environment_and_place_it_is_given(
    sandbox: Sandbox, spec: SandboxSpec
) -> None:
    await sandbox.execute_command("mkdir sub", timeout=20)
    program = await sandbox.start(
        ["bash", "-c", "echo $COLOUR; basename $PWD"], env={"COLOUR": "red"}, cwd="sub"
    )
    assert await program.stdout.read() == b"red\nsub\n"


async def test_a_fast_program_waits_for_a_slow_reader(sandbox: Sandbox) -> None:
    program = await sandbox.start(["bash", "-c", "yes | head -c 5000000; echo; echo end"], env={})
    assert (await sandbox.execute_command("true", timeout=20)).ok
    count = 0
    async for line in program.stdout:
        count += len(line)
    assert (count, await program.wait()) == (5_000_005, 0)


async def test_a_program_that_cannot_be_started_says_why(sandbox: Sandbox) -> None:
    program = await sandbox.start(["no-such-program"], env={})
    assert await program.wait() == 127
    assert "no-such-program" in program.stderr_tail


async def test_terminating_a_program_ends_all_it_started(sandbox: Sandbox, spec: SandboxSpec) -> None:
    script = "(setsid sleep 1000 &); env -i setsid sleep 1000 & echo up; exec sleep 1000"
    program = await sandbox.start(["bash", "-c", script], env={})
    assert await program.stdout.readline() == b"up\n"
    await program.terminate()
    await program.terminate()
    assert (await sandbox.get_current_state()).processes == 0
    assert await program.wait() == 137


async def test_what_a_program_leaves_behind_goes_with_it(sandbox: Sandbox) -> None:
    program = await sandbox.start(["bash", "-c", "(setsid sleep 1000 &); echo done"], env={})
    assert await program.stdout.read() == b"done\n"
    assert await program.wait() == 0
    assert (await sandbox.get_current_state()).processes == 0


async def test_a_program_hears_of_the_end_of_its_sandbox(sandbox: Sandbox) -> None:
    program = await sandbox.start(["sleep", "1000"], env={})
    await sandbox.cleanup()
    with pytest.raises(SandboxLost):
        await program.wait()
    await program.terminate()


async def test_a_server_inside_is_reached_from_outside(sandbox: Sandbox) -> None:
    program = await sandbox.start(["python3", "-u", "-c", ECHO], env={})
    port = int(await program.stdout.readline())
    connections = [await sandbox.connect(port) for _ in range(3)]
    for number, (_, writer) in enumerate(connections):
        writer.write(b"%d\n" % number)
    assert [await reader.readline() for reader, _ in connections] == [b"0\n", b"1\n", b"2\n"]
    for _, writer in connections:
        writer.close()
    await program.terminate()
    with pytest.raises(ConnectionRefusedError):
        await sandbox.connect(port)


async def test_a_socket_outside_is_reached_from_inside(sandbox: Sandbox, tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        writer.close()

    door = tmp_path / "door.sock"
    async with await asyncio.start_unix_server(answer, door):
        port = await sandbox.open_door(door)
        assert await sandbox.open_door(door) == port
        knock = f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3"
        assert (await sandbox.execute_command(knock, timeout=20)).output == "HELLO\n"
    knocked = await sandbox.execute_command(knock, timeout=20)
    assert "HELLO" not in knocked.output


async def test_a_home_outlives_its_sandbox(provider: SandboxProvider, tmp_path: Path) -> None:
    spec = replace(spec_for(tmp_path), home=tmp_path / "sessions")
    spec.home.mkdir()  # type: ignore[union-attr]
    give_away(tmp_path / "sessions", spec.order_id)
    first = await provider.setup(spec)
    program = await first.start(["bash", "-c", 'echo kept > "$HOME/session"'], env={"HOME": first.home})
    assert await program.wait() == 0
    await provider.cleanup(spec.order_id)
    reader = await provider.setup(replace(spec, writable=False))
    again = await reader.start(["bash", "-c", 'cat "$HOME/session"'], env={"HOME": reader.home})
    assert await again.stdout.read() == b"kept\n"


async def test_shown_directories_can_be_read_and_used(provider: SandboxProvider, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "tool").write_text("#!/bin/sh\necho works\n")
    (installed / "tool").chmod(0o755)
    sandbox = await provider.setup(replace(spec_for(tmp_path), shown=(installed,)))
    program = await sandbox.start([str(installed / "tool")], env={})
    assert await program.stdout.read() == b"works\n"


ECHO = """
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1])
def echo(connection):
    while data := connection.recv(100):
        connection.sendall(data)
while True:
    threading.Thread(target=echo, args=[listener.accept()[0]], daemon=True).start()
"""


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
