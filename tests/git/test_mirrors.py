"""Mirrors: cloned once, fetched after that, and read without a workspace."""

import asyncio
import shutil
from pathlib import Path

import pytest

from journeyman.errors import InvalidInput, InvalidRepository
from journeyman.forges.base import Remote
from journeyman.git.mirror import FreshMirror
from journeyman.git.mirrors import Mirrors
from tests.git.repositories import commit_files, git, make_repository, remote_of, repository_at


@pytest.fixture
def mirrors(home: Path) -> Mirrors:
    return Mirrors(home / "mirrors")


async def refresh(mirrors: Mirrors, source: Path) -> FreshMirror:
    return await mirrors.refresh(repository_at(source), remote_of(source))


async def test_a_branch_resolves_to_the_commit_that_the_remote_has(mirrors: Mirrors, source: Path) -> None:
    mirror = await refresh(mirrors, source)
    assert mirror.default_branch() == "main"
    assert mirror.resolve("main") == git(source, "rev-parse", "main")


async def test_a_refresh_fetches_what_is_new_into_the_same_mirror(mirrors: Mirrors, source: Path) -> None:
    before = await refresh(mirrors, source)
    (before.path / "kept").touch()
    git(source, "branch", "short-lived")
    await refresh(mirrors, source)
    git(source, "branch", "-D", "short-lived")
    commit_files(source, {"more.txt": "more\n"}, "More")
    after = await refresh(mirrors, source)
    assert (after.path / "kept").exists(), "it was cloned again"
    assert after.resolve("main") == git(source, "rev-parse", "main")
    with pytest.raises(InvalidRepository, match="no branch 'short-lived'"):
        after.resolve("short-lived")


async def test_a_rewritten_branch_is_followed(mirrors: Mirrors, source: Path) -> None:
    await refresh(mirrors, source)
    git(source, "commit", "--quiet", "--amend", "--message", "Begin differently")
    mirror = await refresh(mirrors, source)
    assert mirror.resolve("main") == git(source, "rev-parse", "main")


async def test_the_default_branch_follows_the_remote_head(mirrors: Mirrors, source: Path) -> None:
    await refresh(mirrors, source)
    git(source, "checkout", "--quiet", "-b", "trunk")
    assert (await refresh(mirrors, source)).default_branch() == "trunk"


async def test_a_half_made_clone_is_thrown_away(mirrors: Mirrors, source: Path) -> None:
    partial = mirrors.at(repository_at(source)).path.with_suffix(".partial")
    (partial / ".git" / "objects").mkdir(parents=True)
    mirror = await refresh(mirrors, source)
    assert mirror.resolve("main") == git(source, "rev-parse", "main")
    assert not partial.exists()


async def test_lock_files_of_a_killed_fetch_do_not_stop_the_next(mirrors: Mirrors, source: Path) -> None:
    mirror = await refresh(mirrors, source)
    (mirror.path / "packed-refs.lock").touch()
    (mirror.path / "refs/remotes/origin").mkdir(parents=True, exist_ok=True)
    (mirror.path / "refs/remotes/origin/main.lock").touch()
    git(source, "commit", "--quiet", "--allow-empty", "--message", "More")
    git(source, "checkout", "--quiet", "-b", "other")
    assert (await refresh(mirrors, source)).resolve("main") == git(source, "rev-parse", "main")


async def test_many_refreshes_at_once_make_one_mirror(home: Path, source: Path) -> None:
    several = [Mirrors(home / "mirrors") for _ in range(4)]
    made = await asyncio.gather(*(refresh(mirrors, source) for mirrors in several))
    assert {mirror.resolve("main") for mirror in made} == {git(source, "rev-parse", "main")}
    assert [path.name for path in (home / "mirrors").iterdir() if path.suffix == ".git"] == [
        made[0].path.name
    ]


async def test_whoever_asks_while_somebody_looks_shares_a_look_that_begins_later(
    mirrors: Mirrors, source: Path
) -> None:
    await refresh(mirrors, source)
    looking = asyncio.create_task(refresh(mirrors, source))
    await asyncio.sleep(0)
    git(source, "commit", "--quiet", "--allow-empty", "--message", "While somebody looks")
    made = await asyncio.gather(refresh(mirrors, source), refresh(mirrors, source))
    assert {mirror.resolve("main") for mirror in made} == {git(source, "rev-parse", "main")}
    assert made[0] is made[1]
    assert await looking is not made[0]


async def test_a_mirror_outlives_the_directory_it_was_made_from(mirrors: Mirrors, source: Path) -> None:
    mirror = await refresh(mirrors, source)
    head = git(source, "rev-parse", "main")
    shutil.rmtree(source)
    assert await mirror.file_at(head, "src/app.py") == b"one\n"


async def test_an_empty_repository_is_refused_with_what_to_do(mirrors: Mirrors, tmp_path: Path) -> None:
    mirror = await refresh(mirrors, make_repository(tmp_path / "empty", {}))
    with pytest.raises(InvalidRepository, match="no commits") as raised:
        mirror.default_branch()
    assert raised.value.hint


