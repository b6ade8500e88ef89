"""People work beside the agent: they push, close, merge and delete, and nothing of theirs or ours is lost."""

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.waiting import wait_for
from tests.journeys.conftest import Hosted, Hosting
from tests.journeys.product import Product
from tests.journeys.repositories import BROKEN, FIXED, TESTS, builds, calls, git, says
from tests.journeys.rounds import finish_round, prompt
from tests.standins.github import GitHubStandIn

WAITS = "until [ -e go ]; do sleep 0.02; done; rm go"
NOTES = {
    "when": {"role": "build", "contains": "Add notes"},
    "replies": [
        calls("write_file", path="NOTES.md", content="By the agent.\n"),
        calls("shell", command=WAITS),
        says("Added."),
    ],
}


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory, github: GitHubStandIn) -> Iterator[Product]:
    home: Path = tmp_path_factory.mktemp("people") / "home"
    home.mkdir()
    settings = {
        "JOURNEYMAN_GITHUB_URL": github.url,
        "JOURNEYMAN_GITHUB_API_URL": github.api_url,
        "GITHUB_TOKEN": github.token,
    }
    with Product(home, **settings) as product:
        yield product


class Person:
    """Somebody with a clone of their own."""

    def __init__(self, hosted: Hosted, directory: Path) -> None:
        self.hosted = hosted
        self.clone = directory / "clone"
        subprocess.run(["git", "clone", "-q", str(hosted.path), str(self.clone)], check=True)

    def push(self, branch: str, **files: str) -> str:
        git(self.clone, "fetch", "-q", "origin")
        git(self.clone, "checkout", "-q", "-B", branch, f"origin/{branch}")
        for name, content in files.items():
            (self.clone / name.replace("_dot_", ".")).write_text(content)
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "-q", "-m", "A person's touch")
        git(self.clone, "push", "-q", "origin", branch)
        return git(self.clone, "rev-parse", "HEAD")

    def ends_pull_request(self, state: str) -> None:
        """Closes, merges or reopens the one pull request of the repository."""
        if self.hosted.url.startswith("http"):
            slug = self.hosted.url.removeprefix(f"{self.hosted.github.url}/")
            [one] = [one for one in self.hosted.github.pull_requests if one.repository == slug]
            one.state, one.merged = ("open" if state == "open" else "closed"), state == "merged"
            return
        with sqlite3.connect(self.hosted.product.home / "journeyman.db") as database:
            database.execute(
                "UPDATE local_pull_requests SET state = ? WHERE repository_url = ?",
                (state, self.hosted.path.as_uri()),
            )


def first_round(
    product: Product, hosted: Hosted, *turns: Any, name: str, workflow: str = "agent_workflow_build"
) -> dict[str, Any]:
    model = product.script(name, *turns, builds(FIXED))
    order_id = product.submit(hosted.url, model, workflow_type=workflow)
    order = product.finish(order_id)
    assert (order["status"], order["pull_request_state"]) == ("completed", "draft"), order
    return order


def let_go_on(product: Product, order_id: str) -> None:
    (product.home / "workspaces" / order_id / "tree" / "go").write_text("")


def wait_for_shell(product: Product, order_id: str) -> None:
    product.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")


def told(product: Product, order_id: str, kind: str) -> list[dict[str, Any]]:
    return [event for event in product.events(order_id) if event["type"] == kind]


def test_commits_pushed_during_the_round_are_taken_in_and_verified(
    product: Product, hosting: Hosting, tmp_path: Path
) -> None:
    hosted = hosting.add()
    order = first_round(product, hosted, NOTES, name="notes")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    person = Person(hosted, tmp_path)
    prompt(product, order_id, "Add notes")
    wait_for_shell(product, order_id)
    theirs = person.push(branch, HAND_dot_md="By hand.\n")
    let_go_on(product, order_id)
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["verification"]) == ("completed", "passed"), second
    [taken] = told(product, order_id, "git_commits_taken_in")
    assert (taken["count"], taken["commits"][0]["commit_sha"]) == (1, theirs)
    assert taken["commits"][0]["author"] == "Ada"
    assert git(hosted.path, "show", f"{branch}:HAND.md") == "By hand."
    assert git(hosted.path, "show", f"{branch}:NOTES.md") == "By the agent."
    git(hosted.path, "merge-base", "--is-ancestor", theirs, branch)
    checked = product.get(f"/api/agent-work-orders/{order_id}/evidence")["evidence"][-1]["commit_sha"]
    git(hosted.path, "merge-base", "--is-ancestor", theirs, checked)


