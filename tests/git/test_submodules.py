"""Submodules are there as plain files at their pinned commits, and what cannot be had is told."""

from pathlib import Path

import pytest

from journeyman.forges.base import Remote
from journeyman.git.mirror import FreshMirror
from journeyman.git.missing import Missing
from journeyman.git.submodules import Submodules, resolve_url
from journeyman.git.trees import LeftOut
from journeyman.git.workspaces import Workspace
from journeyman.work_orders.repositories import Repository, parse_repository
from tests.git.repositories import (
    ADA,
    ORDER,
    GitSetup,
    commit_files,
    git,
    make_repository,
    message,
    repository_at,
    status,
    tracked,
)


def add_submodule(source: Path, path: str, url: str, commit: str, *, name: str | None = None) -> None:
    """What `git submodule add` commits, without a clone."""
    with (source / ".gitmodules").open("a") as file:
        file.write(f'[submodule "{name or path}"]\n\tpath = {path}\n\turl = {url}\n')
    git(source, "add", ".gitmodules")
    git(source, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    git(source, "commit", "--quiet", "--message", f"Add {path}")


async def remote_of(repository: Repository) -> Remote:
    return Remote(repository.url)


async def fetch(
    setup: GitSetup, *, max_files: int = 1000, max_bytes: int = 10**6
) -> tuple[FreshMirror, list[Missing]]:
    mirror = await setup.refresh()
    submodules = Submodules(
        mirrors=setup.mirrors,
        remote_of=remote_of,
        github_url="https://github.com",
        max_files=max_files,
        max_bytes=max_bytes,
    )
    missing = await submodules.fetch(mirror, repository_at(setup.source), mirror.resolve("main"))
    return mirror, missing


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "library", {"lib.c": "int one;\n", "include/lib.h": "int one;\n"})


@pytest.fixture
def pinned(git_setup: GitSetup, library: Path) -> str:
    commit = git(library, "rev-parse", "HEAD")
    add_submodule(git_setup.source, "vendor/lib", "../library", commit)
    commit_files(library, {"lib.c": "int two;\n"}, "Go on")
    return commit


@pytest.fixture
async def filled(git_setup: GitSetup, pinned: str) -> Workspace:
    assert (await fetch(git_setup))[1] == []
    return await git_setup.open()


def content_of(tree: Path) -> dict[str, str]:
    return {
        str(path.relative_to(tree)): path.read_text()
        for path in tree.rglob("*")
        if path.is_file() and path.name != ".git"
    }


async def test_a_workspace_has_the_files_of_the_pinned_commit_and_no_git_directory_in_them(
    filled: Workspace,
) -> None:
    assert content_of(filled.tree / "vendor/lib") == {"lib.c": "int one;\n", "include/lib.h": "int one;\n"}
    assert not (filled.tree / "vendor/lib/.git").exists()
    assert (filled.tree / "vendor/lib/lib.c").stat().st_uid == (filled.tree / "readme.md").stat().st_uid
    assert status(filled) == ""
    assert not await filled.has_changes()


async def test_a_clean_checkout_has_them_too(git_setup: GitSetup, filled: Workspace) -> None:
    head = await filled.head()
    async with git_setup.workspaces.checkouts.open(filled.mirror, ORDER, head) as checkout:
        assert (checkout.tree / "vendor/lib/lib.c").read_text() == "int one;\n"
        assert git(checkout.tree, "status", "--porcelain") == ""


async def test_changes_inside_a_submodule_are_not_committed_and_are_told(filled: Workspace) -> None:
    (filled.tree / "vendor/lib/lib.c").write_text("changed\n")
    (filled.tree / "vendor/lib/new.c").write_text("new\n")
    (filled.tree / "readme.md").write_text("changed\n")
    told: list[LeftOut] = []
    commit = await filled.commit(message(), author=ADA, on_left_out=told.extend)
    assert commit is not None
    assert [(one.path, "submodule" in one.reason) for one in told] == [(b"vendor/lib", True)]
    changed = git(filled.mirror.path, "diff", "--name-only", f"{commit}~", commit)
    assert changed == "readme.md"


async def test_changes_inside_a_submodule_alone_make_no_commit(filled: Workspace) -> None:
    (filled.tree / "vendor/lib/include/lib.h").unlink()
    told: list[LeftOut] = []
    assert await filled.commit(message(), author=ADA, on_left_out=told.extend) is None
    assert [one.path for one in told] == [b"vendor/lib"]


