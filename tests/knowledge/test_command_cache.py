"""Commands are read from a commit's objects: links are not followed, and the working tree says nothing."""

from pathlib import Path

from journeyman.knowledge.command_cache import CommandCache
from tests.git.repositories import GitSetup, commit_files, git, make_repository


async def test_commands_come_from_the_commit_and_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("Tell me.")
    source = make_repository(
        tmp_path / "source",
        {
            ".claude/commands/fix.md": "Fix $1.\n",
            ".claude/commands/web/test.md": "Test the page.\n",
            ".claude/commands/big.md": "x" * 70_000,
            ".claude/settings.json": "{}",
        },
    )
    (source / ".claude/commands/leak.md").symlink_to(secret)
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Link")
    git_setup = GitSetup(source, tmp_path / "home", "git_worktree")
    workspace = await git_setup.open()
    (workspace.tree / ".claude/commands/fix.md").write_text("Do harm.")
    read = await CommandCache().at(workspace.mirror, workspace.base_commit_sha)
    assert [(one.name, one.body) for one in read.commands] == [
        ("fix", "Fix $1."),
        ("web:test", "Test the page."),
    ]
    assert [one.path for one in read.problems] == [".claude/commands/big.md", ".claude/commands/leak.md"]
    assert "Tell me" not in str(read)


async def test_a_directory_that_is_a_link_and_one_that_is_not_there(tmp_path: Path) -> None:
    shelf = CommandCache()
    source = make_repository(tmp_path / "source", {"elsewhere/fix.md": "Fix it."})
    plain = await GitSetup(source, tmp_path / "home", "git_worktree").open()
    nothing = await shelf.at(plain.mirror, plain.base_commit_sha)
    assert (nothing.commands, nothing.problems) == ((), ())
    (source / ".claude").mkdir()
    (source / ".claude/commands").symlink_to("../elsewhere")
    commit_files(source, {})
    linked = await GitSetup(source, tmp_path / "other", "git_worktree").open()
    [problem] = (await shelf.at(linked.mirror, linked.base_commit_sha)).problems
    assert (problem.path, "link" in problem.message) == (".claude/commands", True)
