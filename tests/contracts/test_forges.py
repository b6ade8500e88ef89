"""What every forge promises, asked of GitHub (a stand-in of it) and of the local forge on both stores."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from journeyman.database import Database, database_url, metadata
from journeyman.errors import InvalidInput, InvalidRepository, NotFound
from journeyman.forges.base import Forge, Person, PullRequest
from journeyman.forges.body import BEGIN, END
from journeyman.forges.github import GitHubForge
from journeyman.forges.local import LocalForge
from journeyman.forges.store import LocalPullRequests
from journeyman.settings import Settings
from journeyman.work_orders.repositories import Repository, parse_repository
from tests.forges.repository import BRANCH, git, make_repository
from tests.standins.github import GitHubStandIn

EditByPeople = Callable[[int, str, str], Awaitable[None]]
SERVER = "http://127.0.0.1:8700"


@dataclass(frozen=True)
class Place:
    """A forge with one repository, and the hand of a person that works on it too."""

    forge: Forge
    repository: Repository
    author: Person | None
    edit: EditByPeople
    """Set a pull request's body and state, as people do on its page."""

    async def open(self, branch: str = BRANCH) -> PullRequest:
        return await self.forge.open_pull_request(
            self.repository, branch=branch, base="trunk", title="Add greeting", body="What was done"
        )


@pytest.fixture(params=["github", "local on sqlite", "local on postgresql"])
async def place(
    request: pytest.FixtureRequest, settings: Settings, home: Path, tmp_path: Path
) -> AsyncIterator[Place]:
    origin = make_repository(tmp_path / "a repository")
    if request.param == "github":
        with GitHubStandIn(tmp_path) as github:
            forge = _github_forge(github, settings)
            yield _on_github(github, forge, origin)
            await forge.aclose()
        return
    chosen = "" if request.param == "local on sqlite" else request.getfixturevalue("postgres_url")
    database = Database(database_url(chosen, home))
    async with database.writing() as connection:
        await connection.run_sync(metadata.create_all)
    yield _on_local(database, origin)
    await database.close()


def _github_forge(github: GitHubStandIn, settings: Settings) -> GitHubForge:
    here = {
        "github_url": github.url,
        "github_api_url": github.api_url,
        "github_token": SecretStr(github.token),
    }
    return GitHubForge(settings.model_copy(update=here))


def _on_github(github: GitHubStandIn, forge: GitHubForge, origin: Path) -> Place:
    url = github.add_repository("acme", "api", origin)

    async def edit(number: int, body: str, state: str) -> None:
        pull = next(one for one in github.pull_requests if one.number == number)
        pull.body, pull.merged, pull.state = body, state == "merged", "open" if state == "open" else "closed"

    repository = parse_repository(url, github_url=github.url, allow_local=False)
    return Place(forge, repository, Person("Octavia Example", "octavia@example.org"), edit)


def _on_local(database: Database, origin: Path) -> Place:
    repository = parse_repository(str(origin), github_url="https://github.com", allow_local=True)

    async def edit(number: int, body: str, state: str) -> None:
        await LocalPullRequests(database, SERVER).change(
            repository.url,
            number,
            lambda now: replace(now, body=body, state=state),  # type: ignore[arg-type]
        )

    return Place(LocalForge(database, SERVER), repository, None, edit)


async def test_verifying_names_the_default_branch_and_whether_we_may_push(place: Place) -> None:
    facts = await place.forge.verify(place.repository)

    assert (facts.default_branch, facts.can_push) == ("trunk", True)


async def test_it_knows_which_of_some_branches_exist(place: Place) -> None:
    """A branch whose name begins with another's, up to a slash, does not stand for it."""
    area = BRANCH.rpartition("/")[0]
    asked = ["trunk", BRANCH, area, "nope", "trunk/nope"]

    assert await place.forge.existing_branches(place.repository, asked) == {"trunk", BRANCH}


