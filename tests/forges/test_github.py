"""GitHub: who may see what, whose name is used, and what its refusals mean."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from journeyman.errors import (
    Conflict,
    InvalidInput,
    InvalidRepository,
    JourneymanError,
    NotAllowed,
    NotFound,
    RateLimited,
    Transient,
    Unauthenticated,
)
from journeyman.forges.base import Issue, Person
from journeyman.forges.github import GitHubForge, graphql_url
from journeyman.settings import Settings
from journeyman.work_orders.repositories import Repository, parse_repository
from tests.forges.repository import BRANCH
from tests.standins.github import RETRY_AFTER_SECONDS, GitHubStandIn, Kind

MARKER = "<!-- journeyman:wo-abc12345 -->"


def without_token(settings: Settings) -> GitHubForge:
    return GitHubForge(settings.model_copy(update={"github_token": None}))


def with_wrong_token(settings: Settings) -> GitHubForge:
    return GitHubForge(settings.model_copy(update={"github_token": SecretStr("ghp_wrong")}))


def add(github: GitHubStandIn, tmp_path: Path, name: str, **options: Any) -> Repository:
    url = github.add_repository("acme", name, tmp_path / "origin", **options)
    return parse_repository(url, github_url=github.url, allow_local=False)


async def test_a_public_repository_can_be_read_but_not_pushed_to_without_a_token(
    github_settings: Settings, repository: Repository
) -> None:
    forge = without_token(github_settings)

    facts = await forge.verify(repository)
    remote = await forge.remote(repository)
    author = await forge.author()
    await forge.aclose()

    assert (facts.default_branch, facts.can_push) == ("trunk", False)
    assert not remote.headers
    assert author is None


async def test_a_private_repository_is_not_found_without_a_token(
    github: GitHubStandIn, github_settings: Settings, tmp_path: Path
) -> None:
    forge = without_token(github_settings)

    with pytest.raises(InvalidRepository, match="not found, or is private") as refused:
        await forge.verify(add(github, tmp_path, "secret", private=True))
    await forge.aclose()

    assert "GITHUB_TOKEN" in refused.value.hint


async def test_a_private_repository_is_found_with_the_token(
    github: GitHubStandIn, forge: GitHubForge, tmp_path: Path
) -> None:
    facts = await forge.verify(add(github, tmp_path, "secret", private=True))

    assert facts.can_push


async def test_a_repository_that_the_token_cannot_push_to_says_so(
    github: GitHubStandIn, forge: GitHubForge, tmp_path: Path
) -> None:
    facts = await forge.verify(add(github, tmp_path, "readonly", can_push=False))

    assert not facts.can_push


async def test_what_git_says_of_a_push_counts_more_than_what_the_api_says(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    """As a fine-grained token has it: its owner may push, and it may not."""
    github.fail("GET", "/acme/api.git/info/refs", 403)

    assert not (await forge.verify(repository)).can_push
    assert (await forge.verify(repository)).can_push


async def test_the_api_is_believed_where_git_gives_no_answer(
    github: GitHubStandIn, github_settings: Settings, repository: Repository
) -> None:
    forge = GitHubForge(github_settings, timeout_seconds=0.3)
    github.fail("GET", "/acme/api.git/info/refs", "timeout")
    github.fail("GET", "/acme/api.git/info/refs", "reset")
    github.fail("GET", "/acme/api.git/info/refs", 500)

    for _ in range(3):
        assert (await forge.verify(repository)).can_push
    await forge.aclose()


async def test_a_wrong_token_is_unauthenticated(github_settings: Settings, repository: Repository) -> None:
    forge = with_wrong_token(github_settings)

    with pytest.raises(Unauthenticated, match="does not accept the token") as refused:
        await forge.verify(repository)
    await forge.aclose()

    assert "GITHUB_TOKEN" in refused.value.hint


async def test_the_token_is_in_a_header_and_in_no_address(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    remote = await forge.remote(repository)

    assert remote.url == f"{github.url}/acme/api.git"
    assert remote.headers["Authorization"].startswith("Basic ")
    assert github.token not in repr(remote)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": None}, Person("octavia", "octavia@example.org")),
        ({"email": None}, Person("Octavia Example", "4711+octavia@users.noreply.127.0.0.1")),
    ],
)
async def test_the_author_of_a_shy_user_is_login_and_noreply_address(
    github: GitHubStandIn, forge: GitHubForge, changes: dict[str, None], expected: Person
) -> None:
    github.user.update(changes)

    assert await forge.author() == expected


async def test_the_author_is_asked_for_once(github: GitHubStandIn, forge: GitHubForge) -> None:
    await forge.author()
    await forge.author()

    assert len(github.made("GET", "/api/v3/user")) == 1


async def test_the_token_of_an_app_has_no_author(github: GitHubStandIn, forge: GitHubForge) -> None:
    github.fail("GET", "/api/v3/user", 403)

    assert await forge.author() is None


async def test_an_issue_is_read(github: GitHubStandIn, forge: GitHubForge, repository: Repository) -> None:
    number = github.add_issue("acme/api", "No greeting", "It should greet.")

    issue = await forge.read_issue(repository, str(number))

    assert issue == Issue(str(number), "No greeting", "It should greet.")


@pytest.mark.parametrize("number", ["", "x", "1/../2", "-1", "١"])
async def test_what_is_not_an_issue_number_is_refused_without_asking(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository, number: str
) -> None:
    with pytest.raises(InvalidInput, match="not an issue's number"):
        await forge.read_issue(repository, number)

    assert not github.requests


async def test_a_second_comment_with_the_marker_rewrites_the_first(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    number = str(github.add_issue("acme/api", "No greeting"))

    first = await forge.comment_on_issue(repository, number, "Started.", marker=MARKER)
    second = await forge.comment_on_issue(repository, number, "Done.", marker=MARKER)

    assert first == second
    assert [comment.body for comment in github.comments] == [f"{MARKER}\nDone."]


async def test_our_comment_is_found_behind_a_hundred_others(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    number = github.add_issue("acme/api", "No greeting")
    for place in range(100):
        github.add_comment("acme/api", number, "somebody", f"Me too {place}")
    await forge.comment_on_issue(repository, str(number), "Started.", marker=MARKER)

    await forge.comment_on_issue(repository, str(number), "Done.", marker=MARKER)

    assert len(github.comments) == 101
    assert github.comments[-1].body == f"{MARKER}\nDone."


async def test_somebody_elses_comment_with_our_marker_is_left_alone(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    number = github.add_issue("acme/api", "No greeting")
    github.add_comment("acme/api", number, "mallory", f"{MARKER} mine")

    await forge.comment_on_issue(repository, str(number), "Started.", marker=MARKER)

    assert [comment.body for comment in github.comments] == [f"{MARKER} mine", f"{MARKER}\nStarted."]


async def test_an_update_that_changes_nothing_is_not_sent(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    pull = await forge.open_pull_request(repository, branch=BRANCH, base="trunk", title="T", body="B")

    await forge.update_pull_request(repository, pull.number, body="B", title="T")

    assert not github.made("PATCH", "*")


async def test_a_branch_that_was_not_pushed_is_a_conflict(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    with pytest.raises(Conflict, match="head"):
        await forge.open_pull_request(repository, branch="unknown", base="trunk", title="T", body="B")

    assert not github.pull_requests


async def test_a_repository_without_drafts_gets_no_pull_request_of_another_kind(
    github: GitHubStandIn, forge: GitHubForge, tmp_path: Path
) -> None:
    repository = add(github, tmp_path, "plain", drafts=False)

    with pytest.raises(NotAllowed, match="draft") as refused:
        await forge.open_pull_request(repository, branch=BRANCH, base="trunk", title="T", body="B")

    assert refused.value.hint
    assert not github.pull_requests


async def test_a_closed_pull_request_cannot_be_made_ready(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    pull = await forge.open_pull_request(repository, branch=BRANCH, base="trunk", title="T", body="B")
    github.pull_requests[0].state = "closed"

    with pytest.raises(Conflict, match="closed"):
        await forge.mark_ready(repository, pull.number)


async def test_of_several_pull_requests_of_a_branch_the_open_one_is_ours(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    opened = await forge.open_pull_request(repository, branch=BRANCH, base="trunk", title="T", body="B")
    github.pull_requests.append(
        type(github.pull_requests[0])("acme/api", 7, BRANCH, "other", "T", "B", draft=False, state="closed")
    )

    again = await forge.open_pull_request(repository, branch=BRANCH, base="trunk", title="T", body="B")

    assert again.number == opened.number


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (401, Unauthenticated),
        (403, NotAllowed),
        (404, InvalidRepository),
        (409, Conflict),
        (422, Conflict),
        (429, RateLimited),
        (500, Transient),
        ("reset", Transient),
    ],
)
async def test_every_refusal_is_one_of_our_errors_and_says_what_to_do(
    github: GitHubStandIn,
    forge: GitHubForge,
    repository: Repository,
    kind: Kind,
    error: type[JourneymanError],
) -> None:
    github.fail("GET", "/api/v3/repos/acme/api", kind, times=9)

    with pytest.raises(error) as refused:
        await forge.verify(repository)

    assert type(refused.value) is error
    assert refused.value.hint
    assert github.token not in str(refused.value)


async def test_a_limit_says_how_long_to_wait_and_is_not_tried_again_at_once(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    github.fail("GET", "/api/v3/repos/acme/api", 429)

    with pytest.raises(RateLimited) as refused:
        await forge.verify(repository)

    assert refused.value.retry_after == RETRY_AFTER_SECONDS
    assert len(github.requests) == 1


@pytest.mark.parametrize("kind", [500, "reset"])
async def test_a_read_outlives_a_short_fault(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository, kind: Kind
) -> None:
    github.fail("GET", "/api/v3/repos/acme/api", kind, times=2)

    assert (await forge.verify(repository)).default_branch == "trunk"


async def test_a_forge_that_never_answers_is_given_up(
    github: GitHubStandIn, github_settings: Settings, repository: Repository
) -> None:
    forge = GitHubForge(github_settings, timeout_seconds=0.1)
    github.fail("GET", "/api/v3/repos/acme/api", "timeout", times=9)

    with pytest.raises(Transient, match="no answer"):
        await forge.verify(repository)
    await forge.aclose()


async def test_a_forge_that_is_not_there_is_transient(
    github_settings: Settings, repository: Repository, github: GitHubStandIn
) -> None:
    forge = GitHubForge(github_settings.model_copy(update={"github_api_url": "http://127.0.0.1:1"}))

    with pytest.raises(Transient) as refused:
        await forge.verify(repository)
    await forge.aclose()

    assert "JOURNEYMAN_GITHUB_API_URL" in refused.value.hint


async def test_an_answer_of_another_shape_is_transient(
    github: GitHubStandIn, forge: GitHubForge, repository: Repository
) -> None:
    github.user.pop("login")

    with pytest.raises(Transient, match="cannot be read"):
        await forge.author()


async def test_a_closed_forge_can_be_used_again(forge: GitHubForge, repository: Repository) -> None:
    await forge.verify(repository)
    await forge.aclose()

    assert (await forge.verify(repository)).default_branch == "trunk"


@pytest.mark.parametrize("call", ["comment", "update", "ready", "open"])
async def test_nothing_is_changed_without_a_token(
    github: GitHubStandIn, github_settings: Settings, forge: GitHubForge, repository: Repository, call: str
) -> None:
    issue = str(github.add_issue("acme/api", "No greeting"))
    stranger = without_token(github_settings)
    if call != "open":
        await forge.open_pull_request(repository, branch=BRANCH, base="trunk", title="T", body="B")
    asked: dict[str, Callable[[], Awaitable[object]]] = {
        "open": lambda: stranger.open_pull_request(
            repository, branch=BRANCH, base="trunk", title="T", body="B"
        ),
        "comment": lambda: stranger.comment_on_issue(repository, issue, "Hi", marker=MARKER),
        "update": lambda: stranger.update_pull_request(repository, 2, body="Other"),
        "ready": lambda: stranger.mark_ready(repository, 2),
    }

    with pytest.raises(Unauthenticated, match="asks for a token"):
        await asked[call]()
    await stranger.aclose()


@pytest.mark.parametrize(
    ("api", "graphql"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://api.github.com/", "https://api.github.com/graphql"),
        ("https://ghe.example.org/api/v3", "https://ghe.example.org/api/graphql"),
        ("https://ghe.example.org/api/v3/", "https://ghe.example.org/api/graphql"),
    ],
)
def test_graphql_is_found_on_github_and_on_enterprise(api: str, graphql: str) -> None:
    assert graphql_url(api) == graphql


async def test_a_pull_request_that_is_gone_is_not_found(forge: GitHubForge, repository: Repository) -> None:
    with pytest.raises(NotFound, match="acme/api#5"):
        await forge.mark_ready(repository, 5)
