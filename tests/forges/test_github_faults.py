"""Whatever goes wrong with a change at GitHub, repeating it leads to the change, once.

What happened is read from the stand-in's own log, never from what the forge reports.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest

from journeyman.errors import JourneymanError
from journeyman.forges.base import PullRequest
from journeyman.forges.github import GitHubForge
from journeyman.settings import Settings
from journeyman.work_orders.repositories import Repository
from tests.forges.repository import BRANCH
from tests.standins.github import ALL_KINDS, GitHubStandIn, Kind

MARKER = "<!-- journeyman:wo-abc12345 -->"
TRIES = 6


@dataclass(frozen=True)
class Site:
    github: GitHubStandIn
    forge: GitHubForge
    repository: Repository
    issue: str

    async def open(self) -> PullRequest:
        return await self.forge.open_pull_request(
            self.repository, branch=BRANCH, base="trunk", title="Add greeting", body="First"
        )

    async def comment(self, text: str) -> str:
        return await self.forge.comment_on_issue(self.repository, self.issue, text, marker=MARKER)


@pytest.fixture(params=ALL_KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen


@pytest.fixture
async def site(
    github: GitHubStandIn, github_settings: Settings, repository: Repository, kind: Kind
) -> AsyncIterator[Site]:
    forge = GitHubForge(github_settings, timeout_seconds=0.5 if kind == "timeout" else 20)
    yield Site(github, forge, repository, str(github.add_issue("acme/api", "No greeting")))
    await forge.aclose()


async def again_and_again(call: Callable[[], Awaitable[object]]) -> None:
    """Repeat a step as the engine does, until it comes through."""
    for _ in range(TRIES):
        try:
            await call()
        except JourneymanError:
            continue
        return
    pytest.fail(f"still failing after {TRIES} tries")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_fault_while_opening_leaves_one_pull_request(site: Site, kind: Kind, method: str) -> None:
    site.github.fail(method, "*/pulls", kind)

    await again_and_again(site.open)

    assert len(site.github.pull_requests) == 1
    assert site.github.requests[-1].status in (200, 201)
    assert sum(one.applied for one in site.github.made("POST", "*/pulls")) == 1


async def test_a_fault_of_opening_and_of_looking_again_leaves_one_pull_request(
    site: Site, kind: Kind
) -> None:
    site.github.fail("POST", "*/pulls", "reset_after_applying")
    site.github.fail("GET", "*/pulls", kind, times=4)

    await again_and_again(site.open)

    assert len(site.github.pull_requests) == 1


async def test_a_fault_while_updating_leaves_the_new_body_once(site: Site, kind: Kind) -> None:
    pull = await site.open()
    site.github.pull_requests[0].body += "\nTheirs"
    site.github.fail("PATCH", "*/pulls/*", kind)

    await again_and_again(
        lambda: site.forge.update_pull_request(site.repository, pull.number, body="Second", title="New")
    )

    (only,) = site.github.pull_requests
    assert (only.title, only.body.count("Second"), only.body.endswith("Theirs")) == ("New", 1, True)
    assert "First" not in only.body


async def test_a_fault_while_marking_ready_leaves_a_ready_pull_request(site: Site, kind: Kind) -> None:
    pull = await site.open()
    site.github.fail("POST", "/api/graphql", kind)

    await again_and_again(lambda: site.forge.mark_ready(site.repository, pull.number))

    (only,) = site.github.pull_requests
    assert not only.draft
    assert sum(one.applied for one in site.github.made("POST", "/api/graphql")) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_fault_while_commenting_leaves_one_comment(site: Site, kind: Kind, method: str) -> None:
    site.github.fail(method, "*/comments", kind)

    await again_and_again(lambda: site.comment("Started."))

    assert [comment.body for comment in site.github.comments] == [f"{MARKER}\nStarted."]


async def test_a_fault_while_rewriting_a_comment_leaves_one_comment(site: Site, kind: Kind) -> None:
    await site.comment("Started.")
    site.github.fail("PATCH", "*/comments/*", kind)

    await again_and_again(lambda: site.comment("Done."))

    assert [comment.body for comment in site.github.comments] == [f"{MARKER}\nDone."]


@pytest.mark.parametrize("kind", ["reset_after_applying", "500_after_applying"], indirect=True)
async def test_a_lost_answer_is_found_within_the_same_call(site: Site, kind: Kind) -> None:
    site.github.fail("POST", "*", kind, times=3)

    pull = await site.open()
    ready = await site.forge.mark_ready(site.repository, pull.number)
    await site.comment("Started.")

    assert (pull.was_created, ready.draft) == (True, False)
    assert len(site.github.pull_requests) == len(site.github.comments) == 1
