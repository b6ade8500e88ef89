"""Reading what a model wrote, and saying what is wrong with it in words it can act on."""

import json
import re
from typing import Any

from pydantic import BaseModel, ValidationError

from journeyman.agents.builtin.tools import clip

_FENCED = re.compile(r"```(?:json)?\s*\n(\{.*?\})\s*```", re.DOTALL)
_SHOWN_CHARACTERS = 4000
_SHOWN = 50
"""Arguments of one call."""


def deliverable_in(text: str, wanted: type[BaseModel]) -> BaseModel | None:
    """The value that a text holds as JSON, fenced or bare: some models talk instead of calling."""
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


def problems(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    told = [f"{'.'.join(map(str, each['loc'])) or 'the arguments'}: {each['msg']}" for each in found[:10]]
    return "not valid: " + "; ".join(told)


def shown(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments as people see them: a whole file in an event helps nobody."""
    return {clip(key, _SHOWN_CHARACTERS): _shown(value) for key, value in list(arguments.items())[:_SHOWN]}


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return clip(value, _SHOWN_CHARACTERS)
    text = json.dumps(value, default=str) if isinstance(value, dict | list) else ""
    return value if len(text) <= _SHOWN_CHARACTERS else clip(text, _SHOWN_CHARACTERS)
