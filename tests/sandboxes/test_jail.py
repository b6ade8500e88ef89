"""What hostile code in a jail tries, and where it ends."""

import asyncio
import os
import re
import subprocess
from pathlib import Path

import psutil
import pytest

from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes.base import Sandbox
from journeyman.sandboxes.identity import jail_uid
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.sandboxes.specs import git_spec, spec_for


async def test_a_command_is_nobody_special(jails: LocalSandboxes, tmp_path: Path) -> None:
    spec = spec_for(tmp_path)
    sandbox = await jails.setup(spec)
    status = dict(
        line.split(":\t", 1)
        for line in (await _run(sandbox, "cat /proc/self/status")).splitlines()
        if ":\t" in line
    )
    uid = jail_uid(spec.order_id) or os.getuid()
    assert status["Uid"].split() == [str(uid)] * 4
    assert status["Groups"].split() in ([], [str(uid)])
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")} == {0}
    assert status["NoNewPrivs"] == "1"
    assert await _run(sandbox, "id -un; echo $HOME; pwd") == "agent\n/home/agent\n/workspace\n"


async def test_nothing_of_the_host_is_to_be_seen(jails: LocalSandboxes, home: Path, tmp_path: Path) -> None:
    (home / "canary-of-the-home").write_text("secret")
    sandbox = await jails.setup(spec_for(tmp_path))
    search = "find / \\( -path /usr -o -path /opt -o -path /proc \\) -prune -o -name 'canary-of-*' -print"
    assert "canary" not in (await sandbox.execute_command(search, timeout=60)).output
    for path in ("/etc/shadow", home, Path.home() / ".bashrc", "/sys", "/boot", "/etc/ssh"):
        assert (await sandbox.execute_command(["ls", str(path)], timeout=20)).exit_code == 2, path


async def test_only_the_workspace_and_scratch_can_be_written(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path))
    for path in ("/usr", "/usr/bin", "/", "/etc", "/etc/ssl/certs", "/proc/sys/kernel"):
        assert not (await sandbox.execute_command(["touch", f"{path}/x"], timeout=20)).ok, path
    await _run(sandbox, "for d in /workspace /tmp /var/tmp /home/agent /dev/shm; do touch $d/x || exit; done")


async def test_a_read_only_workspace_cannot_be_written_by_anyone(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = git_spec(tmp_path, writable=False)
    sandbox = await jails.setup(spec)
    for attempt in ("touch x", "rm a.txt", "chmod 777 .", "mount -o remount,rw /workspace", "echo > .git"):
        assert not (await sandbox.execute_command(attempt, timeout=20)).ok, attempt
    assert sorted(path.name for path in spec.tree.iterdir()) == [".git", "a.txt"]
    assert await _run(sandbox, "cat a.txt; echo scratch > /tmp/x; cat /tmp/x") == "one\nscratch\n"


async def test_git_can_be_read_but_neither_written_nor_replaced(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = git_spec(tmp_path)
    pointer = (spec.tree / ".git").read_text()
    sandbox = await jails.setup(spec)
    await _run(sandbox, "echo two >> a.txt")
    assert "First" in await _run(sandbox, "git log --oneline")
    assert "+two" in await _run(sandbox, "git diff")
    assert await _run(sandbox, "git status --short") == " M a.txt\n"
    for attempt in (
        "rm -f .git",
        "mv .git other",
        "ln -sf /tmp .git",
        "echo x > .git",
        "git config core.fsmonitor evil",
        "git commit -qam x",
        "git branch evil",
        "umount .git",
        f"touch {spec.git_directories[0]}/hooks/pre-commit",
    ):
        done = await sandbox.execute_command(attempt, timeout=20)
        assert not done.ok, attempt
    assert (spec.tree / ".git").read_text() == pointer


async def test_a_workspace_whose_git_is_a_link_is_refused(jails: LocalSandboxes, tmp_path: Path) -> None:
    spec = spec_for(tmp_path)
    (spec.tree / ".git").symlink_to("/etc")
    with pytest.raises(SandboxUnavailable, match="symbolic link"):
        await jails.setup(spec)


async def test_mounts_and_namespaces_cannot_be_changed(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path))
    for attempt in (
        "mount -o remount,rw /usr",
        "mount -t tmpfs none /tmp",
        "umount /proc",
        "unshare --user --map-root-user true",
        "unshare --mount true",
        "bwrap --ro-bind / / true",
        "nsenter --target 1 --mount true",
        "chroot / true",
    ):
        assert not (await sandbox.execute_command(attempt, timeout=20)).ok, attempt


async def test_threads_work_although_new_namespaces_do_not(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path))
    script = "import threading, multiprocessing as m; t=threading.Thread(target=print, args=['hi'])"
    await sandbox.write_file("t.py", f"{script}; t.start(); t.join(); m.Lock()".encode())
    assert await _run(sandbox, "python3 t.py") == "hi\n"


