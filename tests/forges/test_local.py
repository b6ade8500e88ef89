"""The local forge: what it reads of a directory, and the shelf of pull requests."""

from pathlib import Path

import pytest

from journeyman.database import Database
from journeyman.errors import InvalidInput, InvalidRepository, NotFound
from journeyman.forges.local import LocalForge
from journeyman.work_orders.repositories import Repository, parse_repository
from tests.forges.repository import BRANCH, git, make_repository


@pytest.fixture
def forge(database: Database) -> LocalForge:
    return LocalForge(database, "http://127.0.0.1:8700/")


def named(path: Path) -> Repository:
    return parse_repository(str(path), github_url="https://github.com", allow_local=True)


async def open_one(forge: LocalForge, repository: Repository, branch: str = BRANCH) -> int:
    pull = await forge.open_pull_request(repository, branch=branch, base="trunk", title="T", body="B")
    return pull.number


async def test_a_repository_without_a_commit_is_refused(forge: LocalForge, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")

    with pytest.raises(InvalidRepository, match="no commit") as refused:
        await forge.verify(named(tmp_path / "empty"))

    assert "Commit" in refused.value.hint


async def test_a_repository_with_no_branch_checked_out_is_refused(forge: LocalForge, tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    git(origin, "checkout", "--quiet", "--detach")

    with pytest.raises(InvalidRepository, match="no branch"):
        await forge.verify(named(origin))


async def test_a_broken_repository_is_not_taken_for_the_one_above_it(
    forge: LocalForge, tmp_path: Path
) -> None:
    origin = make_repository(tmp_path / "origin")
    (origin / "inner" / ".git").mkdir(parents=True)

    with pytest.raises(InvalidRepository, match="cannot read"):
        await forge.verify(named(origin / "inner"))


@pytest.mark.parametrize("how", ["bare", "worktree"])
async def test_bare_repositories_and_worktrees_are_repositories(
    forge: LocalForge, tmp_path: Path, how: str
) -> None:
    origin = make_repository(tmp_path / "origin")
    if how == "bare":
        git(tmp_path, "clone", "--quiet", "--bare", str(origin), "other")
    else:
        git(origin, "worktree", "add", "--quiet", "-b", "side", "../other")

    facts = await forge.verify(named(tmp_path / "other"))

    assert (facts.default_branch, facts.can_push) == ("trunk" if how == "bare" else "side", True)


async def test_nothing_that_the_repository_configures_is_run(forge: LocalForge, tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    trace = tmp_path / "trace"
    for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "alias.symbolic-ref", "alias.rev-parse"):
        git(origin, "config", name, f"!touch {trace}" if name.startswith("alias") else f"touch {trace}")

    await forge.verify(named(origin))

    assert not trace.exists()


async def test_a_local_repository_has_no_issues(forge: LocalForge, tmp_path: Path) -> None:
    repository = named(make_repository(tmp_path / "origin"))

    with pytest.raises(InvalidInput, match="no issues"):
        await forge.read_issue(repository, "1")


async def test_a_pull_request_has_an_address_at_the_server(forge: LocalForge, tmp_path: Path) -> None:
    number = await open_one(forge, named(make_repository(tmp_path / "origin")))

    pull = await forge.get_pull_request(number)

    assert pull.url == f"http://127.0.0.1:8700/local-forge/pull-requests/{number}"


async def test_a_pull_request_that_does_not_exist_is_not_found(forge: LocalForge) -> None:
    with pytest.raises(NotFound):
        await forge.get_pull_request(5)


async def test_the_shelf_shows_a_page_newest_first_and_counts_all(forge: LocalForge, tmp_path: Path) -> None:
    repository = named(make_repository(tmp_path / "origin"))
    numbers = [await open_one(forge, repository, f"journeyman/{place}") for place in range(3)]

    page, total = await forge.list_pull_requests(limit=2, offset=1)

    assert [pull.number for pull in page] == [numbers[1], numbers[0]]
    assert total == 3


async def test_the_shelf_can_be_narrowed_to_one_repository(forge: LocalForge, tmp_path: Path) -> None:
    one, other = named(make_repository(tmp_path / "one")), named(make_repository(tmp_path / "other"))
    number = await open_one(forge, one)
    await open_one(forge, other)

    page, total = await forge.list_pull_requests(repository_url=one.url)

    assert ([pull.number for pull in page], total) == ([number], 1)


async def test_a_pull_request_is_not_changed_through_another_repository(
    forge: LocalForge, tmp_path: Path
) -> None:
    one, other = named(make_repository(tmp_path / "one")), named(make_repository(tmp_path / "other"))
    number = await open_one(forge, one)

    with pytest.raises(NotFound):
        await forge.mark_ready(other, number)

    assert (await forge.get_pull_request(number)).draft
