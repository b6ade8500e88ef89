"""The state of an order's pull request: people may have closed or merged it meanwhile.

A pull request that a person ended is never opened again, and nothing is pushed to it; the order fails
instead.
"""

from typing import Any

from journeyman.errors import Conflict
from journeyman.events.types import (
    Event,
    GithubPullRequestClosed,
    GithubPullRequestMerged,
    GithubPullRequestReopened,
)
from journeyman.forges.base import Forge, PullRequest
from journeyman.work_orders.order import PullRequestState, WorkOrder
from journeyman.work_orders.repositories import Repository
from journeyman.work_orders.store import WorkOrders


def state_of(pull_request: PullRequest) -> PullRequestState:
    return "draft" if pull_request.state == "open" and pull_request.draft else pull_request.state


async def note_state(
    orders: WorkOrders, order: WorkOrder, pull_request: PullRequest, *events: Event, **changes: Any
) -> WorkOrder:
    """Record the state of the pull request, with an event where people ended or reopened it."""
    before, now = order.pull_request_state, state_of(pull_request)
    noted = list(events)
    facts = {"github_pull_request_url": pull_request.url, "number": pull_request.number}
    if now == "closed" and before != "closed":
        noted.append(GithubPullRequestClosed(**facts))
    if now == "merged" and before != "merged":
        noted.append(GithubPullRequestMerged(**facts))
    if now in ("draft", "open") and before == "closed":
        noted.append(GithubPullRequestReopened(**facts))
    if now == before and not noted and not changes:
        return order
    return await orders.change(order.agent_work_order_id, *noted, pull_request_state=now, **changes)


async def check_still_open(
    orders: WorkOrders, forge: Forge, repository: Repository, order: WorkOrder
) -> WorkOrder:
    """Read the order's pull request, if it has one; Conflict when people ended it."""
    if order.github_pull_request_number is None:
        return order
    pull_request = await forge.read_pull_request(repository, order.github_pull_request_number)
    order = await note_state(orders, order, pull_request)
    hints = {
        "merged": "Start a new order for what is left to do.",
        "closed": "Reopen the pull request and ask again, or start a new order.",
    }
    if order.pull_request_state in hints:
        raise Conflict(
            f"pull request #{pull_request.number} of this order was {order.pull_request_state}, so nothing "
            "more is pushed to it; what was not pushed stays on the order's branch in the mirror",
            hint=hints[order.pull_request_state],
        )
    return order
