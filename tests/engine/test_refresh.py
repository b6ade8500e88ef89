"""Whoever reads an order at rest soon sees what people pushed to its branch; nothing is taken in for that."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from journeyman.database import Database
from journeyman.engine.handover import current_mirror
from journeyman.engine.refresh import BranchRefresh, may_have_moved, refresh_branch
from journeyman.engine.resources import WorkerResources
from journeyman.errors import Superseded
from journeyman.events import log
from journeyman.events.types import GitBranchMoved
from journeyman.forges.base import Remote
from journeyman.forges.local import LocalForge
from journeyman.git.commits import CommitMessage
from journeyman.git.mirror import Mirror
from journeyman.git.remote_branch import newest_head
from journeyman.git.workspace import Workspace
from journeyman.work_orders.changes import OrderChanges
from journeyman.work_orders.order import Status, WorkOrder
from journeyman.work_orders.repositories import Repository
from tests.git.repositories import ADA, git, make_repository, remote_of
from tests.work_orders.orders import an_order


@dataclass
class Case:
    """An order that pushed one commit and has ended, its checks passed."""

    resources: WorkerResources
    source: Path
    workspace: Workspace
    order_id: str
    pushed: str

    @property
    def mirror(self) -> Mirror:
        return self.workspace.mirror

    @property
    def branch(self) -> str:
        return self.workspace.branch

    async def mirror_of(self, order: WorkOrder) -> Mirror:
        return await current_mirror(self.resources.repositories, self.resources.handover, order)

    async def order(self) -> WorkOrder:
        return await self.resources.orders.get(self.order_id)

    async def refresh(self) -> WorkOrder:
        repositories = self.resources.repositories
        await refresh_branch(self.resources.orders, repositories, self.mirror_of, self.order_id)
        return await self.order()

    async def moves(self) -> list[GitBranchMoved]:
        stored, _ = await log.page(self.resources.orders.database, self.order_id, limit=200, offset=0)
        return [one.event for one in stored if isinstance(one.event, GitBranchMoved)]

    async def commit(self, name: str) -> str:
        """By the order, in the mirror alone."""
        commit_sha = await commit(self.workspace, self.order_id, name)
        await self.resources.orders.change(self.order_id, **await counts(self.workspace, self.order_id))
        return commit_sha

    def push_as_a_person(self, name: str) -> str:
        git(self.source, "checkout", "--quiet", self.branch)
        (self.source / name).write_text("by hand\n")
        git(self.source, "add", "--all")
        git(self.source, "commit", "--quiet", "--message", "By a person")
        git(self.source, "checkout", "--quiet", "main")
        return git(self.source, "rev-parse", self.branch)

    def set_branch(self, commit_sha: str) -> None:
        """As a person does by force."""
        git(self.source, "update-ref", f"refs/heads/{self.branch}", commit_sha)


async def commit(workspace: Workspace, order_id: str, name: str) -> str:
    (workspace.tree / name).write_text("by the agent\n")
    message = CommitMessage(subject=f"Write {name}", order_id=order_id, phase="implementing", step="build")
    commit_sha = await workspace.commit(message, author=ADA)
    assert commit_sha is not None
    return commit_sha


async def counts(workspace: Workspace, order_id: str) -> OrderChanges:
    base = workspace.base_commit_sha
    return (await workspace.mirror.progress(order_id, workspace.branch, base)).counts


@pytest.fixture
async def case(resources: WorkerResources, tmp_path: Path) -> Case:
    source = make_repository(tmp_path / "source")
    order = an_order(repository_url=source.as_uri(), status="running")
    order_id = order.agent_work_order_id
    await resources.orders.create(order)
    _, workspace = await resources.checkout.prepare(order)
    pushed = await commit(workspace, order_id, "work.txt")
    await workspace.push(remote_of(source), expected_sha=None)
    changes = await counts(workspace, order_id)
    changes.update({"status": "completed", "verification": "passed", "pushed_commit_sha": pushed})
    await resources.orders.change(order_id, **changes)
    return Case(resources, source, workspace, order_id, pushed)


async def test_what_people_pushed_is_counted_and_the_verdict_no_longer_covers_the_branch(case: Case) -> None:
    theirs = case.push_as_a_person("hand.txt")
    order = await case.refresh()
    assert (order.git_commit_count, order.git_files_changed, order.git_lines_added) == (2, 2, 2)
    assert (order.status, order.verification) == ("completed", "outdated")
    assert await newest_head(case.mirror, case.order_id, case.branch) == theirs
    [moved] = await case.moves()
    assert (moved.commit_sha, moved.count, moved.commits[0]["message"]) == (theirs, 1, "By a person")


async def test_nothing_is_taken_in_by_looking(case: Case) -> None:
    case.push_as_a_person("hand.txt")
    order = await case.refresh()
    assert order.pushed_commit_sha == case.pushed
    assert await case.mirror.branch_head(case.branch) == case.pushed


async def test_what_is_known_is_not_written_again(case: Case) -> None:
    before = await case.order()
    assert await case.refresh() == before, "nobody has pushed"
    case.push_as_a_person("hand.txt")
    seen = await case.refresh()
    assert seen != before
    assert await case.refresh() == seen
    assert len(await case.moves()) == 1


async def test_commits_of_both_sides_leave_the_statistics_to_the_orders_own(case: Case) -> None:
    own = await case.commit("more.txt")
    case.push_as_a_person("hand.txt")
    for _ in range(2):
        order = await case.refresh()
        assert (order.git_commit_count, order.verification) == (2, "outdated")
    assert await newest_head(case.mirror, case.order_id, case.branch) == own
    [moved] = await case.moves()
    assert moved.count == 1


async def test_what_people_took_back_counts_no_longer(case: Case) -> None:
    case.push_as_a_person("hand.txt")
    await case.refresh()
    case.set_branch(case.pushed)
    order = await case.refresh()
    assert (order.git_commit_count, order.verification) == (1, "outdated")
    assert await newest_head(case.mirror, case.order_id, case.branch) == case.pushed
    assert await case.refresh() == order
    assert [one.count for one in await case.moves()] == [1, 0]


async def test_an_order_whose_commits_people_took_out_is_no_longer_verified(case: Case) -> None:
    case.set_branch(case.workspace.base_commit_sha)
    order = await case.refresh()
    assert (order.git_commit_count, order.verification) == (1, "outdated")
    assert await case.refresh() == order


async def test_a_push_of_our_own_whose_answer_was_lost_is_nobody_elses(case: Case) -> None:
    await case.commit("more.txt")
    await case.workspace.push(remote_of(case.source), expected_sha=case.pushed)
    before = await case.order()
    assert await case.refresh() == before


async def test_a_branch_that_is_gone_leaves_the_order_as_it_is(case: Case) -> None:
    case.push_as_a_person("hand.txt")
    seen = await case.refresh()
    git(case.source, "branch", "--quiet", "-D", case.branch)
    assert await case.refresh() == seen


class Renaming(LocalForge):
    """A forge that is just being asked when somebody renames the order."""

    case: Case

    async def remote(self, repository: Repository) -> Remote:
        await self.case.resources.orders.change(self.case.order_id, title="Another")
        return await super().remote(repository)


async def test_an_order_that_changes_meanwhile_is_left_to_the_next_look(
    case: Case, database: Database
) -> None:
    case.push_as_a_person("hand.txt")
    forge = Renaming(database, case.resources.settings.server_url)
    forge.case = case
    asked = replace(case.resources.repositories, forges={"local": forge})
    with pytest.raises(Superseded):
        await refresh_branch(case.resources.orders, asked, case.mirror_of, case.order_id)
    assert await case.moves() == []
    assert (await case.refresh()).verification == "outdated"


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "paused", "awaiting_approval"])
def test_only_orders_at_rest_that_have_pushed_are_looked_at_and_not_at_once(status: Status) -> None:
    now = datetime.now(UTC)
    order = an_order(status=status, pushed_commit_sha="1" * 40, updated_at=now - timedelta(minutes=1))
    assert may_have_moved(order, now)
    assert not may_have_moved(replace(order, updated_at=now), now)
    assert not may_have_moved(replace(order, pushed_commit_sha=None), now)
    assert not may_have_moved(replace(order, status="running"), now)


async def test_a_remote_that_cannot_be_reached_is_logged_once_and_left_alone_for_a_while(case: Case) -> None:
    order = replace(await case.order(), updated_at=datetime.now(UTC) - timedelta(minutes=1))
    case.source.rename(case.source.with_name("gone"))
    refresh = BranchRefresh(case.resources.orders, case.resources.repositories, case.mirror_of)
    with capture_logs() as logged:
        async with asyncio.timeout(30):
            while not logged:
                refresh.request(order)
                await asyncio.sleep(0.01)
        for _ in range(3):
            refresh.request(order)
            await asyncio.sleep(0)
        await refresh.close()
    assert [one["event"] for one in logged] == ["git_branch_not_refreshed"]
    assert logged[0]["agent_work_order_id"] == case.order_id
