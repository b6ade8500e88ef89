"""Prepare an order's repository for a round: mirror, branch, names and workspace."""

from collections.abc import Sequence
from dataclasses import dataclass

from journeyman.agents.small_model import SmallModel
from journeyman.engine.commands import emit_commands_found, expansion
from journeyman.engine.handover import Handover
from journeyman.engine.naming import ask_for_names, naming
from journeyman.engine.repositories import Repositories
from journeyman.engine.workspaces import OpenWorkspaces
from journeyman.events.types import (
    GitBranchCreated,
    GitCommitCreated,
    MissingFile,
    RepositoryFilesMissing,
)
from journeyman.git.branches import create_branch, revert_to
from journeyman.git.bundles import apply_bundle
from journeyman.git.commits import CommitMessage
from journeyman.git.mirror import FreshMirror, Mirror
from journeyman.git.missing import Missing
from journeyman.git.workspace import Workspace
from journeyman.settings import Settings
from journeyman.work_orders.lifecycle import outdated
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import DecidedChange, WorkOrders

_MOST_MISSING = 50
"""Files that are named; of any more only the number is given."""


@dataclass(frozen=True, kw_only=True)
class OrderCheckout:
    settings: Settings
    orders: WorkOrders
    repositories: Repositories
    workspaces: OpenWorkspaces
    handover: Handover
    small_model: SmallModel | None
    """Names orders; without one their names are made from their tasks."""

    async def prepare(self, order: WorkOrder) -> tuple[FreshMirror, Workspace]:
        """Bring the mirror up to date, make the branch and its workspace.

        Safe to repeat because each of them is taken as it is found.
        """
        order_id = order.agent_work_order_id
        mirror = await self.repositories.refresh(order)
        is_new = order.base_commit_sha is None
        if is_new:
            order = await self._begin(order, mirror)
        missing = await self.repositories.fetch_contents(order, mirror)
        if missing and is_new:
            await self.orders.emit(order_id, _files_missing(order, missing))
        if (bundle := await self.handover.newer_bundle(order_id)) is not None:
            await self.workspaces.remove(order_id)
            await apply_bundle(mirror, bundle.refs, bundle.content)
        await emit_commands_found(self.repositories.commands, self.orders, order, mirror)
        if order.start_commit_sha is not None:
            await self._start_from(order, mirror)
        return mirror, await self.workspaces.open(order)

    async def _begin(self, order: WorkOrder, mirror: FreshMirror) -> WorkOrder:
        """Write down where the branch begins and what it is called, in one transaction."""
        base_branch = order.base_branch or mirror.default_branch()
        base = mirror.resolve(base_branch)
        await mirror.check_checkout(
            base,
            max_files=self.settings.repository_max_files,
            max_bytes=self.settings.repository_max_bytes,
        )
        task, _ = await expansion(self.repositories.commands, mirror, base, order.initial_prompt)
        names = await ask_for_names(self.small_model, self.orders, order, task)

        def begin(now: WorkOrder) -> DecidedChange:
            named, changes = naming(order, names, now)
            branch = changes.get("git_branch_name", now.git_branch_name)
            created = GitBranchCreated(git_branch_name=branch, base_branch=base_branch, base_commit_sha=base)
            return [*named, created], {**changes, "base_branch": base_branch, "base_commit_sha": base}

        return await self.orders.change_with(order.agent_work_order_id, begin)

    async def _start_from(self, order: WorkOrder, mirror: Mirror) -> None:
        """Let the branch begin, or go on, with what it held at an earlier commit.

        Safe to repeat because a branch that has begun or was set back already is left as it is.
        """
        assert order.start_commit_sha is not None
        assert order.base_commit_sha is not None
        order_id, branch, start = order.agent_work_order_id, order.git_branch_name, order.start_commit_sha
        head = await mirror.branch_head(branch)
        if head is None and order.forked_from is not None:
            await self.handover.unpack_from(order.forked_from, mirror)
            await create_branch(mirror, order_id, branch, base=order.base_commit_sha, start=start)
        elif head is not None and head == order.redo_after_sha != start:
            await self.workspaces.remove(order_id)
            await self._set_back(order, mirror, head, start)

    async def _set_back(self, order: WorkOrder, mirror: Mirror, head: str, start: str) -> None:
        assert order.base_commit_sha is not None
        order_id, branch = order.agent_work_order_id, order.git_branch_name
        message = CommitMessage(
            subject=f"Set back to {start[:10]}",
            body="What came after it is done again.",
            order_id=order_id,
            phase="implementing",
            step="prepare",
            round=order.round,
        )
        author = await self.repositories.author(order)
        commit_sha = await revert_to(mirror, branch, head, start, message, author)
        progress = await mirror.progress(order_id, branch, order.base_commit_sha)
        created = GitCommitCreated(
            commit_sha=commit_sha,
            message=message.subject,
            phase="implementing",
            step="prepare",
            git_commit_count=progress.git_commit_count,
            git_files_changed=progress.git_files_changed,
            git_lines_added=progress.git_lines_added,
            git_lines_removed=progress.git_lines_removed,
        )
        changes = progress.counts
        changes["verification"] = outdated(order.verification)
        await self.orders.change(order_id, created, **changes)


def _files_missing(order: WorkOrder, missing: Sequence[Missing]) -> RepositoryFilesMissing:
    assert order.base_commit_sha is not None
    files = [MissingFile.model_validate(one) for one in missing]
    return RepositoryFilesMissing(
        commit_sha=order.base_commit_sha, count=len(files), files=files[:_MOST_MISSING]
    )
