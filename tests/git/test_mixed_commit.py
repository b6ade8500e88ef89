"""A commit with some files of another: nothing of the repository moves, and no link is followed."""

import os

from journeyman.git.mixed_commit import commit_with
from journeyman.git.workspace import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, git, message


async def _committed(workspace: Workspace) -> tuple[str, str]:
    base = await workspace.head()
    (workspace.tree / "src/app.py").write_text("two\n")
    (workspace.tree / "tests").mkdir()
    (workspace.tree / "tests/test_app.py").write_text("check\n")
    (workspace.tree / "readme.md").unlink()
    head = await workspace.commit(message(), author=ADA)
    assert head is not None
    return base, head


async def test_files_are_taken_from_another_commit_and_those_it_lacks_are_removed(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    base, head = await _committed(workspace)
    paths = ["tests/test_app.py", "readme.md", "nowhere.txt"]
    mixed = await commit_with(workspace.mirror, base, taken={head: paths})
    async with git_setup.workspaces.checkouts.open(workspace.mirror, ORDER, mixed) as checkout:
        assert (checkout.tree / "src/app.py").read_text() == "one\n"
        assert (checkout.tree / "tests/test_app.py").read_text() == "check\n"
        assert not (checkout.tree / "readme.md").exists()
    assert await workspace.head() == head
    git(workspace.mirror.path, "fsck")


async def test_files_are_written_and_removed(workspace: Workspace) -> None:
    base = await workspace.head()
    mixed = await commit_with(
        workspace.mirror, base, written={"src/app.py": b"three\n"}, removed=["readme.md"]
    )
    shown = git(workspace.mirror.path, "show", f"{mixed}:src/app.py")
    assert shown == "three"
    assert git(workspace.mirror.path, "ls-tree", "-r", "--name-only", mixed) == "src/app.py"


async def test_the_same_files_give_the_same_commit_and_none_the_commit_itself(workspace: Workspace) -> None:
    base, head = await _committed(workspace)
    made = [await commit_with(workspace.mirror, head, taken={base: ["readme.md"]}) for _ in range(2)]
    assert made[0] == made[1] != head
    assert await commit_with(workspace.mirror, head) == head


async def test_a_directory_that_became_a_link_is_replaced_and_not_followed(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    base, head = await _committed(workspace)
    (workspace.tree / "tests/test_app.py").unlink()
    (workspace.tree / "tests").rmdir()
    os.symlink("/etc", workspace.tree / "tests")
    linked = await workspace.commit(message(), author=ADA)
    assert linked is not None
    mixed = await commit_with(workspace.mirror, linked, taken={head: ["tests/test_app.py"]})
    async with git_setup.workspaces.checkouts.open(workspace.mirror, ORDER, mixed) as checkout:
        assert not (checkout.tree / "tests").is_symlink()
        assert (checkout.tree / "tests/test_app.py").read_text() == "check\n"
    assert base != mixed