async def test_an_untouched_submodule_is_not_told(filled: Workspace) -> None:
    (filled.tree / "readme.md").write_text("changed\n")
    told: list[LeftOut] = []
    assert await filled.commit(message(), author=ADA, on_left_out=told.extend)
    assert told == []


@pytest.mark.parametrize("place", ["vendor", "vendor/lib"])
@pytest.mark.parametrize("kind", ["link", "file", "nothing"])
async def test_a_submodule_stays_pinned_whatever_takes_its_place(
    filled: Workspace, tmp_path: Path, place: str, kind: str
) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "lib").mkdir()
    (outside / "lib/precious").write_text("precious\n")
    before = content_of(outside)
    moved = filled.tree / place
    moved.rename(filled.tree / "moved-away")
    if kind == "link":
        moved.symlink_to(outside)
    elif kind == "file":
        moved.write_text("a file\n")
    told: list[LeftOut] = []
    commit = await filled.commit(message(), author=ADA, on_left_out=told.extend)
    assert commit is not None
    assert "vendor/lib" in tracked(filled.mirror, commit)
    assert [one.path for one in told] == [b"vendor/lib"]
    await filled.restore(commit)
    assert (filled.tree / "vendor/lib/lib.c").read_text() == "int one;\n"
    assert content_of(outside) == before


async def test_restore_throws_away_what_was_changed_inside(filled: Workspace) -> None:
    (filled.tree / "vendor/lib/lib.c").write_text("changed\n")
    (filled.tree / "vendor/lib/new.c").write_text("new\n")
    await filled.restore(await filled.head())
    assert content_of(filled.tree / "vendor/lib") == {"lib.c": "int one;\n", "include/lib.h": "int one;\n"}


async def test_a_workspace_that_is_made_again_has_its_submodules(
    git_setup: GitSetup, filled: Workspace
) -> None:
    (filled.tree / "readme.md").write_text("kept\n")
    await filled.snapshot()
    await git_setup.workspaces.remove(ORDER)
    git_setup.restart()
    again = await git_setup.open()
    assert (again.tree / "vendor/lib/lib.c").read_text() == "int one;\n"
    assert (again.tree / "readme.md").read_text() == "kept\n"


async def test_a_repository_inside_a_submodule_is_not_obeyed(filled: Workspace, tmp_path: Path) -> None:
    inside = filled.tree / "vendor/lib"
    git(inside, "init", "--quiet")
    git(inside, "config", "core.fsmonitor", f"touch {tmp_path / 'obeyed'}")
    (inside / "lib.c").write_text("changed\n")
    await filled.commit(message(), author=ADA)
    assert not (tmp_path / "obeyed").exists()


async def test_submodules_of_submodules_are_there_down_to_three_levels(
    git_setup: GitSetup, tmp_path: Path
) -> None:
    below = make_repository(tmp_path / "level-5", {"f": "5\n"})
    for level in range(4, 0, -1):
        above = make_repository(tmp_path / f"level-{level}", {"f": f"{level}\n"})
        add_submodule(above, "next", f"../level-{level + 1}", git(below, "rev-parse", "HEAD"))
        below = above
    add_submodule(git_setup.source, "deep", "../level-1", git(below, "rev-parse", "HEAD"))
    _, missing = await fetch(git_setup)
    assert [(one.path, "3 levels" in one.reason) for one in missing] == [("deep/next/next/next", True)]
    tree = (await git_setup.open()).tree
    assert [(tree / "deep" / f"{'next/' * depth}f").read_text() for depth in range(3)] == [
        "1\n",
        "2\n",
        "3\n",
    ]
    assert list((tree / "deep/next/next/next").iterdir()) == []


