"""What people did to the order's branch and pull request since its last round.

Looked at when a round begins, so that an agent works on what is there now. A question disturbs no work: it
is answered from what there is, whatever people did.
"""

from journeyman.engine.handover import Handover
from journeyman.engine.repositories import Repositories
from journeyman.forges.pull_request_state import check_still_open
from journeyman.git.mirror import FreshMirror
from journeyman.git.push import branch_deleted
from journeyman.git.rebase import RebaseConflict
from journeyman.git.refs import STASHES
from journeyman.git.workspace import Workspace
from journeyman.steps.rebase import rebase_onto_remote
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.store import WorkOrders


async def sync_remote(
    orders: WorkOrders,
    order_id: str,
    mirror: FreshMirror,
    workspace: Workspace,
    *,
    repositories: Repositories,
    handover: Handover,
) -> None:
    """Rebase onto what they pushed; raise a Conflict where they ended the pull request or deleted the branch.

    A prompt whose round begins where both sides conflict begins from theirs: what is ours is set aside for
    the agent to work in again. Safe to repeat because looking changes nothing, and rebasing twice is once.
    """
    order = await orders.get(order_id)
    only_asks = all(step["kind"] == "answer" for step in order.current_workflow["steps"])
    if not only_asks:
        order = await check_still_open(orders, repositories.forge(order), repositories.of(order), order)
    theirs = mirror.branches.get(order.git_branch_name)
    if theirs is None:
        if order.pushed_commit_sha is not None and not only_asks:
            raise branch_deleted(order.git_branch_name, order.pushed_commit_sha)
        return
    aside = f"{STASHES}{order_id}/{order.round}"
    may_begin_anew = order.round_prompt is not None and not only_asks and not await _has_begun(orders, order)
    try:
        await rebase_onto_remote(
            orders,
            repositories.settings,
            order,
            workspace,
            theirs,
            keep=lambda: handover.save(orders, order_id, workspace),
            set_aside=aside if may_begin_anew else None,
        )
    except RebaseConflict:
        if not only_asks:
            raise


async def _has_begun(orders: WorkOrders, order: WorkOrder) -> bool:
    """Whether the round has made anything that setting it aside would undo."""
    steps = await orders.steps.of_order(order.agent_work_order_id)
    return any(step.round == order.round and step.status == "completed" for step in steps)
