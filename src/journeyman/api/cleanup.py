"""Remove now what the retention policy no longer keeps, or only list it."""

from fastapi import APIRouter
from pydantic import BaseModel

from journeyman.api.models import Body
from journeyman.api.services import Given

router = APIRouter(prefix="/api/cleanup", tags=["cleanup"])


class CleanupRequest(Body):
    dry_run: bool = False
    """Only say what would go."""


class CleanupAnswer(BaseModel):
    dry_run: bool
    removed: list[str]
    """In words; what could not be removed begins with `kept`."""


@router.post("")
async def cleanup(request: CleanupRequest, services: Given) -> CleanupAnswer:
    removed = await services.control.clean_up(dry_run=request.dry_run)
    return CleanupAnswer(dry_run=request.dry_run, removed=removed)
