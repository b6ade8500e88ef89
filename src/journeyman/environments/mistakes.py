"""What is wrong in an environment file, in words: each mistake with its line, and what to write instead."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from journeyman.environments import schema
from journeyman.environments.document import Document, Location
from journeyman.errors import Mistake
from journeyman.workflows.references import did_you_mean

_OTHER_WORDS = {
    **dict.fromkeys(("setup", "script", "dependencies", "postCreateCommand"), "install"),
    **dict.fromkeys(("services", "service", "terminals", "run"), "start"),
    **dict.fromkeys(("test", "tests", "lint", "build", "types", "commands", "verify"), "checks"),
    **dict.fromkeys(("environment", "variables", "vars", "containerEnv"), "env"),
    **dict.fromkeys(("hosts", "allow", "allowed_hosts", "egress"), "network"),
    **dict.fromkeys(("directory", "working_directory", "cwd", "root"), "workdir"),
    **dict.fromkeys(("directories", "caches", "paths"), "cache"),
    **dict.fromkeys(("versions", "toolchain", "runtime"), "tools"),
}
"""What other products call a field of ours."""
_ENTRIES: dict[str, type[BaseModel]] = {
    "install": schema.InstallEntry,
    "start": schema.StartEntry,
    "checks": schema.CheckEntry,
    "network": schema.NetworkEntry,
}
_TYPES = {
    "string_type": ("text", "Write text; put a number, or what looks like one, in quotes."),
    "tuple_type": ("a list", "Write a list: one line for each, beginning with '- '."),
    "dict_type": ("a mapping", "Write 'name: value' lines below it."),
    "model_type": ("text or a mapping", "Write a command, or a mapping with 'command:'."),
    "bool_type": ("true or false", "Write true or false."),
    "float_type": ("a number", "Write a number of seconds."),
    "float_parsing": ("a number", "Write a number of seconds."),
}


def mistakes_in(error: ValidationError, document: Document) -> list[Mistake]:
    found = []
    details = error.errors()
    misspelt = {detail["loc"][:-1] for detail in details if detail["type"] == "extra_forbidden"}
    for detail in details:
        if detail["type"] == "missing" and detail["loc"][:-1] in misspelt:
            continue
        location = tuple(part for part in detail["loc"] if part != "[key]")
        is_name = detail["type"] == "extra_forbidden" or "[key]" in detail["loc"]
        place = document.position_of_name(location) if is_name else document.position_of(location)
        found.append(Mistake(*place, *_in_words(detail, location)))
    return sorted(set(found), key=lambda one: (one.line, one.column, one.message))


def _in_words(detail: ErrorDetails, location: Location) -> tuple[str, str]:
    kind, name = detail["type"], str(location[-1]) if location else ""
    context: Mapping[str, Any] = detail.get("ctx", {})
    owner = f"an entry of '{location[0]}'" if len(location) > 1 else "the file"
    if kind == "mistake":
        return str(context["what"]), str(context["hint"])
    if kind == "extra_forbidden":
        return f"{owner} has an unknown field '{name[:60]}'", _unknown_field(name, location)
    if kind == "missing":
        return f"{owner} lacks '{name}'", f"Add '{name}: …'."
    if kind == "literal_error":
        expected = str(context["expected"])
        return f"'{name}' is {str(detail['input'])[:60]!r}", f"Use {expected}."
    if kind == "too_long":
        most = context["max_length"]
        hint = (
            "Put them into a script of the repository and call that." if name in _ENTRIES else "Remove some."
        )
        return f"'{name}' has more than {most} entries", hint
    if kind in _TYPES:
        wanted, hint = _TYPES[kind]
        return f"{_place(location)} is not {wanted}", hint
    message = detail["msg"][0].lower() + detail["msg"][1:]
    return f"{_place(location)}: {message}", "Correct the value."


def _place(location: Location) -> str:
    """`'timeout' of 'start'`, or `entry 2 of 'install'`."""
    *around, last = location
    name = f"'{last}'" if isinstance(last, str) else f"entry {last + 1}"
    above = next((part for part in around if isinstance(part, str)), "")
    return f"{name} of '{above}'" if above else name


def _unknown_field(name: str, location: Location) -> str:
    model: type[BaseModel] = _ENTRIES[str(location[0])] if len(location) > 1 else schema.EnvironmentFile
    known = list(model.model_fields)
    if len(location) == 1 and name in _OTHER_WORDS:
        return f"Did you mean '{_OTHER_WORDS[name]}'?"
    return did_you_mean(name, known) or f"Fields: {', '.join(known)}."
