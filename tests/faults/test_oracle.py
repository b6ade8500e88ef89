"""The oracle itself: what is broken on purpose, it finds."""

import subprocess
from typing import Any

import pytest

from tests.faults.oracle import Told, remains, story, violations
from tests.faults.stage import Customer, Stage
from tests.journeys.repositories import git


def told(*types: str, status: str = "completed", **more: Any) -> Told:
    events = [{"sequence": place, "type": kind, **more} for place, kind in enumerate(types, 1)]
    return Told(1, status, "branch", events)


ORDER = "agent_work_order_"
WHOLE = (f"{ORDER}created", f"{ORDER}started", "step_started", "step_completed", f"{ORDER}completed")


def test_a_whole_story_is_left_alone() -> None:
    assert list(story(told(*WHOLE, step="build"))) == []


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (told(*WHOLE[:3], "step_completed", "step_started", WHOLE[4], step="build"), "done twice"),
        (told(WHOLE[0], WHOLE[4]), "completed follows pending"),
        (told(*WHOLE[:2], status="failed"), "the order is failed"),
        (Told(1, "pending", "", [{"sequence": 2, "type": WHOLE[0]}]), "gaps"),
    ],
)
def test_a_broken_story_is_found(broken: Told, complaint: str) -> None:
    [found] = story(broken)
    assert complaint in found


@pytest.fixture(scope="module")
def done(stages: dict[str, Stage]) -> Customer:
    """An order that went well."""
    stages["sqlite"].product.start()
    customer = Customer(stages["sqlite"])
    customer.see_through()
    assert violations(customer) == []
    return customer


def test_a_moved_branch_of_somebody_else_is_found(done: Customer) -> None:
    kept = done.site.before["refs/heads/somebody"]
    git(done.site.path, "update-ref", "-d", "refs/heads/somebody")
    assert violations(done) == [f"forge: refs/heads/somebody was moved from {kept} to None"]
    git(done.site.path, "update-ref", "refs/heads/somebody", kept)


def test_what_an_order_leaves_behind_is_found(done: Customer) -> None:
    left = done.stage.home / "workspaces" / f".{done.order_id}.lock"
    left.touch()
    (done.stage.temporary / "rubbish").touch()
    process = subprocess.Popen(["sleep", "60"], env={"JM_SANDBOX": f"x:{done.order_id}:rw:"})
    try:
        found = remains(done.stage, done.order_id)
    finally:
        process.kill()
        process.wait()
        left.unlink()
        (done.stage.temporary / "rubbish").unlink()
    assert len(found) == 3, found


def test_a_second_pull_request_and_a_lost_file_are_found(done: Customer) -> None:
    github, site = done.stage.github, done.site
    made = next(one for one in github.pull_requests if one.repository == site.slug)
    github.pull_requests.append(made)
    assert violations(done) == [
        "forge: 2 pull requests were made",
        "forge: it is completed with 2 pull requests",
    ]
    github.pull_requests.pop()
    branch = made.branch
    mirrors = [*(done.stage.home / "mirrors").glob("*.git"), site.path]
    for mirror in mirrors:
        git(mirror, "update-ref", f"refs/heads/{branch}", site.before["refs/heads/main"])
    found = violations(done)
    assert any("what the agent wrote at" in one for one in found), found
    assert any("was overwritten by" in one for one in found), found
