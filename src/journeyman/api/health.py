"""Liveness and readiness, for supervisors and load balancers."""

from collections.abc import Mapping
from importlib.metadata import version

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from journeyman.api.problems import problem
from journeyman.api.services import Given

router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: str
    version: str
    isolation: str
    """How sandboxes on this machine are held apart; `none` means not at all."""


class Ready(BaseModel):
    ready: bool
    checks: Mapping[str, bool]


@router.get("/health")
async def health(services: Given) -> Health:
    return Health(status="ok", version=version("journeyman"), isolation=services.host.sandboxes.isolation)


@router.get("/ready", response_model=Ready)
async def ready(services: Given) -> Ready | JSONResponse:
    checks = dict(await services.host.is_ready())
    missing = [name for name, good in checks.items() if not good]
    if not missing:
        return Ready(ready=True, checks=checks)
    return problem(
        503,
        f"not ready: {', '.join(missing)}",
        hint="Wait a moment; if it stays so, the server's log and `jm doctor` tell why.",
        category="transient",
        kind="Not ready",
        ready=False,
        checks=checks,
    )
