"""Node packages: what a developer calls by `npm install`, `npm test` and the like.

Packages of a workspace are installed at its root and have their own checks. A test script of the root that
only calls those of the packages is left out for them; one that tests everything itself replaces them.
"""

import contextlib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from journeyman.environments.detect.found import Detected, Hints, under, workdir_of
from journeyman.environments.detect.node_install import (
    Manager,
    find_manager,
    install_commands,
    probe_for,
    read_yaml,
)
from journeyman.environments.detect.packages import match_directories
from journeyman.environments.detect.python_install import TOOLS_BIN
from journeyman.environments.plan import Check, CheckKind, ToolNeed
from journeyman.environments.project import Project

_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies")
_ESLINT = re.compile(r"eslint\.config\.[cm]?[jt]s|\.eslintrc(\.\w+)?")
_NO_TEST = re.compile(r"no test|^\s*(?:exit 0|true|:)?\s*$", re.IGNORECASE)
_FAN_OUT = re.compile(
    r"\b(?:turbo|nx|lerna|wsrun|ultra|moon|wireit)\b|--workspaces?\b|\s-ws\b|--recursive|\s-r\b|--filter"
    r"|workspaces foreach"
)
_TEST_SCRIPTS = ("test", "test:unit", "unit", "test:ci", "tests", "test:run", "spec")
_TYPE_SCRIPTS = ("typecheck", "type-check", "check-types", "check:types", "types:check", "tsc", "lint:types")
_FIXES = re.compile(r"--fix\b|--write\b|--apply\b")
_WATCHES = re.compile(r"react-scripts test|\bng test\b|--watch\b(?!=false)|\bkarma start\b(?!.*single-run)")
_FETCHES = re.compile(r"\b(?:npm|yarn|pnpm) audit\b|\baudit-ci\b|npx\s+(?:\S+@|npm@)|\bnsp check\b|\bsnyk\b")
_BROWSER = re.compile(
    r"playwright|cypress|karma|wdio|puppeteer|web-test-runner|\bwtr\b|testcafe|\bng test\b|nightwatch"
)
_BROWSER_PACKAGES = {"grunt-contrib-qunit", "puppeteer", "karma", "jest-puppeteer", "testem"}
_RUNNERS = {
    "vitest": "vitest run",
    "jest": "jest",
    "mocha": "mocha",
    "ava": "ava",
    "tap": "tap",
    "jasmine": "jasmine",
    "uvu": "uvu",
}
_NODE_TEST = re.compile(r"(?:^|/)(?:test/[^/]+|[^/]+\.test|[^/]+-test|test)\.[cm]?js$")
_QUIET_INSTALL = {
    "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1",
    "PUPPETEER_SKIP_DOWNLOAD": "1",
    "CYPRESS_INSTALL_BINARY": "0",
    "HUSKY": "0",
}
"""Browsers are not fetched and git hooks not written; each as its product documents it."""
_HAS_BROWSER = (
    "{ command -v chromium >/dev/null || command -v google-chrome >/dev/null || command -v firefox >/dev/null"
    ' || test -d "$HOME/.cache/ms-playwright" || test -d "$HOME/.cache/puppeteer"; }'
)
_KEY_FILES = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"),
    *("bun.lock", "bun.lockb", ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", "lerna.json"),
    *(".nvmrc", ".node-version", ".pnpmfile.cjs"),
)


