"""The whole product from one command: a server is started, an order carried out, and both are told."""

import asyncio
import os
import re
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from journeyman.git.sample import prepare
from tests.api.parts import git
from tests.cli.jm import Terminal


async def test_the_demo_ends_in_a_verified_pull_request_and_leaves_its_server_running(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = {"JOURNEYMAN_PORT": str(free.getsockname()[1])}
    terminal = Terminal(home)
    done = await terminal.run("demo", environment=port)
    started = re.search(r"process (\d+)", done.err)
    assert started, done.err
    with stopped_at_the_end(int(started[1])):
        assert done.code == 0, done.out
        assert "✓ completed  verification passed" in done.out
        assert "draft pull request #1" in done.out
        sample = home / "samples" / "pager"
        [branch] = git(sample, "branch", "--list", "--format=%(refname:short)", "journeyman/*").splitlines()
        changed = git(sample, "diff", "--name-only", f"main...{branch}").splitlines()
        assert "pager/pages.py" in changed
        again = await terminal.run("agents", environment=port)
        assert (again.code, again.err) == (0, "")
    assert (await terminal.run("agents", environment=port)).code == 1


@contextmanager
def stopped_at_the_end(pid: int) -> Iterator[None]:
    handle = os.pidfd_open(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGTERM)
        select.select([handle], [], [], 30)
        os.close(handle)


async def test_the_sample_is_made_once_and_never_half(tmp_path: Path) -> None:
    left_over = tmp_path / ".pager-in-the-making"
    left_over.mkdir()
    (left_over / "half").write_text("")
    sample = await asyncio.to_thread(prepare, tmp_path)
    head = git(sample, "rev-parse", "main")
    assert "half" not in git(sample, "ls-tree", "--name-only", "main")
    assert git(sample, "status", "--porcelain") == ""
    assert git(await asyncio.to_thread(prepare, tmp_path), "rev-parse", "main") == head