def test_commits_pushed_after_the_checks_are_verified_before_anything_is_claimed(
    product: Product, hosting: Hosting, tmp_path: Path
) -> None:
    """The person's push comes between the checks and ours: it breaks them, and the agent repairs that."""
    hosted = hosting.add()
    flow = product.home / "workflows" / "checked_then_waits.yaml"
    flow.parent.mkdir(exist_ok=True)
    once = f"test -e once || {{ touch once; {WAITS}; }}"
    flow.write_text(
        "name: checked_then_waits\nsteps:\n"
        "  - {name: build, kind: build}\n"
        "  - {name: publish_first, kind: open_pull_request, depends_on: [build]}\n"
        "  - {name: verify, kind: verify, depends_on: [publish_first]}\n"
        f"  - {{name: hold, kind: shell, depends_on: [verify], command: '{once}'}}\n"
        "  - {name: publish, kind: open_pull_request, depends_on: [hold]}\n"
    )
    repairs = builds(FIXED + "\n\ndef sub(a, b):\n    return a - b\n", contains="cannot import name")
    model = product.script("twice", repairs, builds(FIXED))
    order_id = product.submit(hosted.url, model, workflow_type="checked_then_waits")
    product.until(order_id, lambda event: event["type"] == "step_started" and event["step"] == "hold")
    branch = product.order(order_id)["git_branch_name"]
    theirs = Person(hosted, tmp_path).push(
        branch,
        test_adder_dot_py=TESTS.replace("import add", "import add, sub")
        + "\n    def test_subtracts(self):\n        self.assertEqual(sub(3, 2), 1)\n",
    )
    let_go_on(product, order_id)
    order = product.finish(order_id)
    assert (order["status"], order["verification"]) == ("completed", "passed"), order
    git(hosted.path, "merge-base", "--is-ancestor", theirs, branch)
    assert "def sub" in git(hosted.path, "show", f"{branch}:adder.py")
    begun = [event["step"] for event in told(product, order_id, "step_started")]
    assert begun.count("verify") == 2
    assert begun.count("build") == 1
    assert told(product, order_id, "step_failed") == []
    passed = [event["passed"] for event in told(product, order_id, "verification_attempt_completed")]
    assert passed == [True, False, True]


def test_a_conflict_fails_the_round_keeps_both_sides_and_a_prompt_resolves_it(
    product: Product, hosting: Hosting, tmp_path: Path
) -> None:
    hosted = hosting.add()
    both = "By hand.\nBy the agent.\n"
    resolves = {
        "when": {"role": "build", "contains": r"\+By the agent"},
        "replies": [calls("write_file", path="NOTES.md", content=both), says("Both.")],
    }
    order = first_round(product, hosted, resolves, NOTES, name="clash")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    person = Person(hosted, tmp_path)
    prompt(product, order_id, "Add notes")
    wait_for_shell(product, order_id)
    theirs = person.push(branch, NOTES_dot_md="By hand.\n")
    let_go_on(product, order_id)
    failed = finish_round(product, order_id, 2)
    assert (failed["status"], failed["error_category"]) == ("failed", "conflict"), failed
    assert "NOTES.md" in failed["error_message"]
    [ended] = told(product, order_id, "agent_work_order_failed")
    assert "prompt" in ended["hint"]
    assert git(hosted.path, "rev-parse", branch) == theirs
    assert "+By the agent." in product.request("GET", f"/api/agent-work-orders/{order_id}/diff").text

    prompt(product, order_id, "Resolve the conflict with what was pushed")
    resolved = finish_round(product, order_id, 3)
    assert (resolved["status"], resolved["verification"]) == ("completed", "passed"), resolved
    assert git(hosted.path, "show", f"{branch}:NOTES.md") == both.strip()
    git(hosted.path, "merge-base", "--is-ancestor", theirs, branch)
    assert told(product, order_id, "git_commits_taken_in")[-1]["set_aside_commit_sha"]