@dataclass(frozen=True, kw_only=True)
class _Package:
    directory: str
    content: dict[str, Any]
    names: frozenset[str]
    is_readable: bool = True

    @property
    def scripts(self) -> dict[str, str]:
        return {
            name: text for name, text in _mapping(self.content, "scripts").items() if isinstance(text, str)
        }

    @property
    def needed(self) -> set[str]:
        return {name for key in _DEPENDENCIES for name in _mapping(self.content, key)}

    @property
    def has_test(self) -> bool:
        return any(name in self.scripts and not _NO_TEST.search(self.scripts[name]) for name in _TEST_SCRIPTS)


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    if not project.has(under(directory, "package.json")):
        return None
    root = _read(project, directory)
    manager = find_manager(project, directory, root.content)
    members = [_read(project, one) for one in _members(project, root)]
    has_packages = any(one.needed for one in (root, *members)) or bool(members)
    if not has_packages and not root.scripts and root.is_readable and not _plain_tests(project, root):
        return None
    checks = list(_all_checks(project, root, members, manager, has_packages))
    patches = [path for path in project.paths if path.startswith(under(directory, "patches/"))]
    found = Detected(
        ecosystem=f"Node ({manager.name})",
        directory=directory,
        tools=(_node_version(project, root),),
        checks=tuple(checks),
        key_files=(
            *(under(directory, name) for name in _KEY_FILES),
            *(under(one.directory, "package.json") for one in members),
            *patches,
        ),
        members=tuple(one.directory for one in members),
    )
    if not has_packages:
        return found
    return replace(
        found,
        install=tuple(install_commands(manager, directory)),
        env=_QUIET_INSTALL,
        path=(TOOLS_BIN,) if manager.name != "npm" else (),
        directories=tuple(under(one.directory, "node_modules") for one in (root, *members)),
        notes=_notes(root, members),
    )


def _read(project: Project, directory: str) -> _Package:
    try:
        content = json.loads(project.text(under(directory, "package.json")))
    except (ValueError, RecursionError):
        # The package manager says best what is wrong with it.
        return _Package(
            directory=directory,
            content={"scripts": {"test": "unreadable"}},
            names=project.names(directory),
            is_readable=False,
        )
    return _Package(
        directory=directory,
        content=content if isinstance(content, dict) else {},
        names=project.names(directory),
    )


def _members(project: Project, root: _Package) -> list[str]:
    """Directories of the workspace's packages, as npm, yarn, pnpm, bun and lerna name them."""
    said = root.content.get("workspaces")
    patterns = said.get("packages") if isinstance(said, dict) else said
    pnpm = read_yaml(project.text(under(root.directory, "pnpm-workspace.yaml"))).get("packages")
    lerna: object = None
    with contextlib.suppress(ValueError, AttributeError, RecursionError):
        lerna = json.loads(project.text(under(root.directory, "lerna.json")) or "{}").get("packages")
    chosen = next((one for one in (pnpm, patterns, lerna) if isinstance(one, list)), [])
    wanted = [one for one in chosen if isinstance(one, str)]
    return match_directories(project, root.directory, wanted, "package.json")


def _node_version(project: Project, root: _Package) -> ToolNeed:
    for name in (".nvmrc", ".node-version"):
        for path in dict.fromkeys((under(root.directory, name), name)):
            if text := project.text(path).strip():
                return ToolNeed(tool="node", version=text.splitlines()[0].strip(), said_in=path)
    said_in = under(root.directory, "package.json")
    for table in ("volta", "engines"):
        if isinstance(version := _mapping(root.content, table).get("node"), str):
            return ToolNeed(tool="node", version=version, said_in=said_in)
    return ToolNeed(tool="node", version="", said_in=said_in)


def _all_checks(
    project: Project, root: _Package, members: list[_Package], manager: Manager, has_packages: bool
) -> Iterator[Check]:
    own = list(_checks(project, root, root, manager, has_packages))
    each = [(one, list(_checks(project, root, one, manager, has_packages))) for one in members]
    below: set[CheckKind] = {check.kind for _, checks in each for check in checks}
    fanned = {
        check.kind
        for check in own
        if check.kind in below and _FAN_OUT.search(root.scripts.get(check.why.removeprefix("scripts."), ""))
    }
    # A build is kept whole: packages need what others build, in an order that the root knows.
    yield from (check for check in own if check.kind not in fanned or check.kind == "build")
    answered = {check.kind for check in own if check.kind not in fanned or check.kind == "build"}
    siblings = {str(one.content.get("name")): one for one in members}
    for one, checks in each:
        covers = tuple(_with_siblings(one, siblings))
        yield from (replace(check, covers=covers) for check in checks if check.kind not in answered)


def _with_siblings(package: _Package, siblings: Mapping[str, _Package]) -> list[str]:
    """The package's directory and those of the packages that it is built upon."""
    seen: dict[str, None] = {package.directory: None}
    waiting = [package]
    while waiting:
        for name in sorted(waiting.pop().needed & siblings.keys()):
            if siblings[name].directory not in seen:
                seen[siblings[name].directory] = None
                waiting.append(siblings[name])
    return list(seen)


