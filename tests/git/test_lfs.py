"""Files in Git LFS: contents in workspaces and checkouts, pointers in commits; what is missing is told."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journeyman.errors import NotAllowed
from journeyman.forges.base import Remote
from journeyman.git.lfs import LfsStore, parse_pointer
from journeyman.git.lfs_transfer import fetch_lfs, upload_lfs
from journeyman.git.missing import Missing
from journeyman.git.workspaces import Workspace
from tests.git.repositories import ADA, ORDER, GitSetup, commit_files, git, message, remote_of, status
from tests.standins.lfs import LfsStandIn

ATTRIBUTES = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
CONTENT = bytes(range(256)) * 500


def oid_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def pointer(content: bytes) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid_of(content)}\nsize {len(content)}\n"


def objects_of(source: Path, content: bytes) -> Path:
    oid = oid_of(content)
    return source / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid


def keep(source: Path, content: bytes, *, stored: bytes | None = None) -> None:
    """Put a content where Git LFS keeps it in a clone."""
    place = objects_of(source, content)
    place.parent.mkdir(parents=True)
    place.write_bytes(content if stored is None else stored)


def add_files(source: Path, **files: bytes) -> None:
    named = {f"{name}.bin": pointer(content) for name, content in files.items()}
    commit_files(source, {".gitattributes": ATTRIBUTES, **named}, "Add files")


async def fetch(setup: GitSetup, remote: Remote | None = None, **limits: int) -> list[Missing]:
    mirror = await setup.refresh()
    return await fetch_lfs(
        LfsStore(mirror.path),
        remote or remote_of(setup.source),
        mirror.resolve("main"),
        max_bytes=limits.get("max_bytes", 10**7),
        hosts=[],
    )


@pytest.fixture
async def filled(git_setup: GitSetup) -> Workspace:
    add_files(git_setup.source, model=CONTENT)
    keep(git_setup.source, CONTENT)
    assert await fetch(git_setup) == []
    return await git_setup.open()


@pytest.fixture
async def server() -> AsyncIterator[LfsStandIn]:
    standin = LfsStandIn()
    runner = await standin.start()
    yield standin
    await runner.cleanup()


def remote_at(server: LfsStandIn) -> Remote:
    return Remote(f"{server.url}/octo/demo.git", {"Authorization": server.token})


async def test_a_workspace_has_the_content_and_counts_as_unchanged(filled: Workspace) -> None:
    file = filled.tree / "model.bin"
    assert file.read_bytes() == CONTENT
    assert file.stat().st_uid == (filled.tree / "readme.md").stat().st_uid
    assert file.stat().st_nlink == 1
    assert status(filled) == ""
    assert not await filled.has_changes()
    assert await filled.commit(message(), author=ADA) is None


async def test_a_clean_checkout_has_the_content(git_setup: GitSetup, filled: Workspace) -> None:
    head = await filled.head()
    async with git_setup.workspaces.checkouts.open(filled.mirror, ORDER, head) as checkout:
        assert (checkout.tree / "model.bin").read_bytes() == CONTENT
        assert git(checkout.tree, "status", "--porcelain") == ""


async def test_what_an_agent_changes_is_committed_as_a_pointer_and_pushed_with_its_content(
    filled: Workspace, git_setup: GitSetup
) -> None:
    (filled.tree / "model.bin").write_bytes(b"changed")
    (filled.tree / "new.bin").write_bytes(b"new" * 100)
    commit = await filled.commit(message(), author=ADA)
    assert commit is not None
    assert await filled.mirror.file_at(commit, "model.bin") == pointer(b"changed").encode()
    assert await filled.mirror.file_at(commit, "new.bin") == pointer(b"new" * 100).encode()
    assert (filled.tree / "model.bin").read_bytes() == b"changed"
    await filled.push(remote_of(git_setup.source), expected_sha=None)
    assert objects_of(git_setup.source, b"changed").read_bytes() == b"changed"
    assert objects_of(git_setup.source, b"new" * 100).read_bytes() == b"new" * 100
    async with git_setup.workspaces.checkouts.open(filled.mirror, ORDER, commit) as checkout:
        assert (checkout.tree / "model.bin").read_bytes() == b"changed"


async def test_a_file_that_was_only_touched_is_not_committed(filled: Workspace) -> None:
    (filled.tree / "model.bin").touch()
    assert await filled.commit(message(), author=ADA) is None


async def test_a_file_that_was_removed_is_removed(filled: Workspace) -> None:
    (filled.tree / "model.bin").unlink()
    commit = await filled.commit(message(), author=ADA)
    assert commit is not None
    assert await filled.mirror.file_at(commit, "model.bin") is None


async def test_restore_brings_the_content_back(filled: Workspace) -> None:
    (filled.tree / "model.bin").write_bytes(b"changed")
    await filled.restore(await filled.head())
    assert (filled.tree / "model.bin").read_bytes() == CONTENT
    assert not await filled.has_changes()


async def test_a_workspace_that_is_made_again_has_what_was_changed(
    git_setup: GitSetup, filled: Workspace
) -> None:
    (filled.tree / "model.bin").write_bytes(b"not committed")
    assert await filled.snapshot() is not None
    await git_setup.workspaces.remove(ORDER)
    git_setup.restart()
    again = await git_setup.open()
    assert (again.tree / "model.bin").read_bytes() == b"not committed"
    assert await again.has_changes()


async def test_a_link_in_the_place_of_a_file_is_committed_as_a_link(
    filled: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("of the host\n")
    (filled.tree / "model.bin").unlink()
    (filled.tree / "model.bin").symlink_to(tmp_path / "secret")
    commit = await filled.commit(message(), author=ADA)
    assert commit is not None
    assert await filled.mirror.file_at(commit, "model.bin") == str(tmp_path / "secret").encode()


async def test_a_file_above_what_git_may_hold_is_committed_as_a_pointer(filled: Workspace) -> None:
    with (filled.tree / "large.bin").open("wb") as file:
        file.truncate(101 * 1024 * 1024)
    commit = await filled.commit(message(), author=ADA)
    assert commit is not None
    found = parse_pointer(await filled.mirror.file_at(commit, "large.bin") or b"")
    assert found is not None
    assert found.size == 101 * 1024 * 1024


@pytest.mark.parametrize("stored", [None, b"other content"])
async def test_a_content_that_a_clone_lacks_is_told_and_its_pointer_stays(
    git_setup: GitSetup, stored: bytes | None
) -> None:
    add_files(git_setup.source, model=CONTENT, other=b"here")
    keep(git_setup.source, b"here")
    if stored is not None:
        keep(git_setup.source, CONTENT, stored=stored)
    [missing] = await fetch(git_setup)
    assert (missing.kind, missing.path) == ("lfs", "model.bin")
    assert missing.reason
    assert missing.hint
    workspace = await git_setup.open()
    assert (workspace.tree / "model.bin").read_text() == pointer(CONTENT)
    assert (workspace.tree / "other.bin").read_bytes() == b"here"
    assert not await workspace.has_changes()


async def test_contents_beyond_the_limit_stay_pointers(git_setup: GitSetup) -> None:
    add_files(git_setup.source, model=CONTENT)
    keep(git_setup.source, CONTENT)
    [missing] = await fetch(git_setup, max_bytes=1000)
    assert "JOURNEYMAN_LFS_MAX_BYTES" in missing.hint


async def test_text_that_looks_like_a_pointer_is_left_alone_where_no_attribute_says_so(
    git_setup: GitSetup,
) -> None:
    add_files(git_setup.source, model=CONTENT)
    commit_files(git_setup.source, {"docs/example.txt": pointer(CONTENT)}, "Explain")
    keep(git_setup.source, CONTENT)
    assert await fetch(git_setup) == []
    assert ((await git_setup.open()).tree / "docs/example.txt").read_text() == pointer(CONTENT)


async def test_contents_come_from_the_server_with_the_credential(
    git_setup: GitSetup, server: LfsStandIn
) -> None:
    server.add(CONTENT)
    add_files(git_setup.source, model=CONTENT, gone=b"gone")
    missing = await fetch(git_setup, remote_at(server))
    assert [(one.path, "no such object" in one.reason) for one in missing] == [("gone.bin", True)]
    assert ((await git_setup.open()).tree / "model.bin").read_bytes() == CONTENT
    asked = len(server.requests)
    assert len(await fetch(git_setup, remote_at(server))) == 1
    assert [path for _, path, _ in server.requests[asked:]] == ["/octo/demo.git/info/lfs/objects/batch"]


@pytest.mark.parametrize("answer", [b"tampered", CONTENT + b"more", CONTENT[:-1]])
async def test_a_content_that_is_not_what_the_pointer_names_is_not_taken(
    git_setup: GitSetup, server: LfsStandIn, answer: bytes
) -> None:
    server.answers[oid_of(CONTENT)] = answer
    add_files(git_setup.source, model=CONTENT)
    [missing] = await fetch(git_setup, remote_at(server))
    assert "pointer names" in missing.reason
    assert ((await git_setup.open()).tree / "model.bin").read_text() == pointer(CONTENT)


async def test_contents_on_another_host_are_not_fetched_from_there(
    git_setup: GitSetup, server: LfsStandIn
) -> None:
    other = LfsStandIn()
    runner = await other.start()
    try:
        server.add(CONTENT)
        server.other_host = other.url
        add_files(git_setup.source, model=CONTENT)
        [missing] = await fetch(git_setup, remote_at(server))
    finally:
        await runner.cleanup()
    assert "JOURNEYMAN_LFS_HOSTS" in missing.hint
    assert other.requests == []


async def test_a_server_that_is_gone_or_refuses_is_told(git_setup: GitSetup, server: LfsStandIn) -> None:
    add_files(git_setup.source, model=CONTENT)
    [missing] = await fetch(git_setup, Remote(f"{server.url}/octo/demo.git", {"Authorization": "Basic no"}))
    assert "401" in missing.reason
    [missing] = await fetch(git_setup, Remote("http://127.0.0.1:1/octo/demo.git"))
    assert missing.reason


async def test_new_contents_are_uploaded_before_a_push_and_only_once(
    git_setup: GitSetup, filled: Workspace, server: LfsStandIn
) -> None:
    (filled.tree / "model.bin").write_bytes(b"changed")
    commit = await filled.commit(message(), author=ADA)
    assert commit is not None
    store, base = LfsStore(filled.mirror.path), filled.base_commit_sha
    for _ in range(2):
        await upload_lfs(store, remote_at(server), base=base, commit=commit)
    assert server.contents == {oid_of(b"changed"): b"changed"}
    assert server.verified == [oid_of(b"changed")]


async def test_an_upload_that_is_refused_says_so(filled: Workspace, server: LfsStandIn) -> None:
    server.refuses_uploads = True
    (filled.tree / "model.bin").write_bytes(b"changed")
    commit = await filled.commit(message(), author=ADA)
    assert commit is not None
    with pytest.raises(NotAllowed, match="over quota"):
        await upload_lfs(
            LfsStore(filled.mirror.path), remote_at(server), base=filled.base_commit_sha, commit=commit
        )
