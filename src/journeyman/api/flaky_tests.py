"""Tests of a repository that were seen to be flaky, and a person's word that one of them counts."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import AwareDatetime, BaseModel, ConfigDict

from journeyman.api.models import Body
from journeyman.api.repositories import Known
from journeyman.api.services import Given

router = APIRouter(prefix="/api/repositories/{repository_id}/flaky-tests", tags=["repositories"])


class FlakyTestView(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    test_digest: str
    test_id: str
    times_seen: int
    is_trusted: bool
    """Whether it counts when it fails, however flaky it looked."""
    last_seen_at: AwareDatetime


class FlakyTestsView(BaseModel):
    repository_id: str
    flaky_tests: list[FlakyTestView]


class TrustRequest(Body):
    is_trusted: bool


@router.get("")
async def flaky_tests(repository: Known, services: Given) -> FlakyTestsView:
    """Those seen most often first."""
    found = await services.orders.flaky_tests.of_repository(repository.repository_id)
    return FlakyTestsView(
        repository_id=repository.repository_id,
        flaky_tests=[FlakyTestView.model_validate(one) for one in found],
    )


@router.put("/{test_digest}")
async def trust(
    repository: Known,
    test_digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")],
    request: TrustRequest,
    services: Given,
) -> FlakyTestView:
    """Let a test count when it fails, or take that back."""
    changed = await services.orders.flaky_tests.trust(
        repository.repository_id, test_digest, request.is_trusted
    )
    return FlakyTestView.model_validate(changed)
