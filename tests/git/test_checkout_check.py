"""What cannot be checked out is refused before it is."""

from pathlib import Path

import pytest

from journeyman.errors import InvalidRepository
from journeyman.git.mirror import FreshMirror
from journeyman.git.mirrors import Mirrors
from tests.git.repositories import commit_files, git, remote_of, repository_at


async def check(
    home: Path, source: Path, *, max_files: int = 1000, max_bytes: int = 1_000_000
) -> FreshMirror:
    mirror = await Mirrors(home / "mirrors").refresh(repository_at(source), remote_of(source))
    await mirror.check_checkout(mirror.resolve("main"), max_files=max_files, max_bytes=max_bytes)
    return mirror


def add_tree(source: Path, entries: str) -> str:
    return git(source, "mktree", stdin=entries.encode())


def commit_tree(source: Path, tree: str) -> None:
    git(source, "update-ref", "refs/heads/main", git(source, "commit-tree", tree, "-m", "Made by hand"))


async def test_an_ordinary_repository_passes(home: Path, source: Path) -> None:
    commit_files(source, {".gitattributes": "*.txt text\n# *.bin filter=lfs\n"}, "Attributes")
    await check(home, source)


async def test_too_many_files_are_refused(home: Path, source: Path) -> None:
    with pytest.raises(InvalidRepository, match="more than 2 files") as raised:
        await check(home, source, max_files=2)
    assert "JOURNEYMAN_REPOSITORY_MAX_FILES" in raised.value.hint


async def test_too_many_bytes_are_refused(home: Path, source: Path) -> None:
    with pytest.raises(InvalidRepository, match="larger than 5 bytes") as raised:
        await check(home, source, max_bytes=5)
    assert "JOURNEYMAN_REPOSITORY_MAX_BYTES" in raised.value.hint


@pytest.mark.parametrize("leaf", ["file", "nothing"])
async def test_a_tree_that_branches_without_end_is_refused(home: Path, source: Path, leaf: str) -> None:
    """Ten levels of ten: 10^10 files, or as many empty directories."""
    blob = git(source, "hash-object", "-w", "--stdin", stdin=b"boom\n")
    tree = add_tree(source, f"100644 blob {blob}\tf\n" if leaf == "file" else "")
    for _ in range(10):
        tree = add_tree(source, "".join(f"040000 tree {tree}\td{number}\n" for number in range(10)))
    commit_tree(source, tree)
    with pytest.raises(InvalidRepository, match="more than 1,000 files"):
        await check(home, source)


async def test_a_tree_that_is_too_deep_is_refused(home: Path, source: Path) -> None:
    blob = git(source, "hash-object", "-w", "--stdin", stdin=b"deep\n")
    tree = add_tree(source, f"100644 blob {blob}\tf\n")
    for _ in range(20):
        tree = add_tree(source, f"040000 tree {tree}\t{'d' * 250}\n")
    commit_tree(source, tree)
    with pytest.raises(InvalidRepository, match="deeper"):
        await check(home, source)


async def test_where_submodules_lie_is_found_out(home: Path, source: Path) -> None:
    head = git(source, "rev-parse", "main")
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{head},vendor/library")
    git(source, "commit", "--quiet", "--message", "Add a submodule")
    mirror = await check(home, source)
    found = await mirror.check_checkout(mirror.resolve("main"), max_files=1000, max_bytes=1_000_000)
    assert found.gitlinks == {b"vendor/library": head}


async def test_a_list_of_submodules_that_is_too_long_is_refused(home: Path, source: Path) -> None:
    commit_files(source, {".gitmodules": "#" * 1_100_000}, "Modules")
    with pytest.raises(InvalidRepository, match="gitmodules"):
        await check(home, source, max_bytes=10**7)


async def test_git_lfs_is_seen_wherever_its_attributes_lie(home: Path, source: Path) -> None:
    commit_files(source, {"assets/.gitattributes": "*.psd filter=lfs diff=lfs merge=lfs -text\n"}, "LFS")
    mirror = await check(home, source)
    found = await mirror.check_checkout(mirror.resolve("main"), max_files=1000, max_bytes=1_000_000)
    assert found.uses_lfs