def _checks(
    project: Project, root: _Package, package: _Package, manager: Manager, has_packages: bool
) -> Iterator[Check]:
    up = posixpath.relpath(root.directory or ".", package.directory or ".")
    base = Check(
        name="",
        kind="test",
        command="",
        workdir=workdir_of(package.directory),
        tool=f"{manager.name} with the project's packages" if has_packages else manager.name,
        why="",
        probe=probe_for(manager, root="" if up == "." else f"{up}/", has_packages=has_packages),
    )
    scripts = package.scripts
    if scripts.get("build") and package.is_readable:
        yield _script(base, manager, "build", kind="build")
    if test := _test(project, package, manager, base):
        yield test
    yield from _lint(package, manager, base)
    typed = next((name for name in _TYPE_SCRIPTS if scripts.get(name)), None)
    if typed and not _WATCHES.search(scripts[typed]):
        yield _script(base, manager, typed, kind="types")
    elif not scripts.get("build") and "typescript" in package.needed and "tsconfig.json" in package.names:
        yield replace(
            base, name="tsc", kind="types", command=manager.execute("tsc --noEmit"), why="tsconfig.json"
        )


def _script(base: Check, manager: Manager, name: str, *, kind: CheckKind) -> Check:
    is_short = name in ("build", "lint", "test") and manager.name != "bun"
    short = name if is_short else f"run {name}"
    return replace(
        base, name=f"{manager.name} {short}", kind=kind, command=manager.run(name), why=f"scripts.{name}"
    )


def _test(project: Project, package: _Package, manager: Manager, base: Check) -> Check | None:
    scripts = package.scripts
    name = next((one for one in _TEST_SCRIPTS if one in scripts and not _NO_TEST.search(scripts[one])), None)
    if name:
        check = _script(base, manager, name, kind="test")
        if name == "test":
            check = replace(check, command=manager.run_test)
        around = " ".join(scripts.get(f"{when}{name}", "") for when in ("pre", "post"))
        if manager.name == "npm" and _FETCHES.search(around):
            # npm still runs the script itself, without those before and after it that ask the registry.
            check = replace(check, command=f"{check.command} --ignore-scripts")
        if _WATCHES.search(scripts[name]):
            check = replace(check, command=f"CI=true {check.command}")
        return _in_browser(check) if _wants_browser(package, scripts[name]) else check
    runner = next((one for one in _RUNNERS if one in package.needed), None)
    if runner:
        command = manager.execute(_RUNNERS[runner])
        return replace(base, name=runner, command=command, why=f"{runner} is a dependency")
    if _plain_tests(project, package):
        return replace(
            base, name="node --test", command="node --test", tool="node", why="there are tests for Node"
        )
    return None


def _plain_tests(project: Project, package: _Package) -> bool:
    prefix = f"{package.directory}/" if package.directory else ""
    return any(
        path.startswith(prefix) and _NODE_TEST.search(path[len(prefix) :]) and "node_modules/" not in path
        for path in project.paths
    )


def _wants_browser(package: _Package, script: str) -> bool:
    return bool(
        _BROWSER.search(script)
        or (re.search(r"\b(?:grunt|testem)\b", script) and package.needed & _BROWSER_PACKAGES)
    )


def _in_browser(check: Check) -> Check:
    return replace(check, tool=f"{check.tool} and a browser", probe=f"{check.probe} && {_HAS_BROWSER}")


def _lint(package: _Package, manager: Manager, base: Check) -> Iterator[Check]:
    text = package.scripts.get("lint", "")
    if text and not _FIXES.search(text):
        yield _script(base, manager, "lint", kind="lint")
    elif "eslint" in package.needed and any(_ESLINT.fullmatch(name) for name in package.names):
        yield replace(
            base, name="eslint", kind="lint", command=manager.execute("eslint ."), why="eslint is configured"
        )


def _notes(root: _Package, members: list[_Package]) -> tuple[str, ...]:
    needed = set[str]().union(*(one.needed for one in (root, *members)))
    browsers = needed & {"cypress", "playwright", "@playwright/test", "puppeteer"}
    if not browsers:
        return ()
    return (f"Browsers of {', '.join(sorted(browsers))} are not installed: tests that start one need them.",)


def _mapping(package: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = package.get(key)
    return value if isinstance(value, dict) else {}
