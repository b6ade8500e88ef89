"""A script's tool calls, in the words of the tools that an agent offers.

Scripts are written for our own five tools. Every agent has tools for the same things under names of
its own, so one script can drive all of them; where an agent has no such tool, its shell does the work.
"""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from journeyman.gateway.messages import ToolCall, ToolOffer

_NAMES: dict[str, tuple[str, ...]] = {
    "shell": ("bash", "run_shell_command", "exec_command", "shell_command", "shell", "terminal"),
    "read_file": ("read", "read_file"),
    "write_file": ("write", "write_file"),
    "edit_file": ("edit", "edit_file", "replace"),
    "search": ("grep", "grep_search", "search_file_content", "search"),
}
"""What agents call each of our tools, in small letters."""

_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "command": ("command", "cmd"),
    "path": ("file_path", "filePath", "absolute_path", "dir_path", "path"),
    "content": ("content",),
    "old": ("old_string", "oldString", "old"),
    "new": ("new_string", "newString", "new"),
    "replace_all": ("replace_all", "replaceAll", "allow_multiple"),
    "pattern": ("pattern",),
    "offset": ("offset",),
    "limit": ("limit",),
}
"""What agents call each argument. One that a tool does not have is left out."""

_EDIT = (
    "import pathlib, sys; path, old, new = sys.argv[1:]; file = pathlib.Path(path); text = file.read_text(); "
    "sys.exit(f'{path}: not found exactly once') if text.count(old) != 1 else "
    "file.write_text(text.replace(old, new))"
)


def in_words_of(offers: Sequence[ToolOffer], call: ToolCall) -> ToolCall:
    """The call as one of the offered tools takes it. A tool that none of them replaces keeps its name."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        broken = _offered(offers, call.tool)
        return ToolCall(call.call_id, broken.name if broken else call.tool, call.arguments)
    offer = _offered(offers, call.tool)
    if offer is not None:
        return ToolCall(call.call_id, offer.name, json.dumps(_translated(offer.schema, arguments)))
    shell = _offered(offers, "shell")
    if shell is None or call.tool not in _NAMES:
        return call
    command = {"command": _as_command(call.tool, arguments)}
    return ToolCall(call.call_id, shell.name, json.dumps(_translated(shell.schema, command)))


def _offered(offers: Sequence[ToolOffer], tool: str) -> ToolOffer | None:
    by_name = {offer.name.lower(): offer for offer in offers}
    return next((by_name[name] for name in _NAMES.get(tool, ()) if name in by_name), None)


def _translated(schema: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = schema.get("properties") or {}
    result: dict[str, Any] = {}
    for name, value in arguments.items():
        theirs = next((other for other in _ARGUMENTS.get(name, (name,)) if other in properties), None)
        if theirs is not None:
            is_list = _type(properties[theirs]) == "array" and isinstance(value, str)
            result[theirs] = ["bash", "-c", value] if is_list else value
    for name in schema.get("required") or ():
        if name not in result and _type(properties.get(name)) == "string":
            result[name] = "As the script says."
    return result


def _type(schema: Any) -> str:
    return str(schema.get("type", "")).lower() if isinstance(schema, dict) else ""


def _as_command(tool: str, arguments: dict[str, Any]) -> str:
    path = shlex.quote(str(arguments.get("path", ".")))
    if tool == "read_file":
        return f"cat -- {path}"
    if tool == "search":
        return f"grep -rnIE --exclude-dir=.git -e {shlex.quote(str(arguments.get('pattern', '')))} -- {path}"
    if tool == "write_file":
        content = shlex.quote(str(arguments.get("content", "")))
        return f'mkdir -p -- "$(dirname -- {path})" && printf %s {content} > {path}'
    old, new = (shlex.quote(str(arguments.get(name, ""))) for name in ("old", "new"))
    return f"python3 -c {shlex.quote(_EDIT)} {path} {old} {new}"
