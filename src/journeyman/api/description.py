"""The OpenAPI document: what FastAPI generates, completed with what it cannot know."""

import re
from functools import cached_property
from typing import Any

from fastapi import FastAPI
from starlette.routing import compile_path

from journeyman.api.problems import PROBLEM_TYPE

_SCHEMAS = "#/components/schemas/"
_IDEMPOTENCY_KEY = {
    "name": "idempotency-key",
    "in": "header",
    "required": False,
    "description": "The same request sent again with the same key has no second effect.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"},
}
_EVENT_STREAM = {
    "schema": {"type": "string"},
    "itemSchema": {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9]+$"},
            "event": {"type": "string"},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"$ref": f"{_SCHEMAS}EventMessage"},
            },
        },
        "required": ["id", "event", "data"],
    },
}
"""Each event of a stream, in the way of OpenAPI 3.2; older tools see a text."""
_STATE = {
    "type": "object",
    "properties": {
        "type": {"const": "state"},
        "agent_work_order": {"$ref": f"{_SCHEMAS}AgentWorkOrder"},
    },
    "required": ["type", "agent_work_order"],
}
_WEBSOCKETS = {
    "/ws/{agent_work_order_id}": {
        "description": "Changes of an order's state, the state itself first. Nothing is read from clients. "
        "Close codes: 4404 there is no such order, 1001 the server stops. A page of another site gets a 403.",
        "parameters": [
            {
                "name": "agent_work_order_id",
                "in": "path",
                "required": True,
                "schema": {"type": "string", "pattern": "^wo-[0-9a-z]{8}$"},
            }
        ],
        "message": {"anyOf": [_STATE, {"$ref": f"{_SCHEMAS}EventMessage"}]},
    }
}
"""OpenAPI has no WebSockets; tools ignore what begins with `x-`."""


class Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            _complete(super().openapi())
        assert self.openapi_schema is not None
        return self.openapi_schema

    def methods_of(self, path: str) -> list[str]:
        """The methods that calls of this path have."""
        return sorted(method for known, methods in self._methods if known.match(path) for method in methods)

    @cached_property
    def _methods(self) -> list[tuple[re.Pattern[str], set[str]]]:
        paths = self.openapi()["paths"].items()
        return [
            (compile_path(path)[0], {method.upper() for method in operations}) for path, operations in paths
        ]


def _complete(document: dict[str, Any]) -> None:
    for operations in document["paths"].values():
        for method, operation in operations.items():
            _complete_operation(method, operation)
    document["x-websockets"] = _WEBSOCKETS


def _complete_operation(method: str, operation: dict[str, Any]) -> None:
    """Problems with their own media type, no null where everything is text, the key that every POST takes."""
    responses = operation["responses"]
    responses["default"]["content"] = {PROBLEM_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}}
    if "text/event-stream" in responses.get("200", {}).get("content", {}):
        responses["200"]["content"] = {"text/event-stream": _EVENT_STREAM}
    parameters = list(operation.get("parameters", ()))
    for parameter in parameters:
        parameter["schema"] = _without_null(parameter["schema"])
    if method == "post":
        parameters.append(_IDEMPOTENCY_KEY)
    if parameters:
        operation["parameters"] = parameters


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(kinds) != 1:
        return schema
    return {**{name: value for name, value in schema.items() if name != "anyOf"}, **kinds[0]}