async def test_processes_outside_can_be_neither_seen_nor_killed(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = spec_for(tmp_path)
    sandbox = await jails.setup(spec)
    outside = _sleeper(jail_uid(spec.order_id))
    try:
        assert not (await sandbox.execute_command(f"kill -9 {outside.pid}", timeout=20)).ok
        await sandbox.execute_command("kill -9 -1", timeout=20)
        assert outside.poll() is None
    finally:
        outside.kill()
        outside.wait()


async def test_a_jail_survives_an_agent_that_kills_everything_it_can(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    sandbox = await jails.setup(spec_for(tmp_path))
    for attempt in ("kill -9 -1", "kill -9 1", "kill -INT 1", "kill -TERM 1", "kill -STOP 1", "pkill python"):
        await sandbox.execute_command(attempt, timeout=20)
    assert (await sandbox.execute_command("true", timeout=20)).ok


@pytest.mark.parametrize("network", ["none", "open"])
async def test_the_hosts_loopback_is_out_of_reach_with_and_without_a_network(
    jails: LocalSandboxes, tmp_path: Path, network: str
) -> None:
    reached = []

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(writer.get_extra_info("peername"))
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sandbox = await jails.setup(spec_for(tmp_path, network=network))
    async with server:
        for address in ("127.0.0.1", "10.0.2.2"):
            script = f"import socket; socket.create_connection(('{address}', {port}), 2)"
            assert not (await sandbox.execute_command(["python3", "-c", script], timeout=20)).ok
    assert reached == []


async def test_an_open_network_leads_out_and_ends_with_the_jail(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    closed = await jails.setup(spec_for(tmp_path))
    assert "tap0" not in await _run(closed, "cat /proc/net/route")
    opened = await jails.setup(spec_for(tmp_path, network="open"))
    assert re.search(r"(?m)^tap0\s+00000000\s+0202000A", await _run(opened, "cat /proc/net/route"))
    assert await _run(opened, "cat /etc/resolv.conf") == "nameserver 10.0.2.3\n"
    carrying = [p for p in psutil.Process().children() if p.name() == "slirp4netns"]
    assert len(carrying) == 1
    await opened.cleanup()
    assert not carrying[0].is_running()


async def test_the_jails_own_loopback_works(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path))
    script = (
        "import socket; s=socket.create_server(('localhost', 0));"
        "socket.create_connection(s.getsockname()); print('met', s.accept()[1][0])"
    )
    assert await _run(sandbox, f'python3 -c "{script}"') == "met 127.0.0.1\n"


async def test_a_planted_link_leads_nowhere_outside(jails: LocalSandboxes, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("untouched")
    canary.chmod(0o666)
    sandbox = await jails.setup(spec_for(tmp_path))
    await _run(sandbox, f"ln -s {canary} link; ln -s /etc/passwd accounts")
    with pytest.raises(FileNotFoundError):
        await sandbox.read_file("link")
    with pytest.raises(FileNotFoundError):
        await sandbox.write_file("link", b"evil")
    assert canary.read_text() == "untouched"
    assert (await sandbox.read_file("accounts")).startswith(b"agent:")


async def test_the_supervisor_is_closed_to_the_agent(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path))
    for path in ("/proc/1/mem", "/proc/1/environ", "/proc/1/fd"):
        done = await sandbox.execute_command(f"cat {path} || ls {path}/", timeout=20)
        assert "Permission denied" in done.output, path


async def test_toolchains_are_shown_read_only_and_first_on_the_path(home: Path, tmp_path: Path) -> None:
    tool = tmp_path / "tools" / "bin" / "git"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho mine\n")
    for path, mode in ((tool, 0o755), (tool.parent, 0o777), (tool.parent.parent, 0o777)):
        path.chmod(mode)
    jails = LocalSandboxes(Settings(home=home, sandbox_paths=[tmp_path / "tools"]))
    sandbox = await jails.setup(spec_for(tmp_path))
    assert await _run(sandbox, "git; python3 -c 'print(6 * 7)'") == "mine\n42\n"
    assert not (await sandbox.execute_command(f"touch {tool.parent}/x", timeout=20)).ok
    await jails.close()


def _sleeper(user: int | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "1000"], user=user)


async def _run(sandbox: Sandbox, command: str) -> str:
    done = await sandbox.execute_command(command, timeout=60)
    assert done.ok, done.output
    return done.output
