"""Rebase the order's branch onto what people pushed to it, and say so.

Safe to repeat because a branch that has their commits already is left as it is.
"""

from collections.abc import Awaitable, Callable
from dataclasses import asdict

from journeyman.events.types import GitCommitsTakenIn
from journeyman.git.rebase import Rebased, rebase
from journeyman.git.workspace import Workspace
from journeyman.settings import Settings
from journeyman.steps.context import StepContext
from journeyman.work_orders.lifecycle import outdated
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import OrderChanges, WorkOrders


async def rebase_onto_pushed(context: StepContext) -> Rebased | None:
    """Rebase onto what is new on the remote's branch; only for the step that may write."""
    order = await context.orders.get(context.order_id)
    theirs = await context.workspace.mirror.fetch_branch(await context.remote(), order.git_branch_name)
    if theirs is None:
        return None
    return await rebase_onto_remote(
        context.orders, context.settings, order, context.workspace, theirs, keep=context.recorder.keep
    )


async def rebase_onto_remote(
    orders: WorkOrders,
    settings: Settings,
    order: WorkOrder,
    workspace: Workspace,
    theirs: str,
    *,
    keep: Callable[[], Awaitable[None]],
    set_aside: str | None = None,
) -> Rebased | None:
    """Put the order's own commits on top of a commit that the mirror holds; see `git.rebase`."""
    if theirs == order.pushed_commit_sha:
        return None
    await workspace.mirror.check_checkout(
        theirs, max_files=settings.repository_max_files, max_bytes=settings.repository_max_bytes
    )
    taken = await rebase(workspace, theirs, pushed_sha=order.pushed_commit_sha, stash_ref=set_aside)
    if taken is None:
        return None
    await keep()
    progress = await workspace.mirror.progress(
        order.agent_work_order_id, order.git_branch_name, workspace.base_commit_sha
    )
    changes: OrderChanges = {
        "pushed_commit_sha": taken.theirs,
        "verification": outdated(order.verification),
    }
    changes.update(progress.counts)
    if taken.stashed:
        changes["set_aside_commit_sha"] = taken.stashed
    event = GitCommitsTakenIn(
        git_branch_name=order.git_branch_name,
        commit_sha=taken.head,
        count=taken.count,
        commits=[asdict(one) for one in taken.commits],
        set_aside_commit_sha=taken.stashed,
    )
    await orders.change(order.agent_work_order_id, event, **changes)
    return taken
