"""Deliverables: the JSON schema that a model is given, and the value read from what it wrote."""

import re
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

_FENCED = re.compile(r"```(?:json)?\s*\n(\{.*?\})\s*```", re.DOTALL)


def deliverable_in(text: str, wanted: type[BaseModel]) -> BaseModel | None:
    """The value that a text holds as JSON, fenced or bare: some models write it instead of calling a tool."""
    candidates = [match.group(1) for match in _FENCED.finditer(text)]
    first, last = text.find("{"), text.rfind("}")
    if 0 <= first < last:
        candidates.append(text[first : last + 1])
    for candidate in candidates:
        try:
            return wanted.model_validate_json(candidate)
        except ValidationError:
            continue
    return None


def validation_message(error: ValidationError) -> str:
    """What is wrong with a value, in words that a model can act on."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    places = [f"{'.'.join(map(str, each['loc'])) or 'the arguments'}: {each['msg']}" for each in found[:10]]
    return "not valid: " + "; ".join(places)


@cache
def plain_schema(model: type[BaseModel]) -> dict[str, Any]:
    """A JSON schema without the titles that pydantic adds: tokens of no use to a model."""

    def bare(node: Any, *, names: bool = False) -> Any:
        if isinstance(node, dict):
            return {
                key: bare(value, names=key in ("properties", "$defs"))
                for key, value in node.items()
                if names or key != "title" or not isinstance(value, str)
            }
        return [bare(item) for item in node] if isinstance(node, list) else node

    schema: dict[str, Any] = bare(model.model_json_schema())
    schema.pop("description", None)
    return schema
