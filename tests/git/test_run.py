"""Git runs as told, ends when told, and its failures have names."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from journeyman.errors import (
    Conflict,
    Internal,
    InvalidInput,
    InvalidRepository,
    JourneymanError,
    RateLimited,
    StoreUnavailable,
    Transient,
    Unauthenticated,
)
from journeyman.forges.base import Person, Remote
from journeyman.git.confine import Confinement
from journeyman.git.faults import fault_of
from journeyman.git.locks import FileLock
from journeyman.git.run import GitOptions, git, host_author, run_git
from tests.git.repositories import git as plain_git
from tests.git.repositories import make_repository, processes_about, processes_ended, processes_started


async def test_nothing_of_the_machine_or_the_user_configures_git(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "From the environment")
    listed = await git("config", "--list", "--show-scope", git_dir=source / ".git")
    scopes = {line.split("\t")[0] for line in listed.decode().splitlines()}
    assert scopes == {"local", "command"}
    assert b"From the environment" not in listed


async def test_no_hook_of_a_repository_runs(source: Path, tmp_path: Path) -> None:
    hook = source / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path / 'canary'}\n")
    hook.chmod(0o755)
    head = plain_git(source, "rev-parse", "HEAD")
    await git("update-ref", "refs/heads/other", head, git_dir=source / ".git")
    assert not (tmp_path / "canary").exists()
    plain_git(source, "update-ref", "refs/heads/third", head)
    assert (tmp_path / "canary").exists(), "the hook of this test does nothing"


async def test_without_a_remote_git_can_connect_to_nothing(source: Path) -> None:
    answer = await run_git("ls-remote", "--", str(source), git_dir=source / ".git")
    assert answer.exit_code != 0
    assert "not allowed" in answer.error


async def test_output_beyond_the_limit_ends_git(source: Path) -> None:
    answer = await run_git(
        "cat-file", "--batch-check", "--batch-all-objects", git_dir=source / ".git", limit=10
    )
    assert answer.truncated
    assert len(answer.output) == 10
    with pytest.raises(Internal, match="more than is allowed"):
        await git("cat-file", "--batch-check", "--batch-all-objects", git_dir=source / ".git", limit=10)


async def test_what_a_reader_raises_ends_git(source: Path) -> None:
    def refuse(piece: bytes) -> None:
        raise InvalidRepository(f"{len(piece)} bytes too many")

    with pytest.raises(InvalidRepository, match="too many"):
        await git("log", git_dir=source / ".git", each=refuse)


def stuck_remote(directory: Path) -> Remote:
    """A remote that answers nothing: a pipe that nobody writes to, where git looks for a file."""
    make_repository(directory)
    (directory / ".git/HEAD").unlink()
    os.mkfifo(directory / ".git/HEAD")
    return Remote(directory.as_uri())


async def test_a_git_that_takes_too_long_is_ended_with_all_its_processes(
    source: Path, tmp_path: Path
) -> None:
    remote = stuck_remote(tmp_path / "stuck")
    with pytest.raises(Transient, match="did not end within"):
        await git("ls-remote", "--", remote.url, git_dir=source / ".git", remote=remote, timeout=0.3)
    await processes_ended(tmp_path / "stuck")


async def test_a_git_that_nobody_waits_for_any_more_is_ended(source: Path, tmp_path: Path) -> None:
    remote = stuck_remote(tmp_path / "stuck")
    waiting = asyncio.create_task(git("ls-remote", "--", remote.url, git_dir=source / ".git", remote=remote))
    await processes_started(tmp_path / "stuck")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await processes_ended(tmp_path / "stuck")


@pytest.mark.parametrize("confined", [{}, {"confinement": Confinement()}])
async def test_a_git_that_was_killed_is_tried_again(confined: GitOptions) -> None:
    with pytest.raises(Transient, match="killed"):
        await run_git("-c", "alias.die=!kill -9 $PPID", "die", **confined)


async def test_a_nul_character_never_reaches_git(source: Path) -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        await git("show-ref", "a\0b", git_dir=source / ".git")


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("fatal: Authentication failed for 'https://x/'", Unauthenticated),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", Unauthenticated),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", Unauthenticated),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", InvalidRepository),
        ("fatal: '/x' does not appear to be a git repository", InvalidRepository),
        ("fatal: unable to access 'https://x/': Could not resolve host: x", Transient),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 502", Transient),
        ("error: RPC failed; curl 56 GnuTLS recv error (-9)\nfatal: early EOF", Transient),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 429", RateLimited),
        ("fatal: cannot lock ref 'refs/heads/x': is at a but expected b", Conflict),
        ("error: unable to write file: No space left on device\nfatal: it failed", StoreUnavailable),
        ("", Internal),
    ],
)
def test_a_failure_has_the_error_that_it_means(said: str, error: type[JourneymanError]) -> None:
    fault = fault_of(said, "fetch")
    assert type(fault) is error
    assert fault.hint
    assert not said or said.splitlines()[-1].removeprefix("fatal: ") in fault.message


async def test_the_host_author_is_who_git_says(tmp_path: Path) -> None:
    assert await host_author(tmp_path) is None
    (tmp_path / ".gitconfig").write_text("[include]\n\tpath = more\n[user]\n\tname = Ada\n")
    assert await host_author(tmp_path) is None
    (tmp_path / "more").write_text("[user]\n\temail = ada@example.org\n")
    assert await host_author(tmp_path) == Person("Ada", "ada@example.org")


async def test_a_lock_is_held_as_long_as_a_git_that_its_holder_started(tmp_path: Path, source: Path) -> None:
    """The holder dies without a word, as a killed server does; its git is still running."""
    remote, path = stuck_remote(tmp_path / "stuck"), tmp_path / "lock"
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _HOLDER, str(path), remote.url, str(source / ".git"), start_new_session=True
    )
    await processes_started(tmp_path / "stuck", "upload-pack")
    server.kill()
    await server.wait()
    taking = asyncio.create_task(_take(FileLock(path)))
    done, _ = await asyncio.wait({taking}, timeout=0.2)
    assert not done, "the lock was given away while git was running"
    for process in processes_about(tmp_path / "stuck"):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    await taking


_HOLDER = """
import asyncio, sys
from pathlib import Path
from journeyman.forges.base import Remote
from journeyman.git.locks import FileLock
from journeyman.git.run import git

async def hold(path, url, git_dir):
    async with FileLock(Path(path)).hold():
        await git("ls-remote", "--", url, git_dir=Path(git_dir), remote=Remote(url))

asyncio.run(hold(*sys.argv[1:]))
"""


async def _take(lock: FileLock) -> None:
    async with lock.hold():
        pass


async def test_a_discarded_lock_lets_no_two_in(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    inside = 0

    async def enter_and_discard() -> None:
        nonlocal inside
        lock = FileLock(path)
        async with lock.hold():
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            lock.discard()
            await asyncio.sleep(0)
            inside -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(enter_and_discard())
    assert not path.exists()