async def test_a_repository_that_is_not_there_is_refused_with_a_hint(place: Place, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    missing = replace(place.repository, url=gone.as_uri(), name="gone", path=gone)

    with pytest.raises(InvalidRepository) as refused:
        await place.forge.verify(missing)

    assert refused.value.hint


async def test_git_can_fetch_from_and_push_to_the_remote(place: Place, tmp_path: Path) -> None:
    remote = await place.forge.remote(place.repository)

    git(tmp_path, "clone", "--quiet", "--branch", BRANCH, remote.url, "copy", remote=remote)
    git(tmp_path / "copy", "commit", "--quiet", "--allow-empty", "--message=More")
    git(tmp_path / "copy", "push", "--quiet", remote.url, f"HEAD:refs/heads/{BRANCH}", remote=remote)

    pushed = git(tmp_path, "ls-remote", remote.url, f"refs/heads/{BRANCH}", remote=remote)
    assert pushed.split()[0] == git(tmp_path / "copy", "rev-parse", "HEAD")


async def test_the_author_is_the_person_that_the_forge_knows(place: Place) -> None:
    assert await place.forge.author() == place.author


async def test_a_new_pull_request_is_an_open_draft_of_the_branch(place: Place) -> None:
    pull = await place.open()

    assert (pull.state, pull.draft, pull.was_created) == ("open", True, True)
    assert (pull.branch, pull.base, pull.title) == (BRANCH, "trunk", "Add greeting")
    assert pull.body == f"{BEGIN}\nWhat was done\n{END}"
    assert pull.url.endswith(f"/{pull.number}")


async def test_opening_again_gives_the_pull_request_that_is_there(place: Place) -> None:
    first = await place.open()

    again = await place.open()

    assert again == replace(first, was_created=False)


@pytest.mark.parametrize("state", ["closed", "merged"])
async def test_a_pull_request_that_people_ended_is_never_opened_a_second_time(
    place: Place, state: str
) -> None:
    first = await place.open()
    await place.edit(first.number, first.body, state)

    again = await place.open()

    assert (again.number, again.state, again.was_created) == (first.number, state, False)


async def test_many_that_open_at_once_get_one_pull_request(place: Place) -> None:
    opened = await asyncio.gather(*(place.open() for _ in range(5)))

    assert len({pull.number for pull in opened}) == 1
    assert [pull.was_created for pull in opened].count(True) == 1


async def test_two_branches_have_two_pull_requests(place: Place, tmp_path: Path) -> None:
    remote = await place.forge.remote(place.repository)
    git(tmp_path / "a repository", "push", "--quiet", remote.url, f"{BRANCH}:refs/heads/other", remote=remote)

    assert (await place.open()).number != (await place.open("other")).number


async def test_updating_replaces_our_part_and_keeps_what_people_wrote(place: Place) -> None:
    pull = await place.open()
    await place.edit(pull.number, f"Please read this.\n\n{pull.body}\n\nAnd this.", "open")

    updated = await place.forge.update_pull_request(
        place.repository, pull.number, body="What was done since", title="Add greetings"
    )

    assert updated.body == f"Please read this.\n\n{BEGIN}\nWhat was done since\n{END}\n\nAnd this."
    assert updated.title == "Add greetings"
    assert (await place.open()).body == updated.body


async def test_updating_without_a_title_keeps_the_title(place: Place) -> None:
    pull = await place.open()

    updated = await place.forge.update_pull_request(place.repository, pull.number, body="More")

    assert (updated.title, updated.draft) == (pull.title, True)


async def test_a_title_of_others_mentions_nobody(place: Place) -> None:
    pull = await place.forge.open_pull_request(
        place.repository, branch=BRANCH, base="trunk", title="Greet @everyone\nfixes #1", body=""
    )

    assert pull.title == "Greet @\u200beveryone fixes #\u200b1"


async def test_marking_ready_takes_a_pull_request_out_of_draft_for_good(place: Place) -> None:
    pull = await place.open()

    ready = await place.forge.mark_ready(place.repository, pull.number)
    again = await place.forge.mark_ready(place.repository, pull.number)

    assert ready == again == replace(pull, draft=False, was_created=False)
    assert not (await place.open()).draft


@pytest.mark.parametrize("state", ["open", "closed", "merged"])
async def test_reading_a_pull_request_tells_what_people_made_of_it(place: Place, state: str) -> None:
    pull = await place.open()
    await place.edit(pull.number, "Ours now.", state)

    found = await place.forge.read_pull_request(place.repository, pull.number)

    assert (found.number, found.state, found.body) == (pull.number, state, "Ours now.")


@pytest.mark.parametrize("call", ["read", "update", "ready"])
async def test_a_pull_request_that_does_not_exist_is_not_found(place: Place, call: str) -> None:
    asked = {
        "read": lambda: place.forge.read_pull_request(place.repository, 99),
        "update": lambda: place.forge.update_pull_request(place.repository, 99, body=""),
        "ready": lambda: place.forge.mark_ready(place.repository, 99),
    }

    with pytest.raises(NotFound):
        await asked[call]()


@pytest.mark.parametrize("call", ["read", "comment"])
async def test_an_issue_that_does_not_exist_is_an_error_of_the_asker(place: Place, call: str) -> None:
    asked: dict[str, Callable[[], Awaitable[object]]] = {
        "read": lambda: place.forge.read_issue(place.repository, "99"),
        "comment": lambda: place.forge.comment_on_issue(place.repository, "99", "Hello", marker="<!-- m -->"),
    }

    with pytest.raises(InvalidInput) as refused:
        await asked[call]()

    assert refused.value.hint
