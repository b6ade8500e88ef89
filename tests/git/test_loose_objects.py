"""What is written by hand is what git would have written."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from journeyman.errors import Conflict
from journeyman.forges.base import Person
from journeyman.git.commits import identity
from journeyman.git.loose_objects import move_branch, signatures_of, write_commit
from tests.git.repositories import ADA, git

BRANCH = "refs/heads/main"


def write(git_dir: Path, tree: str, parent: str, text: str, author: Person) -> str:
    return write_commit(
        git_dir, tree=tree, parents=[parent], signatures=signatures_of(author), message=text.encode()
    )


@pytest.mark.parametrize(
    "author",
    [
        ADA,
        Person("Ädä Løvelace", "ada@example.org"),
        Person("Ada <the> first", "a>da<@example.org"),
        Person("", ""),
    ],
)
def test_a_commit_is_the_one_that_git_makes(source: Path, author: Person) -> None:
    parent, tree = git(source, "rev-parse", "HEAD", "HEAD^{tree}").split()
    text = "Do it\n\nWhy: ü # not a comment\n\nAgent-Phase: planning\n"
    name = write(source / ".git", tree, parent, text, author)
    raw = git(source, "cat-file", "commit", name)
    when = raw.split("> ", 1)[1].split("\n")[0]
    made = subprocess.run(
        ["git", "-c", "safe.directory=*", "commit-tree", tree, "-p", parent],
        cwd=source,
        input=text.encode(),
        capture_output=True,
        check=True,
        env={
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            **identity(author),
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_DATE": when,
        },
    )
    assert made.stdout.decode().strip() == name
    assert "dangling commit " + name in git(source, "fsck", "--strict", "--dangling")


def test_a_repository_of_the_longer_names_gets_a_longer_name(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    tree = git(tmp_path, "write-tree")
    parent = git(tmp_path, "commit-tree", tree, "-m", "Begin")
    name = write(tmp_path / ".git", tree, parent, "More\n", ADA)
    assert len(name) == hashlib.sha256().digest_size * 2
    assert git(tmp_path, "log", "--format=%s %an", name) == "More Ada\nBegin Test"


def test_a_commit_can_be_read_by_other_users(source: Path) -> None:
    parent, tree = git(source, "rev-parse", "HEAD", "HEAD^{tree}").split()
    before = os.umask(0o077)
    try:
        name = write(source / ".git", tree, parent, "More\n", ADA)
    finally:
        os.umask(before)
    file = source / ".git/objects" / name[:2] / name[2:]
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o444, 0o755)


def test_a_branch_moves_only_from_where_it_is_thought_to_be(source: Path) -> None:
    old, tree = git(source, "rev-parse", "HEAD", "HEAD^{tree}").split()
    new = write(source / ".git", tree, old, "More\n", ADA)
    with pytest.raises(Conflict, match=old):
        move_branch(source / ".git", BRANCH, old, new)
    assert git(source, "rev-parse", BRANCH) == old
    assert move_branch(source / ".git", BRANCH, new, old)
    assert git(source, "rev-parse", BRANCH) == new


def test_a_branch_that_somebody_else_is_moving_stays(source: Path) -> None:
    head = git(source, "rev-parse", "HEAD")
    (source / ".git" / f"{BRANCH}.lock").touch()
    with pytest.raises(Conflict, match="locked"):
        move_branch(source / ".git", BRANCH, head, head)
    assert (source / ".git" / f"{BRANCH}.lock").exists()


@pytest.mark.parametrize("name", ["main", "deep/er"])
def test_a_packed_branch_is_left_to_git(source: Path, name: str) -> None:
    head = git(source, "rev-parse", "HEAD")
    git(source, "branch", "--force", "deep/er")
    git(source, "pack-refs", "--all")
    assert not move_branch(source / ".git", f"refs/heads/{name}", head, head)
    assert not (source / ".git/refs/heads" / f"{name}.lock").exists()
