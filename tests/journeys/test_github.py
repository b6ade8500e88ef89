"""The same journey on GitHub: the stand-in's own log says what happened there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, calls, git, make_repository, says
from tests.standins.github import GitHubStandIn, Kind


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHubStandIn]:
    with GitHubStandIn(tmp_path) as github:
        github.add_repository("acme", "adder", make_repository(tmp_path / "adder"))
        yield github


@pytest.fixture
def product(home: Path, github: GitHubStandIn) -> Iterator[Product]:
    settings = {
        "JOURNEYMAN_GITHUB_URL": github.url,
        "JOURNEYMAN_GITHUB_API_URL": github.api_url,
        "GITHUB_TOKEN": github.token,
    }
    with Product(home, **settings) as product:
        yield product


def test_an_issue_becomes_a_verified_draft_pull_request_of_the_user(
    product: Product, github: GitHubStandIn
) -> None:
    github.add_issue("acme/adder", "It subtracts", "add(2, 3) gives -1. cc @everyone")
    model = product.script("fix", PLANS, builds(FIXED))
    order_id = product.submit(f"{github.url}/acme/adder", model, initial_prompt=None, github_issue_number="1")
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    assert order["title"] == "It subtracts"

    [pull_request] = github.pull_requests
    assert pull_request.draft
    assert (pull_request.branch, pull_request.base) == (order["git_branch_name"], "main")
    assert "The checks passed" in pull_request.body
    assert "@everyone" not in pull_request.body
    [comment] = github.comments
    assert order["github_pull_request_url"] in comment.body
    pushed = github.git.commit("acme/adder", pull_request.branch)
    assert pushed == product.get(f"/api/agent-work-orders/{order_id}/git-progress")["latest_commit_sha"]
    mirror = next((product.home / "mirrors").glob("*.git"))
    assert git(mirror, "log", "-1", "--format=%an <%ae>", pushed) == "Octavia Example <octavia@example.org>"

    answer = product.request("POST", f"/api/agent-work-orders/{order_id}/pull-request/ready")
    assert answer.status_code == 200, answer.text
    assert not github.pull_requests[0].draft


@pytest.mark.parametrize("kind", [500, "reset_after_applying", 429])
def test_a_forge_that_stumbles_never_gets_a_second_pull_request(
    product: Product, github: GitHubStandIn, kind: Kind
) -> None:
    github.fail("POST", "*/pulls", kind, times=1)
    model = product.script("fix", PLANS, builds(FIXED))
    order_id = product.submit(f"{github.url}/acme/adder", model)
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert len(github.pull_requests) == 1
    ends = {
        event["step"]: event["type"] for event in product.events(order_id) if event["type"] == "step_failed"
    }
    assert ends == {}


def test_no_token_is_written_anywhere(product: Product, github: GitHubStandIn) -> None:
    curious = {
        "when": {"role": "build"},
        "replies": [
            calls("shell", command="env; cat /proc/*/environ | tr '\\0' '\\n'; git config -l"),
            calls("write_file", path="adder.py", content=FIXED),
            says("Done."),
        ],
    }
    order_id = product.submit(f"{github.url}/acme/adder", product.script("curious", PLANS, curious))
    assert product.finish(order_id)["status"] == "completed"
    secret = github.token.encode()
    told = product.request("GET", f"/api/agent-work-orders/{order_id}/events?until=finished").content
    assert secret not in told
    written = [path for path in product.home.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(written) > 10
    assert [path for path in written if secret in path.read_bytes()] == []
    assert github.token not in product.said()


def test_a_revoked_token_fails_the_order_with_what_to_do_and_keeps_the_work(
    product: Product, github: GitHubStandIn
) -> None:
    model = product.script("fix", PLANS, builds(FIXED))
    github.fail("POST", "*/git-receive-pack", 401, times=50)
    order = product.finish(product.submit(f"{github.url}/acme/adder", model))
    assert (order["status"], order["error_category"]) == ("failed", "auth"), order
    assert order["git_commit_count"] == 3
    assert github.pull_requests == []


@pytest.mark.parametrize(("path", "status"), [("acme/nowhere", 422), ("acme/adder/extra", 422)])
def test_a_repository_that_cannot_be_used_is_refused(
    product: Product, github: GitHubStandIn, path: str, status: int
) -> None:
    body = {"repository_url": f"{github.url}/{path}", "initial_prompt": "x", "model": "scripted/demo"}
    answer = product.request("POST", "/api/agent-work-orders", json=body)
    assert answer.status_code == status
    assert answer.json()["hint"]
    assert product.get("/api/agent-work-orders")["total_count"] == 0
