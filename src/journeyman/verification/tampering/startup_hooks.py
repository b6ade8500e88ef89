"""Files that act without being named: loaded by an interpreter, a runner, a package manager or git.

Most are found by their path alone. What a conftest.py holds is compared part by part.
"""

import re
from collections.abc import Iterator

from journeyman.verification.tampering.changed_file import ChangedFile
from journeyman.verification.tampering.conftest_parts import parts_of
from journeyman.verification.tampering.findings import Severity, TamperFinding, TamperKind, as_code
from journeyman.verification.tampering.settings_values import SettingValues

_TOOLS = (
    r"(?:pytest|py\.test|python[\d.]*|node|npm|npx|pnpm|yarn|bun|jest|vitest|mocha|go|cargo|rustc|make|tox|nox|uv"
    r"|ruff|mypy|eslint|tsc|git|bash|sh|env|coverage|rspec|bundle|mvn|gradle|java)"
)
_PLANTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "Python runs it at every start",
        re.compile(r"(?:.*/)?(?:(?:site|user)customize(?:\.py|/.+)|[^/]*\.pth)"),
    ),
    ("it takes the place of a tool", re.compile(rf"(?:.*/)?{_TOOLS}(?:\.(?:sh|cmd|bat|exe))?")),
    (
        "it takes the place of a library that the tests use",
        re.compile(
            r"(?:src/|lib/)?(?:pytest|_pytest|unittest|pluggy|coverage|hypothesis|nose|xdist)(?:\.py|/.+)"
        ),
    ),
    (
        "an installed package is committed",
        re.compile(r"(?:.*/)?(?:node_modules|site-packages|\.venv|venv)/.+"),
    ),
    (
        "git runs it",
        re.compile(r"(?:.*/)?(?:\.husky|\.githooks|\.git-hooks|hooks)/(?:pre|post|commit|prepare)[\w.-]*"),
    ),
)
_INJECTED = re.compile(
    r"\b(?:PYTEST_ADDOPTS|PYTEST_PLUGINS|PYTHONPATH|PYTHONSTARTUP|NODE_OPTIONS|node-options|script-shell|LD_PRELOAD"
    r"|rustc-wrapper|rustc-workspace-wrapper|runner|linker|RUSTC_WRAPPER|RUSTFLAGS|GOFLAGS|hooksPath|BASH_ENV)\b"
)
_CARRIERS = re.compile(
    r"(?:.*/)?(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|\.cargo/config(?:\.toml)?|\.envrc|\.env(?:\.\w+)?"
    r"|\.gitconfig|\.mocharc(?:\..+)?)"
)
_ENTRY_POINT = re.compile(r"pytest11|console_scripts|scripts")
_SHOWN = 5


def is_startup_hook(path: str) -> bool:
    return bool(_CARRIERS.fullmatch(path)) or any(pattern.fullmatch(path) for _, pattern in _PLANTED)


def find_startup_hooks(file: ChangedFile) -> Iterator[TamperFinding]:
    if file.head is None:
        return
    for meaning, pattern in _PLANTED:
        if pattern.fullmatch(file.path) and (file.base is None or "tool" not in meaning):
            verb = "added" if file.base is None else "changed"
            yield _finding(file.path, None, f"{as_code(file.path)} is {verb}: {meaning}.")
            return
    if file.path.rpartition("/")[2] == "conftest.py":
        yield from _conftest(file)
    elif _CARRIERS.fullmatch(file.path):
        old = set((file.base or b"").decode(errors="replace").splitlines())
        for number, line in enumerate(file.head.decode(errors="replace").splitlines(), 1):
            if line not in old and _INJECTED.search(line[:2000]):
                detail = f"A setting that acts on every command: {as_code(line)}."
                yield _finding(file.path, (number, number), detail)


def _conftest(file: ChangedFile) -> Iterator[TamperFinding]:
    head = file.head or b""
    old, new = parts_of(file.base or b""), parts_of(head)
    if new is None or old is None:
        yield _finding(file.path, None, "The conftest.py cannot be read, so it may act on every test.")
        return
    source = head.decode(errors="replace").splitlines()
    for part in list((new - old).elements())[:_SHOWN]:
        name = next((line for line in part.splitlines() if not line.startswith("@")), part)
        lines = next(((at, at) for at, line in enumerate(source, 1) if line.strip() == name.strip()), None)
        yield _finding(file.path, lines, f"The conftest.py acts on every test: {as_code(name)}.")
    if old - new and not new - old:
        gone = next(iter(old - new)).partition("\n")[0]
        yield _finding(
            file.path,
            None,
            f"A part that acted on every test is gone: {as_code(gone)}.",
            "trust_root_changed",
        )
    if old == new:
        detail = (
            "Fixtures of the conftest.py are different; nothing in it acts on tests that do not ask for it."
        )
        yield _finding(file.path, None, detail, "trust_root_changed", "notice")


def find_entry_points(path: str, base: SettingValues, head: SettingValues) -> Iterator[TamperFinding]:
    """Plugins of pytest, and commands named like a tool, that a project installs with itself."""
    for key, value in head.items():
        if key in base or not any(map(_ENTRY_POINT.search, key)):
            continue
        is_plugin = "pytest11" in " ".join(key) or re.search(r"\bpytest11\b", value.text)
        names = [key[-1], *(item.partition("=")[0].strip() for item in value.text.splitlines())]
        if is_plugin or any(re.fullmatch(_TOOLS, name) for name in names):
            detail = f"An entry point takes part in every run: {as_code('.'.join(key))}."
            yield _finding(path, (value.line, value.line) if value.line else None, detail)


def _finding(
    path: str,
    lines: tuple[int, int] | None,
    detail: str,
    kind: TamperKind = "startup_hook_added",
    severity: Severity = "ask",
) -> TamperFinding:
    return TamperFinding(kind=kind, path=path, lines=lines, detail=detail, severity=severity)
