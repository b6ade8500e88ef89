"""The pull requests of repositories on this machine, and their merge."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from pydantic import Field

from journeyman.api.fields import InDigits, OneLineText
from journeyman.api.models import (
    LocalPullRequest,
    LocalPullRequestPage,
    PageQuery,
    ProposedCommit,
    ShownPullRequest,
)
from journeyman.api.services import Given, Services
from journeyman.errors import Conflict, InvalidRepository
from journeyman.forges.base import Person, PullRequest
from journeyman.forges.pull_request_state import note_state, state_of
from journeyman.git.branch_log import commits_of
from journeyman.git.commits import JOURNEYMAN
from journeyman.git.merge import merge
from journeyman.git.run import host_author
from journeyman.settings import Settings
from journeyman.work_orders.lifecycle import pull_request_actions
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.repositories import parse_repository
from journeyman.work_orders.store import OrderFilter

router = APIRouter(prefix="/api/local-forge/pull-requests", tags=["local forge"])

Number = Annotated[int, InPath(ge=1, le=2**31 - 1), InDigits]


class PullRequestQuery(PageQuery):
    limit: Annotated[int, Field(ge=1, le=200), InDigits] = 50
    repository_url: OneLineText | None = None


@router.get("")
async def list_pull_requests(
    query: Annotated[PullRequestQuery, Query()], services: Given
) -> LocalPullRequestPage:
    found, total = await services.forges.local_pull_requests.list_pull_requests(
        repository_url=query.repository_url, limit=query.limit, offset=query.offset
    )
    return LocalPullRequestPage.of(found, total, query.offset)


@router.get("/{number}")
async def show_pull_request(number: Number, services: Given) -> ShownPullRequest:
    found = await services.forges.local_pull_requests.get_pull_request(number)
    return await _shown(found, await _order_of(found, services), services)


@router.post("/{number}/merge")
async def merge_pull_request(number: Number, services: Given) -> ShownPullRequest:
    """Merge the branch into its base, in the repository itself; one that is merged already stays so."""
    found = await services.forges.local_pull_requests.get_pull_request(number)
    order = await _order_of(found, services)
    if found.state == "merged":
        return await _shown(found, order, services)
    if "merge" not in pull_request_actions(state_of(found), is_local=True):
        state = "closed" if found.state == "closed" else "a draft"
        raise Conflict(f"pull request {number} is {state}", hint="Mark it ready for review, then merge it.")
    await merge(
        _path_of(found, services.settings),
        base=found.base,
        branch=found.branch,
        message=f"Merge pull request #{number}: {found.title}",
        author=await _author(services.settings),
    )
    merged = await services.forges.local_pull_requests.mark_merged(number)
    if order is not None:
        order = await note_state(services.orders, order, merged)
    return await _shown(merged, order, services)


def _path_of(found: PullRequest, settings: Settings, *, must_exist: bool = True) -> Path:
    repository = parse_repository(
        found.repository_url, github_url=settings.github_url, allow_local=True, must_exist=must_exist
    )
    if repository.path is None:
        raise InvalidRepository(f"{repository.url} is not a directory of this machine")
    return repository.path


async def _order_of(found: PullRequest, services: Services) -> WorkOrder | None:
    of_branch = OrderFilter(repository_url=found.repository_url, git_branch_name=found.branch)
    orders, _ = await services.orders.find(of_branch, limit=1)
    return orders[0] if orders else None


async def _author(settings: Settings) -> Person:
    if settings.git_author_name and settings.git_author_email:
        return Person(settings.git_author_name, settings.git_author_email)
    return await host_author() or JOURNEYMAN


async def _shown(found: PullRequest, order: WorkOrder | None, services: Services) -> ShownPullRequest:
    local = LocalPullRequest.model_validate(found)
    return ShownPullRequest(
        **dict(local),
        agent_work_order_id=None if order is None else order.agent_work_order_id,
        allowed_actions=pull_request_actions(state_of(found), is_local=True),
        commits=await _commits(found, order, services.settings),
    )


async def _commits(found: PullRequest, order: WorkOrder | None, settings: Settings) -> list[ProposedCommit]:
    since = f"refs/heads/{found.base}"
    if found.state == "merged":  # the base holds them by now
        since = (order.base_commit_sha if order is not None else None) or since
    path = _path_of(found, settings, must_exist=False)
    return [
        ProposedCommit(
            commit_sha=commit.sha,
            subject=commit.message.partition("\n")[0],
            committed_at=commit.committed_at,
        )
        for commit in await commits_of(path, found.branch, since=since)
    ]
