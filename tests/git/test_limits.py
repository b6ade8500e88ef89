"""Files that keep a reader waiting or are too much for it: git leaves them alone or ends at its limits."""

import asyncio
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from journeyman.errors import InvalidRepository, WorkspaceUnreadable
from journeyman.git.confine import Confinement
from journeyman.git.run import git as platform_git
from journeyman.git.staging import in_thread
from journeyman.git.trees import LARGEST_RULES, NO_HAZARDS, LeftOut, find_hazards, walk
from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, GitSetup, commit_files, git, message, tracked

PIPES = (
    ".gitignore",
    ".gitattributes",
    "deep/er/.gitignore",
    "src/.gitattributes",
    "nested/.git/HEAD",
    "nested/.git/commondir",
    ".journeyman",
)
SLOW_RULES = "".join(f"{'a*' * 40}b{number}\n" for number in range(2000))


def make_pipe(tree: Path, name: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if "nested" in name:
        for directory in ("objects", "refs"):
            (path.parent / directory).mkdir(exist_ok=True)
        (path.parent / "HEAD").write_text("ref: refs/heads/main\n")
        path.unlink(missing_ok=True)
    os.mkfifo(path)


def make_sparse(path: Path, megabytes: int) -> None:
    with path.open("wb") as file:
        file.truncate(megabytes * 1024 * 1024)


async def committed(workspace: Workspace) -> tuple[list[str], dict[str, str]]:
    """The files of the branch after a commit, and what was left out of it, by path with the reason."""
    left_out: list[LeftOut] = []
    commit_sha = await workspace.commit(message(), author=ADA, on_left_out=left_out.extend)
    assert commit_sha is not None
    return tracked(workspace.mirror, commit_sha), {one.shown_path: one.reason for one in left_out}


@pytest.mark.parametrize("name", PIPES)
async def test_a_named_pipe_keeps_nobody_waiting(workspace: Workspace, name: str) -> None:
    make_pipe(workspace.tree, name)
    (workspace.tree / "kept.txt").write_text("kept\n")
    began = time.monotonic()
    assert await workspace.snapshot(within=5) is not None
    files, left_out = await committed(workspace)
    assert files == ["kept.txt", "readme.md", "src/app.py"]
    assert "a named pipe" in left_out[name]
    await workspace.restore(workspace.base_commit_sha)
    assert time.monotonic() - began < 15


async def test_rules_behind_a_pipe_do_not_hide_the_rules_beside_it(workspace: Workspace) -> None:
    make_pipe(workspace.tree, "src/.gitignore")
    (workspace.tree / ".gitignore").write_text("*.log\n")
    (workspace.tree / "src/a.log").write_text("noise\n")
    files, _ = await committed(workspace)
    assert files == [".gitignore", "readme.md", "src/app.py"]


@pytest.mark.parametrize(
    "content", [SLOW_RULES * 400, *(pytest.param(size, id=f"{size} MB of nothing") for size in (700, 2100))],
    ids=["40 MB of slow rules", None, None],
)  # fmt: skip
async def test_rules_too_long_to_read_are_left_out(workspace: Workspace, content: str | int) -> None:
    rules = workspace.tree / ".gitignore"
    rules.write_text(content) if isinstance(content, str) else make_sparse(rules, content)
    (workspace.tree / f"{'a' * 100}.txt").write_text("kept\n")
    began = time.monotonic()
    files, left_out = await committed(workspace)
    assert files == [f"{'a' * 100}.txt", "readme.md", "src/app.py"]
    assert list(left_out) == [".gitignore"]
    assert f"{LARGEST_RULES:,} bytes" in left_out[".gitignore"]
    assert time.monotonic() - began < 15


async def test_a_rule_that_takes_forever_ends_at_the_limit_of_time(workspace: Workspace) -> None:
    (workspace.tree / ".gitignore").write_text(SLOW_RULES)
    for number in range(300):
        (workspace.tree / f"{'a' * 120}{number}").write_text("")
    shown = Confinement(readable=(workspace.tree, workspace.mirror.path, workspace.git_dir), cpu_seconds=1)
    with pytest.raises(WorkspaceUnreadable, match="SIGXCPU") as ended:
        await platform_git(
            "status", "--untracked-files=all",
            git_dir=workspace.git_dir, work_tree=workspace.tree, confinement=shown,
        )  # fmt: skip
    assert (ended.value.category, ended.value.retryable) == ("sandbox", False)


async def test_a_pipe_swapped_in_ends_at_the_limit_of_waiting(workspace: Workspace) -> None:
    make_pipe(workspace.tree, ".gitignore")
    shown = Confinement(readable=(workspace.tree, workspace.mirror.path, workspace.git_dir))
    with pytest.raises(WorkspaceUnreadable, match="did not end within 1 s"):
        await platform_git(
            "status", "--untracked-files=all",
            git_dir=workspace.git_dir, work_tree=workspace.tree, confinement=shown, timeout=1,
        )  # fmt: skip


async def test_memory_beyond_the_limit_is_not_to_be_had(workspace: Workspace) -> None:
    make_sparse(workspace.tree / ".gitignore", 700)
    shown = Confinement(
        readable=(workspace.tree, workspace.mirror.path, workspace.git_dir), memory_megabytes=256
    )
    with pytest.raises(WorkspaceUnreadable, match="memory"):
        await platform_git(
            "status", "--untracked-files=all",
            git_dir=workspace.git_dir, work_tree=workspace.tree, confinement=shown,
        )  # fmt: skip


async def test_a_snapshot_that_takes_too_long_says_so_and_can_be_taken_later(workspace: Workspace) -> None:
    (workspace.tree / "kept.txt").write_text("kept\n")
    async with workspace.lock.hold():
        with pytest.raises(WorkspaceUnreadable, match="within"):
            await workspace.snapshot(within=0.1)
    assert await workspace.snapshot() is not None


async def test_more_pipes_than_can_be_hidden_are_refused_at_once(workspace: Workspace) -> None:
    for number in range(150):
        os.mkfifo(workspace.tree / f"pipe{number}")
    with pytest.raises(WorkspaceUnreadable, match="150 files that git must not open"):
        await workspace.snapshot()


async def test_what_is_left_out_comes_with_its_size_and_reason(workspace: Workspace) -> None:
    make_sparse(workspace.tree / "huge.bin", 200)
    (workspace.tree / "readme.md").unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(workspace.tree)
        listening.bind("readme.md")
        os.chdir(here)
    (workspace.tree / "kept.txt").write_text("kept\n")
    left_out: list[LeftOut] = []
    await workspace.commit(message(), author=ADA, on_left_out=left_out.extend)
    told = {one.shown_path: (one.size, one.reason) for one in left_out}
    assert told == {
        "huge.bin": (200 * 1024 * 1024, "larger than 100 MB"),
        "readme.md": (0, "a socket, which git cannot store"),
    }


@pytest.fixture
def deep_place(tmp_path: Path) -> Iterator[Path]:
    """What is made here may be deeper than Python can remove."""
    yield tmp_path
    subprocess.run(["rm", "-rf", "--", tmp_path], check=True)


def test_a_walk_ends_at_no_depth_and_follows_no_link(deep_place: Path) -> None:
    tmp_path = deep_place
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=descriptor)
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(list(walk(tmp_path))) == 1501
    assert find_hazards(tmp_path) == NO_HAZARDS


