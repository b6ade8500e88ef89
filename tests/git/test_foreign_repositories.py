"""Repositories of this machine that are not ours: whatever they configure, git runs nothing of theirs."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from journeyman.database import Database
from journeyman.errors import Conflict, InvalidRepository
from journeyman.forges.local import LocalForge
from journeyman.git.branch_log import commits_of
from journeyman.git.merge import merge
from tests.git.repositories import (
    ADA,
    ORDER,
    GitSetup,
    commit_files,
    git,
    make_repository,
    message,
    remote_of,
    repository_at,
)

BRANCH = f"journeyman/work-{ORDER}"
COMMANDS = (
    "core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "sequence.editor", "credential.helper", "gpg.program", "diff.external",
    "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command",
    "diff.evil.textconv", "merge.evil.driver", "uploadpack.packObjectsHook", "remote.origin.uploadpack",
    "remote.origin.receivepack", "remote.origin.vcs", "trailer.evil.command", "interactive.diffFilter",
)  # fmt: skip
HOOKS = (
    "pre-commit", "post-commit", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
    "post-receive", "post-update", "proc-receive", "push-to-checkout", "reference-transaction",
    "post-index-change", "fsmonitor-watchman", "pre-merge-commit", "post-rewrite",
)  # fmt: skip


def booby_trap(git_dir: Path, canary: Path, *, attributes: str) -> None:
    """Let every setting, hook and attribute that can make git run a command do so."""
    script = git_dir / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    (git_dir / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(script, git_dir / "hooks" / name)
    settings = {name: str(script) for name in COMMANDS} | {
        "core.hooksPath": str(git_dir / "hooks"),
        "filter.evil.required": "true",
        "log.showSignature": "true",
        "commit.gpgSign": "true",
        "receive.denyCurrentBranch": "updateInstead",
        "receive.procReceiveRefs": "refs/heads",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "extensions.worktreeConfig": "true",
        "include.path": str(git_dir / "included"),
    }
    included = "".join(f'[alias]\n{name} = "!{script}"\n' for name in ("rev-parse", "log", "merge-tree"))
    (git_dir / "included").write_text(included)
    (git_dir / "config.worktree").write_text(f"[core]\nfsmonitor = {script}\n")
    for name, value in settings.items():
        git(git_dir, f"--git-dir={git_dir}", "config", name, value)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(attributes)


async def work_and_push(git_setup: GitSetup) -> str:
    """Everything up to the pushed branch; returns its head."""
    workspace = await git_setup.open()
    (workspace.tree / "src/app.py").write_text("two\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    remote = remote_of(git_setup.source)
    await workspace.push(remote, expected_sha=None)
    await workspace.push(remote, expected_sha=commit_sha)
    mirror = await git_setup.refresh()
    assert await mirror.fetch_branch(remote, BRANCH) == commit_sha
    await mirror.diff(workspace.base_commit_sha, commit_sha)
    return commit_sha


@pytest.mark.parametrize("attributes", ["* merge=evil diff=evil\n", "* merge=evil diff=evil filter=evil\n"])
@pytest.mark.parametrize("kind", ["checked out", "bare", "partial"])
async def test_nothing_that_a_repository_configures_is_run(
    database: Database, source: Path, home: Path, tmp_path: Path, kind: str, attributes: str
) -> None:
    canary = tmp_path / "canary"
    if kind == "bare":
        git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare.git")
        source = tmp_path / "bare.git"
    git_dir = source if kind == "bare" else source / ".git"
    booby_trap(git_dir, canary, attributes=attributes)
    if kind == "partial":
        lost = git(tmp_path, f"--git-dir={git_dir}", "rev-parse", "refs/heads/main:readme.md")
        (git_dir / "objects" / lost[:2] / lost[2:]).unlink()
        with pytest.raises(InvalidRepository, match="partial clone"):
            await GitSetup(source, home, "git_branch").open()
        assert not canary.exists()
        return
    await LocalForge(database, "http://127.0.0.1:8700").verify(repository_at(source))
    head = await work_and_push(GitSetup(source, home, "git_branch"))
    assert [one.sha for one in await commits_of(source, BRANCH, since="refs/heads/main")] == [head]
    if kind == "checked out" and "filter" in attributes:
        with pytest.raises(Conflict, match="filter 'evil'") as refused:
            await merge(source, base="main", branch=BRANCH, message="Merge it", author=ADA)
        assert f"git -C {source} merge --no-ff {BRANCH}" in refused.value.hint
    else:
        await merge(source, base="main", branch=BRANCH, message="Merge it", author=ADA)
        assert git(
            tmp_path, "-c", "core.fsmonitor=", f"--git-dir={git_dir}", "cat-file", "-p", "main:src/app.py"
        )
        if kind == "checked out":
            assert (source / "src/app.py").read_text() == "two\n"
    assert not canary.exists()


async def test_the_traps_of_these_tests_do_spring(source: Path, tmp_path: Path) -> None:
    booby_trap(source / ".git", tmp_path / "canary", attributes="* filter=evil\n")
    with suppress(subprocess.CalledProcessError):  # the trap's answer is none that git can use
        git(source, "status")
    assert (tmp_path / "canary").exists()


async def test_a_branch_that_somebody_has_checked_out_is_not_moved_under_their_feet(
    git_setup: GitSetup,
) -> None:
    workspace = await git_setup.open()
    (workspace.tree / "a.txt").write_text("a\n")
    first = await workspace.commit(message(), author=ADA)
    remote = remote_of(git_setup.source)
    await workspace.push(remote, expected_sha=None)
    git(git_setup.source, "worktree", "add", "--quiet", "../look", BRANCH)
    (workspace.tree / "b.txt").write_text("b\n")
    await workspace.commit(message(), author=ADA)
    with pytest.raises(Conflict, match="checked out"):
        await workspace.push(remote, expected_sha=first)


def clone(tmp_path: Path, source: Path, *options: str) -> Path:
    git(source, "config", "uploadpack.allowFilter", "true")
    for number in range(3):
        commit_files(source, {"src/app.py": f"{number}\n"}, f"Number {number}")
    git(tmp_path, "clone", "--quiet", *options, source.as_uri(), "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize("what", ["blob:none", "tree:0"])
async def test_a_partial_clone_says_how_to_get_what_it_lacks_and_then_works(
    source: Path, home: Path, tmp_path: Path, what: str
) -> None:
    copy = clone(tmp_path, source, f"--filter={what}")
    git_setup = GitSetup(copy, home, "git_branch")
    with pytest.raises(InvalidRepository, match="partial clone") as refused:
        await git_setup.open()
    command = refused.value.hint.split("`")[1]
    assert command == f"git -C {copy} fetch --refetch --no-filter"
    git(tmp_path, *command.removeprefix("git ").split())
    await work_and_push(git_setup)


@pytest.mark.parametrize("options", [("--depth=1",), ("--shared",), ("--no-local",)])
async def test_shallow_and_borrowing_clones_are_worked_on(
    source: Path, home: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    await work_and_push(GitSetup(clone(tmp_path, source, *options), home, "git_branch"))


@pytest.mark.parametrize("damage", ["garbage", "gone"])
async def test_damaged_objects_are_named_with_what_to_do(source: Path, home: Path, damage: str) -> None:
    lost = git(source, "rev-parse", "main^{tree}")
    file = source / ".git/objects" / lost[:2] / lost[2:]
    file.chmod(0o644)
    file.unlink() if damage == "gone" else file.write_bytes(b"garbage")
    with pytest.raises(InvalidRepository, match=lost) as refused:
        await GitSetup(source, home, "git_branch").open()
    assert "fsck --full" in refused.value.hint
    assert str(source) in refused.value.message


async def test_damaged_objects_of_our_mirror_are_named_as_its(git_setup: GitSetup) -> None:
    mirror = await git_setup.refresh()
    lost = git(git_setup.source, "rev-parse", "main:readme.md")
    file = mirror.path / "objects" / lost[:2] / lost[2:]
    file.unlink()
    file.write_bytes(b"garbage")
    with pytest.raises(InvalidRepository, match=lost) as refused:
        await mirror.check_checkout(mirror.resolve("main"), max_files=100, max_bytes=10**6)
    assert str(mirror.path) in refused.value.hint


@pytest.mark.parametrize("name", [".git", "..", ".", ".GIT", "git~1", ".git "])
async def test_a_tree_that_git_refuses_is_called_what_it_is(source: Path, home: Path, name: str) -> None:
    entry = b"100644 %b\0%b" % (name.encode(), bytes.fromhex(git(source, "rev-parse", "HEAD:readme.md")))
    tree = git(source, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=entry)
    git(source, "update-ref", "refs/heads/main", git(source, "commit-tree", tree, "-m", "Bad", "-p", "HEAD"))
    git_setup = GitSetup(source, home, "git_branch")
    mirror = await git_setup.refresh()
    with pytest.raises(InvalidRepository, match="refuses to check out"):
        await mirror.check_checkout(mirror.resolve("main"), max_files=100, max_bytes=10**6)
    with pytest.raises(InvalidRepository, match="refuses to check out"):
        await git_setup.open()


async def test_a_branch_called_head_can_be_checked_out_and_worked_on(source: Path, home: Path) -> None:
    git(source, "update-ref", "refs/heads/HEAD", "HEAD")
    git(source, "symbolic-ref", "HEAD", "refs/heads/HEAD")
    git_setup = GitSetup(source, home, "git_branch")
    assert (await git_setup.refresh()).default_branch() == "HEAD"
    await work_and_push(git_setup)


async def test_pipes_in_a_repository_keep_nobody_waiting(database: Database, tmp_path: Path) -> None:
    for name in ("HEAD", "config"):
        source = make_repository(tmp_path / name)
        (source / ".git" / name).unlink()
        os.mkfifo(source / ".git" / name)
        forge = LocalForge(database, "http://127.0.0.1:8700")
        if name == "HEAD":
            with pytest.raises(InvalidRepository, match="cannot read"):
                await forge.verify(repository_at(source))
        else:
            assert (await forge.verify(repository_at(source))).default_branch == "main"
