"""The pull requests of repositories on this machine."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from journeyman.api.models import Line, LocalPullRequest, LocalPullRequestPage, PageQuery
from journeyman.api.services import Given

router = APIRouter(prefix="/api/local-forge/pull-requests", tags=["local forge"])


class PullRequestQuery(PageQuery):
    limit: int = Field(default=50, ge=1, le=200)
    repository_url: Line | None = None


@router.get("")
async def list_pull_requests(
    query: Annotated[PullRequestQuery, Query()], services: Given
) -> LocalPullRequestPage:
    found, total = await services.local_pull_requests.list_pull_requests(
        repository_url=query.repository_url, limit=query.limit, offset=query.offset
    )
    return LocalPullRequestPage.of(found, total, query.offset)


@router.get("/{number}")
async def show_pull_request(
    number: Annotated[int, Path(ge=1, le=2**31 - 1)], services: Given
) -> LocalPullRequest:
    return LocalPullRequest.model_validate(await services.local_pull_requests.get_pull_request(number))