async def test_a_workspace_of_a_deep_tree_is_opened(deep_place: Path, source: Path, home: Path) -> None:
    assert home.is_relative_to(deep_place)
    blob = git(source, "hash-object", "-w", "--stdin", stdin=b"deep\n")
    git(source, "update-index", "--add", "--cacheinfo", f"100644,{blob},{'d/' * 1200}file")
    git(source, "commit", "--quiet", "--message", "Deep")
    workspace = await GitSetup(source, home, "git_branch").open()
    assert not await workspace.has_changes()


async def test_a_repository_whose_rules_are_too_long_is_refused(source: Path, home: Path) -> None:
    commit_files(source, {".gitignore": "x\n" * LARGEST_RULES})
    mirror = await GitSetup(source, home, "git_branch").refresh()
    with pytest.raises(InvalidRepository, match=r"\.gitignore is larger"):
        await mirror.check_checkout(mirror.resolve("main"), max_files=100, max_bytes=10**9)


async def test_work_on_files_stops_when_nobody_waits_for_it_any_more() -> None:
    ended = threading.Event()

    def walk_for_ever(*, is_stopped: Callable[[], bool]) -> None:
        while not is_stopped():
            pass
        ended.set()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await in_thread(walk_for_ever)
    assert await asyncio.to_thread(ended.wait, 20)