def test_commits_pushed_between_rounds_are_where_the_next_one_begins(
    product: Product, hosting: Hosting, tmp_path: Path
) -> None:
    hosted = hosting.add()
    sees = {
        "when": {"role": "build", "contains": "Copy"},
        "replies": [calls("shell", command="cp HAND.md COPY.md"), says("Copied.")],
    }
    order = first_round(product, hosted, sees, name="between")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    theirs = Person(hosted, tmp_path).push(branch, HAND_dot_md="By hand.\n")
    prompt(product, order_id, "Copy what I wrote")
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["verification"]) == ("completed", "passed"), second
    assert git(hosted.path, "show", f"{branch}:COPY.md") == "By hand."
    git(hosted.path, "merge-base", "--is-ancestor", theirs, branch)


def test_a_branch_that_was_reset_to_an_earlier_commit_is_where_the_next_round_begins(
    product: Product, hosting: Hosting
) -> None:
    hosted = hosting.add()
    adds = [
        {
            "when": {"role": "build", "contains": f"Add {name}"},
            "replies": [calls("write_file", path=name, content="By the agent.\n"), says("Added.")],
        }
        for name in ("ONE.md", "TWO.md")
    ]
    order = first_round(product, hosted, *adds, name="reset")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    first = git(hosted.path, "rev-parse", branch)
    prompt(product, order_id, "Add ONE.md")
    assert finish_round(product, order_id, 2)["status"] == "completed"
    git(hosted.path, "update-ref", f"refs/heads/{branch}", first)
    prompt(product, order_id, "Add TWO.md")
    third = finish_round(product, order_id, 3)
    assert (third["status"], third["verification"]) == ("completed", "passed"), third
    files = git(hosted.path, "ls-tree", "--name-only", branch).split()
    assert "TWO.md" in files
    assert "ONE.md" not in files
    git(hosted.path, "merge-base", "--is-ancestor", first, branch)


def test_commits_pushed_to_an_order_at_rest_are_seen_by_those_who_read_it(
    product: Product, hosting: Hosting, tmp_path: Path
) -> None:
    """Without a round: nothing is taken in until the next one begins."""
    hosted = hosting.add()
    sees = {
        "when": {"role": "build", "contains": "Copy"},
        "replies": [calls("shell", command="cp HAND.md COPY.md"), says("Copied.")],
    }
    flow = product.home / "workflows" / "checked.yaml"
    flow.parent.mkdir(exist_ok=True)
    flow.write_text(
        "name: checked\nsteps:\n"
        "  - {name: build, kind: build}\n"
        "  - {name: verify, kind: verify, depends_on: [build]}\n"
        "  - {name: publish, kind: open_pull_request, depends_on: [verify]}\n"
    )
    order = first_round(product, hosted, sees, name="seen", workflow="checked")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    assert order["verification"] == "passed"
    theirs = Person(hosted, tmp_path).push(branch, HAND_dot_md="By hand.\n")

    seen = read_until(product, order_id, lambda order: order["verification"] == "outdated")
    assert seen["status"] == "completed"
    assert seen["git_commit_count"] == order["git_commit_count"] + 1
    assert seen["git_files_changed"] == order["git_files_changed"] + 1
    assert seen["git_lines_added"] == order["git_lines_added"] + 1
    progress = product.get(f"/api/agent-work-orders/{order_id}/git-progress")
    assert (progress["latest_commit_sha"], progress["latest_commit_message"]) == (theirs, "A person's touch")
    assert progress["git_commit_count"] == seen["git_commit_count"]
    assert "+By hand." in product.request("GET", f"/api/agent-work-orders/{order_id}/diff").text
    [moved] = told(product, order_id, "git_branch_moved")
    assert (moved["commit_sha"], moved["count"], moved["commits"][0]["author"]) == (theirs, 1, "Ada")
    assert told(product, order_id, "git_commits_taken_in") == []

    prompt(product, order_id, "Copy what I wrote")
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["verification"]) == ("completed", "passed"), second
    [taken] = told(product, order_id, "git_commits_taken_in")
    assert taken["commits"][0]["commit_sha"] == theirs
    assert git(hosted.path, "show", f"{branch}:COPY.md") == "By hand."
    git(hosted.path, "merge-base", "--is-ancestor", theirs, branch)
    assert len(told(product, order_id, "git_branch_moved")) == 1


