"""Refuse unknown query parameters, and those that are repeated though they take one value.

FastAPI ignores both unless a route declares one model for all its parameters.
"""

from collections.abc import Mapping
from typing import get_origin

from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import HTTPConnection

from journeyman.errors import InvalidInput
from journeyman.workflows.references import did_you_mean


async def check_parameters(connection: HTTPConnection) -> None:
    names = [name for name, _ in connection.query_params.multi_items()]
    known = _known(connection.scope["route"]) if names else {}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or "GET /openapi.json lists the parameters of every call."
            raise InvalidInput(f"there is no query parameter {name!r} here", hint=hint)
        if names.count(name) > 1 and not known[name]:
            raise InvalidInput(f"{name} is given {names.count(name)} times", hint="Give it once.")


def _known(route: object) -> Mapping[str, bool]:
    """The names of a call's parameters, each with whether it may be repeated."""
    known: dict[str, bool] = {}
    for parameter in route.dependant.query_params if isinstance(route, APIRoute) else ():
        model = parameter.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            known |= {name: get_origin(one.annotation) is list for name, one in model.model_fields.items()}
        else:
            known[parameter.alias] = False
    return known
