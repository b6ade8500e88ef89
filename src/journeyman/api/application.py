"""The ASGI application: every router, inside the guards that all of them share."""

from importlib.metadata import version

from fastapi import Depends, FastAPI

from journeyman.api import (
    cleanup,
    commands,
    configuration,
    control,
    costs,
    evidence,
    flaky_tests,
    github,
    health,
    live,
    local_forge,
    lookups,
    network,
    problems,
    prompts,
    quick_jobs,
    repositories,
    web,
    work_orders,
)
from journeyman.api.description import Application
from journeyman.api.guard import Guard
from journeyman.api.idempotency import Idempotency
from journeyman.api.models import Problem
from journeyman.api.parameters import check_parameters
from journeyman.api.services import Services


def create_app(services: Services) -> FastAPI:
    app = described()
    app.state.services = services
    app.router.default = web.Pages()
    problems.install_error_handlers(app)
    # The last one added is the first that a request meets.
    app.add_middleware(problems.Unexpected)
    app.add_middleware(Idempotency, database=services.database)
    app.add_middleware(Guard, settings=services.settings, isolation=services.host.sandboxes.isolation)
    return app


def described() -> Application:
    """Every route, without the services behind them: enough to generate the OpenAPI document."""
    app = Application(
        title="Journeyman",
        description="Hand it a work order, get back a draft pull request with proof.",
        version=version("journeyman"),
        # The bundled documentation pages load their scripts from a foreign host.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(check_parameters)],
        responses={"default": {"model": Problem, "description": "What went wrong, and what to do"}},
    )
    orders = (work_orders, evidence, control, costs, prompts, commands, live, network)
    for room in (
        *orders,
        repositories,
        flaky_tests,
        github,
        lookups,
        local_forge,
        configuration,
        quick_jobs,
        cleanup,
        health,
    ):
        app.include_router(room.router)
    return app