def read_until(product: Product, order_id: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Read the order as a page does, again and again, until the condition holds."""

    def read() -> dict[str, Any] | None:
        order = product.order(order_id)
        return order if reached(order) else None

    return wait_for(read, f"what is awaited of {order_id}")


def test_a_pass_does_not_cover_what_people_broke(product: Product, hosting: Hosting, tmp_path: Path) -> None:
    hosted = hosting.add()
    gives_up = {"when": {"role": "build", "contains": "failing-checks"}, "replies": [says("I cannot.")]}
    order = first_round(product, hosted, gives_up, NOTES, name="broken")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    person = Person(hosted, tmp_path)
    prompt(product, order_id, "Add notes")
    wait_for_shell(product, order_id)
    person.push(branch, adder_dot_py=BROKEN + "# by hand\n", test_adder_dot_py=TESTS + "\n# by hand\n")
    let_go_on(product, order_id)
    second = finish_round(product, order_id, 2)
    assert second["verification"] == "failed", second
    assert git(hosted.path, "show", f"{branch}:adder.py").endswith("# by hand")


@pytest.mark.parametrize("state", ["closed", "merged"])
def test_a_pull_request_that_people_ended_takes_no_more_work(
    product: Product, hosting: Hosting, tmp_path: Path, state: str
) -> None:
    hosted = hosting.add()
    order = first_round(product, hosted, NOTES, name="ended")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    head = git(hosted.path, "rev-parse", branch)
    person = Person(hosted, tmp_path)
    person.ends_pull_request(state)
    refused = prompt(product, order_id, "Add notes", 409)
    assert state in refused["detail"]
    assert "new order" in refused["hint"]
    assert product.order(order_id)["pull_request_state"] == state
    assert len(told(product, order_id, f"github_pull_request_{state}")) == 1
    assert product.get(f"/api/agent-work-orders/{order_id}/prompts")["prompts"] == []
    assert git(hosted.path, "rev-parse", branch) == head
    if state == "closed":
        person.ends_pull_request("open")
        prompt(product, order_id, "Add notes")
        wait_for_shell(product, order_id)
        let_go_on(product, order_id)
        assert finish_round(product, order_id, 2)["status"] == "completed"
        assert len(told(product, order_id, "github_pull_request_reopened")) == 1
    assert len(hosted.pull_requests()) == 1


def test_a_merge_during_the_round_is_said_and_nothing_is_pushed_any_more(
    product: Product, hosting: Hosting, tmp_path: Path
) -> None:
    hosted = hosting.add()
    order = first_round(product, hosted, NOTES, name="merged")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    head = git(hosted.path, "rev-parse", branch)
    prompt(product, order_id, "Add notes")
    wait_for_shell(product, order_id)
    Person(hosted, tmp_path).ends_pull_request("merged")
    let_go_on(product, order_id)
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["error_category"]) == ("failed", "conflict"), second
    assert second["pull_request_state"] == "merged"
    assert "merged" in second["error_message"]
    assert git(hosted.path, "rev-parse", branch) == head
    assert len(hosted.pull_requests()) == 1
    assert "NOTES.md" in product.request("GET", f"/api/agent-work-orders/{order_id}/diff").text


def test_a_branch_that_people_deleted_is_not_made_again(product: Product, hosting: Hosting) -> None:
    hosted = hosting.add()
    order = first_round(product, hosted, NOTES, name="deleted")
    order_id, branch = order["agent_work_order_id"], order["git_branch_name"]
    git(hosted.path, "branch", "-q", "-D", branch)
    prompt(product, order_id, "Add notes")
    second = finish_round(product, order_id, 2)
    assert (second["status"], second["error_category"]) == ("failed", "conflict"), second
    assert "deleted" in second["error_message"]
    assert git(hosted.path, "branch", "--list", branch) == ""
