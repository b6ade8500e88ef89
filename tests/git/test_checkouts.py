"""A clean checkout holds the commit and nothing else, and is gone afterwards."""

from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, git, message


async def test_a_checkout_has_the_files_of_the_commit_and_nothing_that_is_not_committed(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    (workspace.tree / "new.txt").write_text("new\n")
    (workspace.tree / ".gitignore").write_text("/ignored\n")
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    (workspace.tree / "ignored").write_text("left by an agent\n")
    (workspace.tree / "readme.md").write_text("not committed\n")
    async with git_setup.workspaces.checkouts.open(workspace.mirror, ORDER, commit_sha) as checkout:
        found = {str(path.relative_to(checkout.tree)) for path in checkout.tree.rglob("*") if path.is_file()}
        assert found == {".git", ".gitignore", "new.txt", "readme.md", "src/app.py"}
        assert (checkout.tree / "readme.md").read_text() == "hello\n"
        assert git(checkout.tree, "status", "--porcelain") == ""
        assert git(checkout.tree, "rev-parse", "HEAD") == commit_sha
    assert not checkout.tree.exists()


async def test_a_checkout_that_a_killed_process_left_goes_at_the_next_start(
    git_setup: GitSetup, workspace: Workspace
) -> None:
    opened = git_setup.workspaces.checkouts.open(workspace.mirror, ORDER, await workspace.head())
    checkout = await opened.__aenter__()
    git_setup.restart()
    git_setup.workspaces.discard_leftovers()
    git_setup.workspaces.trash.empty()
    assert not checkout.tree.exists()
    git(workspace.mirror.path, "fsck")
