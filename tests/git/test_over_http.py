"""Git over HTTP: the credential goes where it must and nowhere else, and every refusal has its own error."""

import base64
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from journeyman.errors import (
    Conflict,
    InvalidRepository,
    JourneymanError,
    RateLimited,
    Transient,
    Unauthenticated,
)
from journeyman.forges.base import Remote
from journeyman.git.mirrors import Mirrors
from journeyman.git.workspaces import Workspace, Workspaces
from journeyman.work_orders.repositories import parse_repository
from tests.git.repositories import ADA, ORDER, git, make_repository, message
from tests.standins.github import GitHubStandIn, Kind
from tests.standins.github_http import Reply, Server


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHubStandIn]:
    with GitHubStandIn(tmp_path) as standin:
        standin.add_repository("octo", "demo", make_repository(tmp_path / "seed"), private=True)
        yield standin


def remote(github: GitHubStandIn, token: str | None = GitHubStandIn.token, name: str = "demo") -> Remote:
    credential = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return Remote(f"{github.url}/octo/{name}.git", {"Authorization": f"Basic {credential}"} if token else {})


async def open_workspace(github: GitHubStandIn, home: Path, where: Remote | None = None) -> Workspace:
    repository = parse_repository(f"{github.url}/octo/demo", github_url=github.url, allow_local=False)
    mirror = await Mirrors(home / "mirrors").refresh(repository, where or remote(github))
    return await Workspaces(home / "workspaces").open(
        mirror,
        order_id=ORDER,
        kind="git_worktree",
        branch="journeyman/work",
        base_commit_sha=mirror.resolve(mirror.default_branch()),
    )


async def commit(workspace: Workspace, content: str = "work\n") -> str:
    (workspace.tree / "work.txt").write_text(content)
    commit_sha = await workspace.commit(message(), author=ADA)
    assert commit_sha is not None
    return commit_sha


def holding(directory: Path, text: bytes) -> list[Path]:
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if text in path.read_bytes()]


async def test_a_private_repository_is_cloned_fetched_and_pushed_to(
    github: GitHubStandIn, home: Path
) -> None:
    await open_workspace(github, home)
    workspace = await open_workspace(github, home)
    head = await commit(workspace)
    assert await workspace.push(remote(github), expected_sha=None) == head
    assert github.git.commit("octo/demo", "journeyman/work") == head


async def test_no_credential_is_written_anywhere(github: GitHubStandIn, home: Path) -> None:
    workspace = await open_workspace(github, home)
    await commit(workspace)
    await workspace.push(remote(github), expected_sha=None)
    secrets = [github.token.encode(), remote(github).headers["Authorization"].split()[1].encode()]
    assert holding(home, b"refs/heads/journeyman/work")
    assert [holding(home, secret) for secret in secrets] == [[], []]


@pytest.mark.parametrize("token", ["ghp_wrong0123456789", None])
async def test_a_refused_credential_is_said_to_be_and_not_shown(
    github: GitHubStandIn, home: Path, token: str | None
) -> None:
    where = remote(github, token)
    with pytest.raises(Unauthenticated) as raised:
        await open_workspace(github, home, where)
    assert "GITHUB_TOKEN" in raised.value.hint
    assert all(value not in str(raised.value) for value in where.headers.values())


async def test_a_repository_that_does_not_exist_is_said_not_to(github: GitHubStandIn, home: Path) -> None:
    with pytest.raises(InvalidRepository, match="no such repository"):
        await open_workspace(github, home, remote(github, name="other"))


@pytest.mark.parametrize(
    ("kind", "error"), [(500, Transient), (503, Transient), ("reset", Transient), (429, RateLimited)]
)
async def test_a_fault_on_the_way_can_be_tried_again(
    github: GitHubStandIn, home: Path, kind: Kind, error: type[JourneymanError]
) -> None:
    github.fail("GET", "/octo/demo.git/*", kind)
    with pytest.raises(error) as raised:
        await open_workspace(github, home)
    assert raised.value.retryable
    assert (await open_workspace(github, home)).tree.is_dir()


async def test_a_server_that_does_not_answer_is_a_passing_fault(github: GitHubStandIn, home: Path) -> None:
    where = Remote("http://127.0.0.1:1/octo/demo.git")
    with pytest.raises(Transient):
        await open_workspace(github, home, where)


@pytest.mark.parametrize("kind", ["500_after_applying", "reset_after_applying"])
async def test_a_push_whose_answer_was_lost_is_found_done(
    github: GitHubStandIn, home: Path, kind: Kind
) -> None:
    workspace = await open_workspace(github, home)
    head = await commit(workspace)
    github.fail("POST", "*/git-receive-pack", kind)
    with suppress(Transient):
        await workspace.push(remote(github), expected_sha=None)
    asked = len(github.made("POST", "*/git-receive-pack"))
    assert asked, "nothing was pushed"
    assert await workspace.push(remote(github), expected_sha=None) == head
    assert len(github.made("POST", "*/git-receive-pack")) == asked, "it was pushed again"


async def test_a_token_that_may_not_push_is_refused(github: GitHubStandIn, home: Path) -> None:
    workspace = await open_workspace(github, home)
    await commit(workspace)
    github.repositories["octo/demo"].can_push = False
    with pytest.raises(Unauthenticated):
        await workspace.push(remote(github), expected_sha=None)


async def test_a_commit_of_somebody_else_stays(github: GitHubStandIn, home: Path, tmp_path: Path) -> None:
    workspace = await open_workspace(github, home)
    git(tmp_path / "seed", "commit", "--quiet", "--allow-empty", "--message", "By a person")
    bare = github.git.root / "octo/demo.git"
    git(tmp_path / "seed", "push", "--quiet", str(bare), "main:journeyman/work")
    theirs = github.git.commit("octo/demo", "journeyman/work")
    await commit(workspace)
    with pytest.raises(Conflict, match=theirs):
        await workspace.push(remote(github), expected_sha=None)
    assert github.git.commit("octo/demo", "journeyman/work") == theirs


async def test_the_credential_does_not_follow_a_redirect(github: GitHubStandIn, home: Path) -> None:
    def elsewhere(method: str, path: str, query: str, headers: dict[str, str], body: bytes) -> Reply:
        return Reply(301, {"Location": f"{github.url}{path}?{query}"}, b"")

    moved = Server(elsewhere)
    answering = threading.Thread(target=moved.serve_forever, args=(0.02,), daemon=True)
    answering.start()
    try:
        with pytest.raises(InvalidRepository):
            await open_workspace(github, home, Remote(f"{moved.url}/octo/demo.git", remote(github).headers))
    finally:
        moved.shutdown()
        moved.server_close()
        answering.join()
    assert github.requests == []
