"""Settings of runners, linters and type checkers, compared value by value.

What demands less is asked about; what is only different is one notice for the file.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from journeyman.verification.tampering.commands import judge_command
from journeyman.verification.tampering.findings import Severity, TamperFinding, TamperKind, as_code
from journeyman.verification.tampering.settings_values import Key, SettingValues, Value

_FLOOR = re.compile(
    r"fail_?under|min_?(?:imum)?_?coverage|(?:branches|functions|lines|statements)$|threshold|score"
    r"|(?:line|branch)_?coverage|target$"
)
_CEILING = re.compile(
    r"max_?warnings|max_?complexity|max_?(?:args|branches|statements|returns)|allowed_?failures"
)
_RETRY = re.compile(r"^(?:retry|retries|reruns|max_?retries|retry_?times|flaky)$")
_IGNORES = re.compile(
    r"ignore|exclude|omit|skip|disable|deselect|norecursedirs|(?:exclude_lines|exclude_also)|allow(?:ed)?$|suppress"
    r"|filterwarnings"
)
_SELECTS = re.compile(
    r"select|enable|testpaths|python_(?:files|classes|functions)|test_?match|include|files|plugins|extends|spec"
    r"|required|rules|reporters"
)
_STRICT = re.compile(
    r"strict|^no_?(?:implicit|unused|unchecked|fallthrough|uncheckedindexed)|^(?:dis)allow_(?:un|any|sub|inc)|^warn_"
    r"|check_?(?:untyped|coverage|js)|error_?on|fail_?on|bail|xfail_strict|show_error|branch$|^all$|enforce|deny|forbid"
)
_LENIENT = re.compile(
    r"ignore_?(?:errors|missing)|pass_?with_?no_?tests|skip_?lib_?check|allow_(?:un|any|redef|empty|incomplete)|follow_imports_for_stubs|no_?emit_?on"
    r"|continue_?on|suppress|implicit_(?:optional|reexport)|no_?check|isolated_?modules"
)
_OPTIONS = re.compile(r"addopts|args|options|command|script|flags|extra")
_LEVELS = {
    "off": 0,
    "allow": 0,
    "0": 0,
    "ignore": 0,
    "none": 0,
    "warn": 1,
    "1": 1,
    "information": 1,
    "warning": 1,
}
_LEVELS |= {"error": 2, "2": 2, "deny": 2, "forbid": 2}


class Change(NamedTuple):
    kind: TamperKind
    severity: Severity
    key: Key
    detail: str
    line: int | None


def compare_settings(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    moved = _moved(base, head)
    changes = [
        change
        for key in [*head, *(key for key in base if key not in head)]
        if _content(base.get(key)) != _content(head.get(key)) and key not in moved
        for change in _judged(key, base.get(key), head.get(key))
    ]
    for one in changes:
        if one.severity == "ask":
            yield _finding(path, one)
    others = [one for one in changes if one.severity == "notice"]
    if others:
        names = ", ".join(as_code(".".join(one.key)) for one in others[:8])
        more = f" and {len(others) - 8} more" if len(others) > 8 else ""
        first = others[0]._replace(detail=f"Settings of the checks are different: {names}{more}.")
        yield _finding(path, first)


def _moved(base: SettingValues, head: SettingValues) -> frozenset[Key]:
    """Keys of one side whose value the other side has under the same name in another table."""
    gone = {(key[-1], _content(base[key])): key for key in base if key not in head}
    added = {(key[-1], _content(head[key])): key for key in head if key not in base}
    return frozenset(key for same in gone.keys() & added.keys() for key in (gone[same], added[same]))


def _content(value: Value | None) -> tuple[str, frozenset[str] | None] | None:
    return (value.text, value.items) if value is not None else None


def _judged(key: Key, old: Value | None, new: Value | None) -> Iterator[Change]:
    """At least one change of a value: the demands that it lowers, or that it is another."""
    found = [
        Change(kind, "ask", key, detail, new.line if new else None)
        for kind, detail in _lowered(key, old, new)
    ]
    yield from found or [Change("check_setting_changed", "notice", key, "", new.line if new else None)]


def _lowered(key: Key, old: Value | None, new: Value | None) -> Iterator[tuple[TamperKind, str]]:
    name = re.sub(r"[-_.\s]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key[-1])).lower()
    shown = as_code(".".join(key))
    before, after = old.text if old else "", new.text if new else ""
    if _OPTIONS.search(name) or "scripts" in key:
        joined = " ".join(before.split()), " ".join(after.split())
        yield from (
            (kind, f"In {shown} {meaning}: {as_code(after)}.") for kind, meaning in judge_command(*joined)
        )
        return
    was, now = _number(before), _number(after)
    if _RETRY.search(name) and (now or 0) > (was or 0):
        yield "retry_added", f"What fails is run again: {shown} is {as_code(after)}."
    elif was is not None and _is_lower(name, was, now):
        is_now = f"is {as_code(after)}" if after else "is gone"
        yield "threshold_lowered", f"{shown} was {as_code(before)} and {is_now}."
    elif detail := _loosened(key, name, old, new):
        yield "check_setting_changed", f"{shown} {detail}."


def _is_lower(name: str, was: float, now: float | None) -> bool:
    """Whether a threshold demands less than it did."""
    if _FLOOR.search(name):
        return now is None or now < was
    return bool(_CEILING.search(name)) and (now is None or now > was)


def _loosened(key: Key, name: str, old: Value | None, new: Value | None) -> str:
    """How a rule, a list or a switch demands less; empty where it does not."""
    before, after = old.text if old else "", new.text if new else ""
    level, new_level = _LEVELS.get(_first(before)), _LEVELS.get(_first(after))
    if level is not None and new_level is not None and new_level < level:
        return f"was {as_code(before)} and is {as_code(after)}"
    old_items, new_items = _items(old), _items(new)
    scope = " ".join((*key[-2:-1], name)).lower()
    if _IGNORES.search(scope) and new_items - old_items and not _is_switch(after):
        return f"leaves out more: {as_code(', '.join(sorted(new_items - old_items)))}"
    if _SELECTS.search(name) and old_items - new_items and not _is_switch(before):
        return f"no longer has {as_code(', '.join(sorted(old_items - new_items)))}"
    if _STRICT.search(name) and before in _ON and after not in _ON:
        return "is switched off"
    if _LENIENT.search(name) and after in _ON and before not in _ON:
        return "is switched on"
    return ""


_ON = frozenset({"true", "True", "yes", "on", "1"})


def _first(text: str) -> str:
    """The level of a rule, with or without its options: `error`, `["error", {...}]`."""
    return text.split("\n", 1)[0].strip().lower()


def _items(value: Value | None) -> frozenset[str]:
    if value is None:
        return frozenset()
    return (
        value.items if value.items is not None else frozenset(filter(None, re.split(r"[,\s]+", value.text)))
    )


def _is_switch(text: str) -> bool:
    return text.lower() in ("true", "false", "yes", "no", "on", "off")


def _number(text: str) -> float | None:
    try:
        return float(text.strip().rstrip("%"))
    except ValueError:
        return None


def _finding(path: str, change: Change) -> TamperFinding:
    lines = (change.line, change.line) if change.line else None
    return TamperFinding(
        kind=change.kind, path=path, lines=lines, detail=change.detail, severity=change.severity
    )
