"""The same journey on GitHub: the stand-in's own log says what happened there."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, calls, git, make_repository, says
from tests.standins.github import GitHubStandIn, Kind, PullRequest


@pytest.fixture(scope="module")
def product(github: GitHubStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    (home := tmp_path_factory.mktemp("github") / "home").mkdir()
    settings = {
        "JOURNEYMAN_GITHUB_URL": github.url,
        "JOURNEYMAN_GITHUB_API_URL": github.api_url,
        "GITHUB_TOKEN": github.token,
    }
    with Product(home, **settings) as product:
        yield product


@dataclass(frozen=True)
class Site:
    """A repository of the test's own on GitHub."""

    github: GitHubStandIn
    slug: str

    @property
    def url(self) -> str:
        return f"{self.github.url}/{self.slug}"

    def pull_requests(self) -> list[PullRequest]:
        return [one for one in self.github.pull_requests if one.repository == self.slug]

    def fail(self, method: str, path: str, kind: Kind, times: int) -> None:
        self.github.fail(method, path.format(slug=self.slug), kind, times=times)


@pytest.fixture
def site(github: GitHubStandIn, tmp_path: Path) -> Site:
    name = f"adder-{len(github.repositories)}"
    github.add_repository("acme", name, make_repository(tmp_path / name))
    return Site(github, f"acme/{name}")


def test_an_issue_becomes_a_verified_draft_pull_request_of_the_user(product: Product, site: Site) -> None:
    number = site.github.add_issue(site.slug, "It subtracts", "add(2, 3) gives -1. cc @everyone")
    model = product.script("fix", PLANS, builds(FIXED))
    order_id = product.submit(site.url, model, initial_prompt=None, github_issue_number=str(number))
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert order["title"] == "It subtracts"

    [pull_request] = site.pull_requests()
    assert pull_request.draft
    assert (pull_request.branch, pull_request.base) == (order["git_branch_name"], "main")
    assert "The checks passed" in pull_request.body
    assert "@everyone" not in pull_request.body
    [comment] = [one for one in site.github.comments if one.repository == site.slug]
    assert order["github_pull_request_url"] in comment.body
    pushed = site.github.git.commit(site.slug, pull_request.branch)
    assert pushed == product.get(f"/api/agent-work-orders/{order_id}/git-progress")["latest_commit_sha"]
    [mirror] = (product.home / "mirrors").glob(f"*{site.slug.rpartition('/')[2]}-*.git")
    assert git(mirror, "log", "-1", "--format=%an <%ae>", pushed) == "Octavia Example <octavia@example.org>"

    answer = product.request("POST", f"/api/agent-work-orders/{order_id}/pull-request/ready")
    assert answer.status_code == 200, answer.text
    assert not site.pull_requests()[0].draft


@pytest.mark.parametrize("kind", [500, "reset_after_applying", pytest.param(429, marks=pytest.mark.lasting)])
def test_a_forge_that_stumbles_never_gets_a_second_pull_request(
    product: Product, site: Site, kind: Kind
) -> None:
    site.fail("POST", "*/{slug}/pulls", kind, times=1)
    model = product.script("fix", PLANS, builds(FIXED))
    order_id = product.submit(site.url, model)
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert len(site.pull_requests()) == 1
    ends = {
        event["step"]: event["type"] for event in product.events(order_id) if event["type"] == "step_failed"
    }
    assert ends == {}


def test_no_token_is_written_anywhere(product: Product, site: Site) -> None:
    curious = {
        "when": {"role": "build"},
        "replies": [
            calls("shell", command="env; cat /proc/*/environ | tr '\\0' '\\n'; git config -l"),
            calls("write_file", path="adder.py", content=FIXED),
            says("Done."),
        ],
    }
    order_id = product.submit(site.url, product.script("curious", PLANS, curious))
    assert product.finish(order_id)["status"] == "completed"
    secret = site.github.token.encode()
    told = product.request("GET", f"/api/agent-work-orders/{order_id}/events?until=finished").content
    assert secret not in told
    written = [path for path in product.home.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(written) > 10
    assert [path for path in written if secret in path.read_bytes()] == []
    assert site.github.token not in product.said()


def test_a_revoked_token_fails_the_order_with_what_to_do_and_keeps_the_work(
    product: Product, site: Site
) -> None:
    model = product.script("fix", PLANS, builds(FIXED))
    site.fail("POST", "*/{slug}.git/git-receive-pack", 401, times=50)
    order = product.finish(product.submit(site.url, model))
    assert (order["status"], order["error_category"]) == ("failed", "auth"), order
    assert order["git_commit_count"] == 3
    assert site.pull_requests() == []


@pytest.mark.parametrize(("path", "status"), [("acme/nowhere", 422), ("{slug}/extra", 422)])
def test_a_repository_that_cannot_be_used_is_refused(
    product: Product, site: Site, path: str, status: int
) -> None:
    before = product.get("/api/agent-work-orders")["total_count"]
    address = f"{site.github.url}/{path.format(slug=site.slug)}"
    body = {"repository_url": address, "initial_prompt": "x", "model": "scripted/demo"}
    answer = product.request("POST", "/api/agent-work-orders", json=body)
    assert answer.status_code == status
    assert answer.json()["hint"]
    assert product.get("/api/agent-work-orders")["total_count"] == before