async def test_what_cannot_be_had_is_told_and_the_rest_is_there(
    git_setup: GitSetup, library: Path, pinned: str, tmp_path: Path
) -> None:
    unknown = "1" * 40
    add_submodule(git_setup.source, "gone", "../nowhere", pinned)
    add_submodule(git_setup.source, "unpushed", "../library", unknown)
    add_submodule(git_setup.source, "elsewhere", "https://github.com/acme/thing", pinned)
    add_submodule(git_setup.source, "hostile", "ext::sh -c touch% " + str(tmp_path / "run"), pinned)
    add_submodule(git_setup.source, "option", "--upload-pack=touch", pinned)
    git(git_setup.source, "update-index", "--add", "--cacheinfo", f"160000,{pinned},unlisted")
    git(git_setup.source, "commit", "--quiet", "--message", "Forget the address")
    _, missing = await fetch(git_setup)
    assert {one.path for one in missing} == {"gone", "unpushed", "elsewhere", "hostile", "option", "unlisted"}
    assert all(one.reason and one.hint for one in missing)
    assert "submodule update --init" in next(one.hint for one in missing if one.path == "elsewhere")
    assert not (tmp_path / "run").exists()
    workspace = await git_setup.open()
    assert (workspace.tree / "vendor/lib/lib.c").exists()
    assert list((workspace.tree / "gone").iterdir()) == []
    assert not await workspace.has_changes()


async def test_a_submodule_beyond_the_limits_of_a_checkout_is_left_out(
    git_setup: GitSetup, pinned: str
) -> None:
    _, missing = await fetch(git_setup, max_files=8)
    [one] = missing
    assert one.path == "vendor/lib"
    assert "JOURNEYMAN_REPOSITORY_MAX_FILES" in one.hint


async def test_a_commit_on_no_branch_is_found_all_the_same(git_setup: GitSetup, library: Path) -> None:
    first = git(library, "rev-parse", "HEAD")
    commit_files(library, {"lib.c": "left behind\n"}, "On no branch")
    pinned = git(library, "rev-parse", "HEAD")
    git(library, "reset", "--quiet", "--hard", first)
    add_submodule(git_setup.source, "lib", str(library), pinned)
    assert (await fetch(git_setup))[1] == []
    assert ((await git_setup.open()).tree / "lib/lib.c").read_text() == "left behind\n"


async def test_what_a_clone_of_this_machine_has_of_its_submodules_is_used(
    git_setup: GitSetup, library: Path
) -> None:
    git(
        git_setup.source,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(library),
        "lib",
    )
    git(
        git_setup.source,
        "config",
        "--file",
        ".gitmodules",
        "submodule.lib.url",
        "https://github.com/acme/lib",
    )
    git(git_setup.source, "commit", "--quiet", "--all", "--message", "Add lib")
    assert (await fetch(git_setup))[1] == []
    assert ((await git_setup.open()).tree / "lib/lib.c").read_text() == "int one;\n"


async def test_a_branch_without_that_checkout_finds_them_in_the_clone_as_well(
    git_setup: GitSetup, library: Path
) -> None:
    source = git_setup.source
    git(source, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    git(source, "config", "--file", ".gitmodules", "submodule.lib.url", "https://github.com/acme/lib")
    git(source, "commit", "--quiet", "--all", "--message", "Add lib")
    git(source, "submodule", "--quiet", "deinit", "--force", "lib")
    assert (await fetch(git_setup))[1] == []
    assert ((await git_setup.open()).tree / "lib/lib.c").read_text() == "int one;\n"


async def test_files_that_gitmodules_includes_are_not_read(git_setup: GitSetup, pinned: str) -> None:
    with (git_setup.source / ".gitmodules").open("a") as file:
        file.write("[include]\n\tpath = /etc/hosts\n")
    git(git_setup.source, "commit", "--quiet", "--all", "--message", "Include")
    assert (await fetch(git_setup))[1] == []


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("../other", "https://github.com/acme/other"),
        ("../../else/other.git", "https://github.com/else/other"),
        ("git@github.com:acme/other.git", "https://github.com/acme/other"),
        ("ssh://git@github.com/acme/other", "https://github.com/acme/other"),
        ("git://github.com/acme/other.git", "https://github.com/acme/other"),
        ("http://github.com/acme/other", "https://github.com/acme/other"),
        ("https://github.com/acme/other.git", "https://github.com/acme/other"),
    ],
)
def test_every_spelling_of_an_address_on_the_same_forge_is_understood(url: str, resolved: str) -> None:
    parent = parse_repository(
        "https://github.com/acme/thing", github_url="https://github.com", allow_local=True
    )
    text = resolve_url(parent, url, github_url="https://github.com")
    found = parse_repository(text, github_url="https://github.com", allow_local=False)
    assert found.url == resolved