async def test_a_head_that_points_nowhere_is_refused(mirrors: Mirrors, source: Path) -> None:
    git(source, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    mirror = await refresh(mirrors, source)
    with pytest.raises(InvalidRepository, match="points at no branch"):
        mirror.default_branch()
    assert mirror.resolve("main")


async def test_a_branch_called_head_is_only_a_branch(mirrors: Mirrors, source: Path) -> None:
    await refresh(mirrors, source)
    first = git(source, "rev-parse", "main")
    commit_files(source, {"more.txt": "more\n"}, "More")
    git(source, "update-ref", "refs/heads/HEAD", first)
    mirror = await refresh(mirrors, source)
    assert mirror.default_branch() == "main"
    assert mirror.resolve("HEAD") == first
    assert mirror.resolve("main") == git(source, "rev-parse", "refs/heads/main")


@pytest.mark.parametrize(
    "branch", ["--help", "main~0", "m*", "main\n", "../../heads/main", "", "@{upstream}"]
)
async def test_only_a_branch_can_be_named_as_a_base(mirrors: Mirrors, source: Path, branch: str) -> None:
    mirror = await refresh(mirrors, source)
    with pytest.raises(InvalidRepository, match="no branch"):
        mirror.resolve(branch)


@pytest.mark.parametrize("commit", ["--output=/tmp/x", "HEAD", "main", "abc", ""])
async def test_only_the_name_of_a_commit_is_taken_for_one(
    mirrors: Mirrors, source: Path, commit: str
) -> None:
    mirror = await refresh(mirrors, source)
    head = git(source, "rev-parse", "main")
    with pytest.raises(InvalidInput, match="not the full name of a commit"):
        await mirror.diff(commit, head)
    with pytest.raises(InvalidInput, match="not the full name of a commit"):
        await mirror.changed_paths(head, commit)


@pytest.mark.parametrize(
    "url", ["ext::touch hacked", "--upload-pack=touch hacked", "ssh://host/x", "https://a:b@host/x"]
)
async def test_an_address_that_is_not_one_never_reaches_git(mirrors: Mirrors, source: Path, url: str) -> None:
    with pytest.raises(InvalidRepository):
        await mirrors.refresh(repository_at(source), Remote(url))


async def test_a_repository_that_is_gone_is_said_to_be(mirrors: Mirrors, source: Path) -> None:
    repository, remote = repository_at(source), remote_of(source)
    shutil.rmtree(source)
    with pytest.raises(InvalidRepository, match="no such repository"):
        await mirrors.refresh(repository, remote)


async def test_a_file_is_read_as_it_is_in_a_commit(mirrors: Mirrors, source: Path) -> None:
    commit_files(source, {"new\nline.txt": "odd\n"}, "Odd")
    mirror = await refresh(mirrors, source)
    head = mirror.resolve("main")
    assert await mirror.file_at(head, "readme.md") == b"hello\n"
    assert await mirror.file_at(head, "readme.md", limit=2) == b"he"
    assert await mirror.file_at(head, "new\nline.txt") == b"odd\n"
    for absent in ("no such file", "src", "../readme.md", "--help"):
        assert await mirror.file_at(head, absent) is None


async def test_a_diff_is_unified_and_cut_when_it_is_long(mirrors: Mirrors, source: Path) -> None:
    base = git(source, "rev-parse", "main")
    commit_files(source, {"src/app.py": "two\n"}, "Two")
    mirror = await refresh(mirrors, source)
    head = mirror.resolve("main")
    assert "-one\n+two\n" in await mirror.diff(base, head)
    assert await mirror.changed_paths(base, head) == ["src/app.py"]
    cut = await mirror.diff(base, head, limit=20)
    assert cut.startswith("diff --git a/src/app")
    assert cut.endswith("[cut after 20 bytes]\n")


async def test_a_diff_can_be_of_some_files_and_leave_out_no_line(mirrors: Mirrors, source: Path) -> None:
    lines = [f"line {number}\n" for number in range(20)]
    commit_files(source, {"[long].txt": "".join(lines), "other.txt": "a\n"}, "Begin")
    base = git(source, "rev-parse", "main")
    commit_files(source, {"[long].txt": "".join(["first\n", *lines[1:]]), "other.txt": "b\n"}, "Change")
    mirror = await refresh(mirrors, source)
    head = mirror.resolve("main")
    assert "line 19" not in await mirror.diff(base, head)
    whole = await mirror.diff(base, head, context_lines=1_000_000, paths=["[long].txt"])
    assert "-line 0\n+first\n line 1\n" in whole
    assert whole.endswith(" line 19\n")
    assert "other.txt" not in whole


async def test_a_note_is_kept_with_a_commit_and_can_be_written_again(mirrors: Mirrors, source: Path) -> None:
    mirror = await refresh(mirrors, source)
    head = mirror.resolve("main")
    await mirror.annotate(head, {"plan.md": b"first"})
    await mirror.annotate(head, {"plan.md": b"second\n\n\n# part", "results.json": b"{}"})
    note = git(mirror.path, "notes", "--ref=journeyman", "show", head)
    assert note == "## plan.md\n\nsecond\n\n\n# part\n\n## results.json\n\n{}"
